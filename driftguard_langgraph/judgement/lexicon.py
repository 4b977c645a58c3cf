"""English words for operations and states: which mean the same, which the opposite.

Embeddings put opposites next to paraphrases ("enable" and "disable" occur in the same
sentences), so the relations are written down here, as tables; `words` reads them. A word
stands for all of its inflected forms.
"""

from __future__ import annotations


def _split(table: str) -> tuple[str, ...]:
    return tuple(" ".join(entry.split()) for entry in table.split(","))


OPERATIONS = _split(
    """
    delete remove erase wipe purge drop destroy discard scrub rm unlink trash eliminate clear,
    clean tidy, create make add insert generate build produce, keep retain preserve,
    start launch begin run boot execute,
    stop halt end terminate kill cancel abort quit finish, restart reboot relaunch,
    retry resend redo repeat refire reissue rerun, continue resume proceed, pause suspend,
    send emit dispatch submit deliver post fire mail email, receive,
    enable activate allow permit illuminate, disable deactivate forbid deny block prohibit,
    increase raise bump grow boost extend brighten, decrease lower reduce shrink shorten dim,
    grant assign, revoke withdraw, deploy release ship publish,
    put move place relocate transfer stick lay, take grab pick lift collect,
    copy duplicate clone, backup archive, restore recover, rollback revert undo,
    rename retitle, change modify edit update alter adjust set,
    show list display print view get fetch find search look see tell return query give count
    check inspect examine read identify report describe
    review monitor watch observe ls,
    write save, open, close shut, lock, unlock, install, uninstall, include,
    exclude omit skip, connect attach join link, disconnect detach, merge combine,
    split divide separate, encrypt, decrypt, push upload, pull download, buy purchase, sell,
    book reserve, hide, import, export, compress zip pack, extract unzip decompress unpack,
    upgrade, downgrade, commit, approve accept, reject decline refuse, subscribe, unsubscribe,
    mute, unmute, heat warm cook, cool chill, wash rinse, cut slice chop, replace swap,
    sort order, test verify validate, pay charge, refund reimburse, enter, leave exit, load,
    unload, mount, unmount, encode, decode, login, logout, hammer spam flood
    """
)
"""Verbs that name the same operation, one group an entry, its name first."""

OBSERVING = frozenset(
    "check count describe display examine inspect list look ls monitor observe read review show "
    "test validate verify view watch".split()
)
"""Words for operations that leave everything as it was. (To find, get or give something is
often the first half of doing more.)"""

ALTERING = frozenset(
    "delete clean start stop restart retry pause enable disable increase decrease grant revoke "
    "deploy put move restore rollback rename change write close lock unlock install uninstall "
    "merge split encrypt decrypt push buy sell upgrade downgrade commit approve reject "
    "subscribe unsubscribe mute unmute heat cool wash cut replace pay refund unload mount "
    "unmount login logout spam".split()
)
"""Names of operations after which something is not as it was. What can also be a way of
looking (to get, take, open, run, copy, sort or create a list of things) is not among them."""

THINGS = _split(
    """
    temp tmp temporary scratch, directory folder dir, production prod live, staging stage,
    development dev, database db, config configuration settings, repository repo,
    environment env, application app, argument arg, parameter param,
    big large huge largest biggest, small little tiny smallest, failure error fault,
    picture image photo, callback webhook, everything all entire whole every each,
    maximum max highest greatest, minimum min lowest, document doc, message msg,
    user username, password passwd, people population inhabitant, average mean avg,
    name title, employee staff, customer client, lamp light lighting, fridge refrigerator,
    trash garbage, counter countertop, number amount quantity, descending desc, ascending asc,
    service daemon, server host machine, api endpoint
    """
)
"""Nouns and adjectives that name the same, one group an entry, its name first."""

PHRASES = _split(
    """
    turn on = enable, turn off = disable, switch on = enable, switch off = disable,
    shut off = disable, power on = enable, power off = disable, shut down = stop,
    power down = stop, bring up = start, bring down = stop, spin up = start, start up = start,
    kick off = start, boot up = start, wind down = stop, take down = stop, tear down = delete,
    set up = create, clear out = delete, clean up = clean, clean out = delete,
    get rid = delete, throw away = delete, throw out = delete, wipe out = delete,
    blow away = delete, take away = take, take out = take, take off = decrease,
    pick up = take, pick out = take, put back = put, put away = put, put down = put,
    put in = put, set down = put, roll out = deploy, roll back = rollback, back up = backup,
    scale up = increase, scale down = decrease, turn up = increase, turn down = decrease,
    scale out = increase, scale in = decrease, speed up = increase, slow down = decrease,
    look up = show, find out = show, look at = show, log in = login, log out = logout,
    sign in = login, sign out = logout, fill in = write, write down = write,
    zip up = compress, hand over = put, carry out = start, call off = stop, opt in = enable,
    opt out = disable, check out = show, check in = commit, send again = retry, fire again = retry,
    run again = retry, post again = retry, try again = retry, send out = send
    """
)
"""Phrasal verbs: `verb particle = operation`. The two may stand some words apart."""

OPPOSITES = _split(
    """
    delete/create, delete/keep, delete/restore, delete/backup, start/stop, restart/stop,
    continue/stop,
    continue/pause, start/pause, enable/disable, increase/decrease, create/decrease,
    grant/revoke, enable/revoke, show/revoke, open/close, lock/unlock, install/uninstall,
    include/exclude, connect/disconnect, merge/split, encrypt/decrypt, push/pull, buy/sell,
    put/take, put/delete, send/receive, deploy/rollback, import/export, compress/extract,
    upgrade/downgrade, commit/rollback, approve/reject, subscribe/unsubscribe, mute/unmute,
    hide/show, heat/cool, pay/refund, enter/leave, load/unload, mount/unmount, encode/decode,
    login/logout, backup/restore, read/write, show/write, connect/split, before/after,
    minimum/maximum, least/most, fewest/most, oldest/newest, oldest/youngest, older/younger,
    earliest/latest, earlier/later, less/more, fewer/more, smaller/larger, small/big,
    shortest/longest, short/long, low/high, lower/higher, lower/upper, ascending/descending,
    increasing/decreasing, full/empty, hot/cold, warm/cold, internal/external, public/private,
    success/failure, succeed/fail, pass/fail, true/false, yes/no, always/never, good/bad,
    best/worst, same/different, even/odd, input/output, source/target, parent/child,
    day/night, dark/bright, dark/light, loud/quiet, fast/slow, quick/slow, early/late,
    near/far, love/hate, like/dislike, happy/sad, rich/poor, strong/weak, clean/dirty,
    wet/dry, alive/dead, present/absent, arrival/departure, arrive/depart, win/lose,
    sync/async, credit/debit, possible/impossible, create/subtract, invite/delete, read/unread,
    renew/revoke, training/test, legal/illegal, valid/invalid, safe/unsafe,
    known/unknown, active/inactive, visible/invisible, healthy/unhealthy,
    encrypted/unencrypted, signed/unsigned, production/staging, production/development,
    production/test, staging/development, staging/test, development/test
    """
)
"""Pairs that turn a step into another one; a word stands for its group."""

CLOSED_CLASSES = _split(
    """
    monday tuesday wednesday thursday friday saturday sunday,
    january february march april june july august september october november december,
    euro dollar pound yen franc rupee, morning afternoon evening night, weekday weekend,
    training validation holdout, north south east west, breakfast lunch dinner
    """
)
"""Words of which each excludes the others, one class an entry. (May is a verb, too.)"""

PLACES = _split(
    """
    on/off, up/down, in/out, into/out, above/below, over/under, left/right, top/bottom,
    front/back, first/last, inside/outside, upper/lower
    """
)
"""Opposites that also just say where something is: they count only in texts that are alike
in everything else."""

NEGATIONS = frozenset(
    "not no never none neither nor nothing nobody nowhere cannot without avoid refrain "
    "prevent unless except excluding lacking dont wont".split()
)
"""Words that turn the meaning of what they govern (`n't` is folded into `not`)."""

FUNCTION_WORDS = frozenset(
    "a an the this that these those it its my your our their his her them us me i you we "
    "is are was were be been being am do does did of for and or to from in on at by as into "
    "onto within there here please just then so if can could should would will shall may "
    "might must have has had which who whom whose what when where how why than also both "
    "some any such very too only own with up down out off back over under before after".split()
)
"""Words that carry grammar or place; they are never *what* a step is about."""

ENDINGS = frozenset("stop quit cease".split())
"""Verbs that negate the gerund after them: "stop deleting" is "do not delete"."""

QUESTION_OPENERS = frozenset(
    "what which who whom whose when where why how is are was were does did status".split()
)
"""First words that ask instead of telling."""

KNOWN_PATHS = {
    "/tmp": "temp",  # noqa: S108 - a word, no file
    "/tmp/*": "temp",  # noqa: S108 - a word, no file
    "/var/tmp": "temp",  # noqa: S108 - a word, no file
    "~": "home",
    "$HOME": "home",
    "/var/log": "logs",
}
"""Paths that everybody knows by a word."""
