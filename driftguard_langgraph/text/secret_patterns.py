"""What secrets look like: one pattern each, linear in the length of the text.

Every quantifier is bounded or runs over characters that what follows it cannot begin with,
so no text makes a pattern go back and forth. `hint` is a lower-case word without which a
pattern cannot match: looking for it costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_NOT_VALUES = frozenset(
    "bool bytes changed denied disabled empty enabled expected expired failed false hidden "
    "incorrect invalid mismatch missing none not null number object optional protected "
    "rejected required reset str string true undefined unknown unset wrong".split()
)
"""What stands after `password:` in prose, schemas and code, and is no password."""

_REFERENCES = (
    "-",
    "$",
    "<",
    "{",
    "%",
    "*",
    "[redacted:",
    "os.",
    "process.env",
    "env.",
    "settings.",
)
"""How a value begins that only says where the secret is, or is an option."""


@dataclass(frozen=True, slots=True)
class Secret:
    """One kind of secret.

    Attributes:
        kind: What the placeholder calls it.
        hint: Lower-case text without which `pattern` cannot match; empty for none.
        pattern: What it looks like. The named group is replaced, or all if there is none.
        is_secret: Whether a match really is one; asked with the value.
    """

    kind: str
    hint: str
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]


def is_value(value: str) -> bool:
    """Whether text in the place of a password may be one."""
    bare = value.strip("\"'")
    return (
        len(bare) > 2
        and bare.lower().rstrip(".,:;!?") not in _NOT_VALUES
        and not bare.startswith(_REFERENCES)
    )


def is_random(value: str) -> bool:
    """Whether text looks drawn rather than written: words have no digits."""
    bare = value.strip("\"'")
    return is_value(value) and len(bare) > 5 and any(character.isdigit() for character in bare)


def is_card(value: str) -> bool:
    """Whether digits are a payment card's: brand, length and check digit (Luhn)."""
    digits = [int(character) for character in value if character.isdigit()]
    number = "".join(map(str, digits))
    if not any(re.fullmatch(brand, number) for brand in _CARD_BRANDS):
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


_CARD_BRANDS = (
    r"4(?:\d{12}|\d{15}|\d{18})",
    r"(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}",
    r"3[47]\d{13}",
    r"3(?:0[0-5]|[68]\d)\d{11}",
    r"(?:6011|64[4-9]\d|65\d\d|35[2-8]\d)\d{12}",
    r"62\d{14,17}",
)


def _always(_: str) -> bool:
    return True


def _known(kind: str, hint: str, pattern: str) -> Secret:
    """A token that its maker gave a prefix to."""
    return Secret(kind, hint, re.compile(rf"(?<![A-Za-z0-9]){pattern}"), _always)


_QUOTED = r"\"[^\"\r\n]{1,500}\"|'[^'\r\n]{1,500}'"
_BARE = r"[^\s\"',;&(){}\[\]]{3,500}"
_PASSWORDS = r"pass(?:word|wd|phrase|code)?|pwd"
_SECRETS = (
    r"secret(?:[_-]?(?:access[_-]?)?key)?|(?:api|access|private|account|signing|encryption)"
    r"[_-]?key|credentials?|client[_-]?secret"
)
# A page token is a place in a list, and an unexpected one is a parser's.
_TOKENS = r"(?<!page)(?<!page[_-])(?<!continuation[_-])token"


# A name begins after anything but a letter, at a hump (`dbPassword`), or in `PGPASSWORD`.
_BEGIN = (
    r"(?:(?<![a-z])|(?<=(?-i:[a-z]))(?=(?-i:[A-Z]))"
    r"|(?<=(?-i:[A-Z]))(?=(?-i:PASSWORD|PASSWD|SECRET|TOKEN)))"
)


def _assigned(kind: str, hint: str, names: str, is_secret: Callable[[str], bool]) -> Secret:
    r"""A value that its name gives away: `name = value`, `"name": "value"`, `--name value`."""
    assign = r"[\"']?\s{0,3}(?:=>|:=|[=:])\s{0,3}"
    flag = rf"(?<![\w-])--(?:[a-z]{{1,20}}-){{0,3}}(?:{names})\s{{1,3}}"
    named = rf"(?:{names})\d{{0,3}}{assign}"
    value = rf"(?P<value>{_QUOTED}|{_BARE})"
    return Secret(kind, hint, re.compile(rf"(?i)(?:{flag}|{_BEGIN}{named}){value}"), is_secret)


KNOWN_TOKENS = (
    _known("api_key", "sk-", r"sk-(?=[A-Za-z_-]{0,80}\d)[A-Za-z0-9_-]{20,250}"),
    _known("api_key", "k_", r"[rsp]k_(?:live|test)_[A-Za-z0-9]{10,250}"),
    _known("api_key", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,250}"),
    _known("api_key", "aiza", r"AIza[0-9A-Za-z_-]{35}"),
    _known("api_key", "gsk_", r"gsk_[A-Za-z0-9]{20,250}"),
    _known("api_key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{16,64}(?:_[0-9a-f]{4,32})?"),
    _known("api_key", "sg.", r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    _known("api_key", "xai-", r"xai-[A-Za-z0-9]{40,250}"),
    _known("api_key", "dapi", r"dapi[0-9a-f]{32}"),
    _known("cloud_key", "a", r"(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _known("token", "gh", r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    _known("token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    _known("token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,255}"),
    _known("token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}"),
    _known("token", "xapp-", r"xapp-[A-Za-z0-9-]{10,255}"),
    _known("token", "hooks.slack", r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,100}"),
    _known("token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,500}"),
    _known("token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _known("token", "pypi-", r"pypi-[A-Za-z0-9_-]{50,500}"),
    _known("token", "hf_", r"hf_[A-Za-z0-9]{30,100}"),
    _known("token", "dop_v1_", r"dop_v1_[0-9a-f]{64}"),
    _known("token", ":aa", r"\d{8,10}:AA[A-Za-z0-9_-]{33}"),
    _known(
        "token", "eyj", r"eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{5,2000}"
    ),
)

SECRETS = (
    Secret(
        "private_key",
        "-----begin",
        re.compile(
            r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
        ),
        _always,
    ),
    Secret(
        "password",
        "://",
        re.compile(r"(?<=://)[^\s:/@]{0,100}:(?P<value>[^\s/]{1,200})@"),
        lambda value: not value.startswith(_REFERENCES),
    ),
    Secret(
        "token",
        "authorization",
        re.compile(
            r"(?i)authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
            r"(?P<value>(?:bearer|basic|token|digest|apikey)\s{1,3}[^\s\"',;]{4,4000})"
        ),
        lambda value: is_value(value.split()[-1]),
    ),
    Secret(
        "token",
        "bearer",
        re.compile(r"(?i)\bbearer\s{1,3}(?P<value>[A-Za-z0-9._~+/=-]{8,4000})"),
        is_random,
    ),
    Secret(
        "cookie",
        "cookie",
        re.compile(
            r"(?i)\bcookie[\"']?\s{0,3}:\s{0,3}[\"']?(?P<value>[\w.-]{1,100}=[^\r\n\"']{1,4000})"
        ),
        _always,
    ),
    *KNOWN_TOKENS,
    _assigned("password", "pass", _PASSWORDS, is_value),
    _assigned("password", "pwd", _PASSWORDS, is_value),
    _assigned("secret", "secret", _SECRETS, is_value),
    _assigned("api_key", "key", _SECRETS, is_value),
    _assigned("secret", "credential", _SECRETS, is_value),
    _assigned("token", "token", _TOKENS, is_random),
    Secret(
        "password",
        "pass",
        re.compile(r"(?i)\bpass(?:word|phrase|code) (?:is|was|to) (?P<value>\S{4,200})"),
        is_random,
    ),
    Secret(
        "password",
        "-u",
        re.compile(r"(?<![\w-])-(?:u|-user)[ =][\"']?[^\s:\"']{1,100}:(?P<value>[^\s\"']{1,200})"),
        # What is left are the numbers of a user and a group.
        lambda value: not value.startswith(_REFERENCES) and not value.isdigit(),
    ),
    Secret(
        "api_key",
        "api key",
        re.compile(
            r"(?i)\bapi key(?: is| provided)?\s{0,3}[:=]?\s{0,3}(?P<value>[^\s\"',;]{6,250})"
        ),
        is_random,
    ),
    Secret(
        "card",
        "",
        re.compile(r"(?<![\w./-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\w)"),
        is_card,
    ),
)
"""In the order in which they are looked for: the whole before its parts."""

NAMES = (
    ("password", re.compile(rf"(?i){_BEGIN}(?:{_PASSWORDS})\d{{0,3}}$"), is_value),
    ("secret", re.compile(rf"(?i){_BEGIN}(?:{_SECRETS})$"), is_value),
    ("token", re.compile(rf"(?i){_BEGIN}{_TOKENS}$"), is_random),
    ("token", re.compile(r"(?i)^(?:authorization|x-api-key|cookie|set-cookie)$"), is_value),
)
"""Names of arguments whose values are secrets, whatever these look like."""
