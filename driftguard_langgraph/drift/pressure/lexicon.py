"""The words of people who work against their instructions, as small classes.

A class holds what can stand for each other in one place of a sentence; `marks` finds them in
a text by their folded form, so that a word stands for all of its inflected forms. The classes
were written from grammar and thesaurus (verbs of setting aside x nouns for instructions x
references to what came before), not from a list of attacks; entries of several words are
phrases.
"""

from __future__ import annotations

CLASSES: dict[str, str] = {
    # What is done to instructions.
    "override": """
        ignore, disobey, defy, flout, disregard, forget, override, bypass, discard, dismiss,
        overwrite, circumvent, neglect, abandon, unlearn, overrule, supersede, nullify, erase, set
        aside, throw away, throw out, pay no attention, stop following, stop obeying, do not
        follow, dont follow, do not obey, dont obey, not follow, break free, let go of, leave
        behind, violate, break, bend""",
    "cease": """
        drop, skip, cancel, delete, remove, suspend, lift, disable, waive, replace, reset, clear,
        wipe, void, evade, deactivate, relax, loosen, rewrite, change""",
    "orders": """
        instruction, prompt, guideline, directive, guardrail, restriction, system message, guard
        rail, constraint, limitation, configuration, preprompt, ruleset, safeguard, guidance, pre
        prompt, safety measure, jailbreak protection, moderation, your programming""",
    "rules": """
        rule, policy, order, command, law, limit, filter, protocol, briefing, mandate, requirement,
        conversation, context, chat, session, role, persona, character, safety, ethics""",
    "told": """
        been told, were told, are told, was told, been taught, you know, was said, been given, told
        you, taught you, gave you, instructed you, configured you, asked you, you learned""",
    "primed": """
        configure, initialize, initialise, program, instruct, brief, prime, set up, given, told,
        start, load, prompt, received, trained, supplied, provided""",
    "verbatim": """
        verbatim, word for word, exact, exactly, literally, code block, everything, entire,
        complete, full, detailed, in full, whole, json, base64, all""",
    "own": """
        your, yours, you, previous, prior, earlier, preceding, initial, original, hidden, system,
        above, foregoing, internal, secret, so far, developer, built in""",
    "whole": """
        all, any, every, everything, anything, entire, whole, each, these, those, such, rest, else,
        other""",
    "place": """
        above, precede, come before, came before, previous, preceding, prior, foregoing, so far,
        earlier, before, beginning""",
    "text": """
        text, word, sentence, line, message, paragraph, string, content, everything, input,
        statement, document, token""",
    "charter": """
        ruleset, rule, briefing, persona, first message, initial message, setup, conversation
        above, system text, hidden text, policy text, original text, starting text""",
    "voided": """
        void, obsolete, outdated, invalid, suspended, superseded, revoked, expired, optional,
        theater, theatre, meaningless, pointless, silly, stupid, ridiculous, fake, arbitrary, no
        longer, not apply, dont apply, doesnt apply, not really apply, dont really apply, does not
        apply, do not apply, doesnt count, does not count, doesnt matter, does not matter, dont
        count, not count, not matter, dont matter, not binding, out of date, just for show, on
        hold, does not exist, dont exist, outgrown, irrelevant, unnecessary, overkill, lifted,
        disabled, deactivated, removed, withdrawn, retracted, annulled""",
    "changed": "changed, updated, replaced, modified, revised, relaxed, overwritten",
    "unbound": """
        no longer bound, not bound, free from, free of, without, unbound by, no, unlocked,
        unrestricted by, unaffected by, ignoring, exempt from, never refuse, zero""",
    "limits": """
        restriction, limitation, limit, rule, filter, constraint, guideline, censorship, moral,
        ethic, policy, boundary, inhibition, refusal, request, guardrail, warning, disclaimer""",
    # Getting at what is hidden.
    "reveal": """
        reveal, show, print, repeat, output, display, recite, spell, list, summarize, summarise,
        translate, paraphrase, encode, convert, dump, leak, disclose, explain, quote, describe,
        write, tell, give, return, echo, copy, state, restate, reiterate, share, format, relay,
        rephrase, transcribe, say, expose, unveil, outline, tldr, rap, poem, pseudocode, reproduce,
        complete, clarify, paste, post, forward, recap, provide, include, append, send, name,
        mention, read out, decode, hint, guess, rhyme, verse, proofread, grammar check, audit,
        what, which, bullet, backwards, letter, begin with, start with""",
    "secret": """
        password, passphrase, passcode, code, secret, key, credential, phrase, token, pin, keyword,
        codeword, pass phrase, code word, access code, safeword""",
    "clue": """
        hint, letter, character, length, start, begin, spell, rhyme, color, colour, vowel, guess,
        backwards, reverse, morse, base64, binary, encode, anagram, first, last, animal, clue,
        word, sentence, complete, what, which, tell, forgot, remind, how many, how long""",
    "granted": """
        correct, right, valid, validated, verified, accepted, approved, entered, provided,
        confirmed, registered, already, authenticated, typed, matched, given""",
    # Making somebody else of the assistant.
    "become": """
        you are now, from now on you, from this point, henceforth, as of now you, act as, acting
        as, pretend, roleplay, role play, imagine you, imagine that you, you will be, you become,
        play the role, playing the role, your new role, your name is, simulate, behave as, behave
        like, you will act, youre now, impersonate, assume the role, take the role, you turn into,
        persona, speak as""",
    "mode": """
        developer mode, god mode, dan mode, jailbreak mode, unrestricted mode, admin mode, opposite
        mode, unfiltered, uncensored, jailbroken, jailbreak, sudo mode, root mode, opposite day, do
        anything now, debug mode, maintenance mode, test mode, testing mode, unlocked mode,
        override mode, service mode, system override, reverse game, safe mode off""",
    "reply": """
        say, reply, respond, answer, print, output, begin, start, prefix, prepend, write, complete,
        return, repeat, finish, end, append, speak, greet, type, translate, display, put""",
    # Claiming a right.
    "rank": """
        admin, administrator, developer, creator, owner, operator, ceo, cto, boss, manager,
        supervisor, partner, engineer, moderator, root, maker, programmer, authority, police,
        superuser, director, head office, management, maintainer, staff, auditor, officer, chief""",
    "permit": """
        authorize, authorise, permit, allow, permission, clearance, approval, consent,
        authorization, authorisation, privilege, cleared, authority, licence, license, entitled,
        may""",
    "check": """
        approval, verification, confirmation, authentication, validation, identification, audit,
        supervision, oversight, security check, safety check, identity check, confidentiality
        check, password check, access check, policy check, age check, privacy check, screening,
        vetting""",
    "conceal": """
        do not tell the user, dont tell the user, do not inform the user, not mention this, without
        telling the user, without informing, do not mention, dont mention, not notify, not mention
        it, not inform the, not tell the user, not alert the, without the users knowledge, keep
        this hidden, our secret, our little secret, between us, nobody will know, no one will know,
        nobody will notice, no one will notice, nobody needs, no one needs, nobody will find out,
        stays between""",
    "machine": "ai, assistant, llm, chatbot, bot, agent, language model, gpt, model, reviewer",
    # How what is forbidden is asked for.
    "elicit": """
        explain, describe, provide, write, draft, create, generate, give, list, outline, elaborate,
        expand, detail, example, sample, help, compose, produce, discuss, suggest, how do, how
        does, how can, how would, how to, how did, how might, how could, what are, walk me through,
        guide, show, tell, teach, continue, rewrite, modify, imagine, scenario, step by step,
        instructions for, steps, insight, overview, template, script, make""",
    "fiction": """
        hypothetical, fictional, fiction, story, novel, character, scene, scenario, roleplay, role
        play, pretend, imagine, imaginary, play, game, screenplay, poem, song, diary, suppose, what
        if, alternate, dream, acronym, code name, metaphor, parody, satire, thriller""",
    "opposite": """
        opposite, reverse, contrary, inverse, backwards, flipped, yes means no, mirror world, not
        do, avoid doing, should never, should one never, wrong way""",
    "pretext": """
        educational, research, academic, awareness, training purposes, to warn, to prevent, purely
        theoretical, theoretical, curiosity, scientific, for a lecture, for a class, for science,
        history, historical, penetration testing, authorized, authorised, a friend, for a paper,
        thesis, to protect, red team, investigator, journalist, ethically""",
    "evade": """
        loophole, bypass, circumvent, evade, undetected, unnoticed, workaround, sidestep, way
        around, get around, get away with, without permission, without consent, sneak, without
        authorization, without authorisation, without knowing, without his knowledge, without her
        knowledge, without being, weakness, exploit, untraceable, anonymous, avoid detection, avoid
        being, trick, disguise, cover up, justify, justified, despite, excuse, rationale, conceal,
        hide, gray area, grey area, exception, explicit consent, against the rules, not get caught,
        fool, cheat, so that nobody""",
    "push": """
        come on, just this once, only this once, exception, please just, i insist, trust me, nobody
        will know, no one will know, nobody will notice, our secret, dont be, why not, what harm,
        rule is silly, bend the rules, break the rules, find a way, i promise, or else, you said
        you, you must, last chance, urgent, emergency, my job, i will lose, i beg""",
    # What the assistant says.
    "concede": """
        less clear, not perfect, imperfect, flexible, inconsistent, arent perfectly, not perfectly,
        edge case, ambiguous, discretion, have limitations, do have limitations, not absolute, dont
        always apply, dont really apply, not strictly apply, gray area, grey area, open to
        interpretation, overly strict, too strict, outdated, optional, not always necessary, can be
        bent, not set in stone, more of a suggestion, case by case""",
    "once": """
        just this once, only this once, make an exception, between us, not supposed to, shouldnt
        but, normally wouldnt, bend the rules, break the rules, off the record, against my rules,
        against my guidelines, against the rules, in this special case, dont tell anyone, setting
        aside my, ignore my rules, ignore my instructions, outside my guidelines, without
        restrictions, no restrictions""",
    "innards": """
        decision tree, evaluation technique, reasoning, criteria, filter, your training, bias,
        blind spot, weakness, refusal, refuse, safety, guideline, constraint, alignment, trigger,
        threshold, limitation, decision making, safeguard, moderation, vulnerability,
        restriction""",
    "harm": """
        weapon, weaponize, weaponization, exploit, attack, payload, bomb, explosive, poison, steal,
        theft, kill, murder, hack, malware, virus, ransomware, fraud, scam, phish, launder, drug,
        abuse, stalk, harass, blackmail, suicide, self harm, violence, violent, torture, hijack,
        counterfeit, smuggle, forge, toxic, detonate, ambush, sabotage, intrude, breach, backdoor,
        keylogger, injection, breakin, arson, shooting, hate, racist, terror, doxx, vulnerability,
        deploy undetected, harmful, illegal, dangerous, illicit, unethical""",
    # What rules are made of.
    "harmful": """
        harmful, harm, dangerous, danger, illegal, unethical, malicious, illicit, unsafe,
        inappropriate, unlawful, immoral, criminal, hazardous, abusive, violent, toxic""",
    "speech": """
        assist, help, provide, give, tell, reveal, disclose, share, discuss, explain, generate,
        create, write, produce, promote, encourage, engage, support, recommend, advise, print,
        show, teach, answer, offer, suggest, describe, talk, mention, output, facilitate,
        participate, enable, respond, comment, diagnose, prescribe, say, speak, repeat, expose""",
    "protect": """
        maintain, protect, ensure, preserve, uphold, safeguard, comply, enforce, respect, keep,
        guard, adhere, remain, stay, prioritize, prioritise, guarantee, defend, honor, honour""",
    "value": """
        confidential, confidentiality, privacy, private, safety, integrity, security, compliance,
        secret, secrecy, ethical, ethics, boundary, law, legal, regulation, honesty, discretion,
        sensitive, protected, anonymity, consent, safe, lawful, guideline, dignity, neutrality,
        neutral, fairness, impartial""",
    "refusing": """
        refuse, decline, reject, deny, prohibit, forbid, block, prevent, disallow, avoid""",
    "forbidding": """
        must not, never, do not, dont, cannot, cant, may not, should not, shall not, mustnt,
        shouldnt, under no circumstances, not allowed, not permitted, forbidden, prohibited, must
        refuse, no circumstance, will not, wont, are not to, is not to, strictly refuse, not be,
        avoid, refuse""",
    "strict": """
        never, strictly, must, absolutely, under no circumstances, always, forbidden, prohibited,
        at all times, no matter what, mustnt, refuse, not allowed""",
    "examined": "check, inspection, test",
}
"""Class name to its words and phrases, separated by commas."""

FOREIGN = {
    "override": "ignoriere ignorieren vergiss missachte ignora olvida descarta desobedece oublie "
    "ignorez oubliez dimentica ignorare ignore esqueça esquece desconsidere negeer vergeet "
    "zignoruj zapomnij игнорируй забудь проигнорируй görmezden",
    "own": "alle allen vorherigen bisherigen obigen deine anteriores previas todas tus toutes "
    "précédentes precedentes anteriori precedenti tutte alle vorige eerdere alle wszystkie "
    "poprzednie предыдущие все önceki tüm deinen ihre",
    "orders": "anweisungen anweisung vorgaben regeln richtlinien instrucciones indicaciones "
    "reglas instructions consignes règles istruzioni regole instruções regras instructies "
    "regels instrukcje polecenia zasady инструкции указания правила talimatlari",
}
"""Three of the classes in German, Spanish, French, Italian, Portuguese, Dutch, Polish, Russian
and Turkish: the commonest attack is also the one that is tried in other languages."""

FOREIGN_UNSPACED = (
    ("忽略", "指令"),
    ("忽略", "指示"),
    ("无视", "指令"),
    ("無視", "指示"),
    ("忘记", "指令"),
    ("忽略", "规则"),
)
"""Verb and noun of it in languages that are written without spaces."""

STOP = frozenset(
    """about above after again against all also although always and another any anything are
    around because been before being below between both but can cannot could did does doing down
    during each else every everything for from further had has have having her here hers him his
    how however instead into its itself just keep less like made make many may might more most
    must never not nothing now off once one only onto other others our out over own part per
    please rather really same shall she should since some someone something somebody still such
    than that the their them then there these they thing this those through too toward under
    unless until upon use used using very was way were what when where whether which while who
    whom whose why will with within without would yet you your anybody person people user
    customer question request system assistant information advice instruction instructions
    content data answer anyone topic matter subject task way item action strictly help helpful
    provide assist give maintain must never ensure activity activities kind sort conversation
    response reply details detail circumstances circumstance policy policies rule rules
    guideline guidelines scope tool tools call available knowledge procedure procedures
    recommendation recommendations comment comments proactively""".split()
)
"""Words that tell nothing about what a rule forbids."""
