"""What secrets look like: one pattern each, linear in the length of the text.

Every quantifier is bounded or runs over characters that what follows it cannot begin with,
so no text makes a pattern go back and forth. `hint` is a lower-case word without which a
pattern cannot match: looking for it costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from driftguard_langgraph.text.secret_values import (
    REFERENCES,
    is_authorization,
    is_basic,
    is_card,
    is_random,
    is_token,
    is_value,
)


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


def _always(_: str) -> bool:
    return True


def _known(kind: str, hint: str, pattern: str) -> Secret:
    """A token that its maker gave a prefix to."""
    return Secret(kind, hint, re.compile(rf"(?<![A-Za-z0-9]){pattern}"), _always)


_QUOTED = r"\"[^\"\r\n]{1,500}\"|'[^'\r\n]{1,500}'"
_BARE = r"[^\s\"',;&(){}\[\]]{3,500}"
PASSWORDS = r"pass(?:word|wd|phrase|code)?|pwd"
SECRET_WORDS = (
    r"secret(?:[_-]?(?:access[_-]?)?key)?|(?:api|access|private|account|signing|encryption)"
    r"[_-]?key|credentials?|client[_-]?secret"
)
# A page token is a place in a list, and an unexpected one is a parser's.
TOKENS = r"(?<!page)(?<!page[_-])(?<!continuation[_-])token"


# A name begins after anything but a letter, at a hump (`dbPassword`), or in `PGPASSWORD`.
BEGIN = (
    r"(?:(?<![a-z])|(?<=(?-i:[a-z]))(?=(?-i:[A-Z]))"
    r"|(?<=(?-i:[A-Z]))(?=(?-i:PASSWORD|PASSWD|SECRET|TOKEN)))"
)


def _assigned(kind: str, hint: str, names: str, is_secret: Callable[[str], bool]) -> Secret:
    r"""A value that its name gives away: `name = value`, `"name": "value"`, `--name value`."""
    assign = r"[\"']?\s{0,3}(?:=>|:=|[=:])\s{0,3}"
    flag = rf"(?<![\w-])--(?:[a-z]{{1,20}}-){{0,3}}(?:{names})\s{{1,3}}"
    named = rf"(?:{names})\d{{0,3}}{assign}"
    value = rf"(?P<value>{_QUOTED}|{_BARE})"
    return Secret(kind, hint, re.compile(rf"(?i)(?:{flag}|{BEGIN}{named}){value}"), is_secret)


def _named_beside(kind: str, hint: str, names: str, is_secret: Callable[[str], bool]) -> Secret:
    r"""A value beside its name: `{"name": "DB_PASSWORD", "value": "..."}`, also as YAML."""
    label = (
        rf"\b(?:name|key)[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?(?:[\w.-]{{0,60}}{BEGIN})?(?:{names})"
    )
    between = r"\d{0,3}[\"']?\s{0,3}[,;]?\s{0,60}"
    value = rf"[\"']?value[\"']?\s{{0,3}}[:=]\s{{0,3}}(?P<value>{_QUOTED}|{_BARE})"
    return Secret(kind, hint, re.compile(rf"(?i){label}{between}{value}"), is_secret)


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
        re.compile(r"(?<=://)(?!\[redacted:)[^\s:/@]{0,100}:(?P<value>[^\s/]{1,200})@"),
        lambda value: not value.startswith(REFERENCES),
    ),
    Secret(
        "token",
        "://",
        re.compile(r"(?<=://)(?P<value>[^\s:/@?#]{16,500})@"),
        is_token,
    ),
    Secret(
        "token",
        "sig",
        re.compile(
            r"(?i)(?<=[?&])(?:x-(?:amz|goog)-)?sig(?:nature)?=(?P<value>[^\s&#\"'<>]{16,500})"
        ),
        is_value,
    ),
    Secret(
        "token",
        "authorization",
        re.compile(
            r"(?i)authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<value>"
            r"(?:digest|aws4-hmac-sha256)\s{1,3}[^\r\n']{4,4000}"
            r"|(?:[a-z][\w-]{1,30}\s{1,3})?[^\s\"',;]{4,4000})"
        ),
        is_authorization,
    ),
    Secret(
        "token",
        "basic",
        re.compile(r"(?i)\bbasic\s{1,3}(?P<value>[A-Za-z0-9+/]{6,2000}={0,2})(?![A-Za-z0-9+/=])"),
        is_basic,
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
    _named_beside("password", "pass", PASSWORDS, is_value),
    _named_beside("password", "pwd", PASSWORDS, is_value),
    _named_beside("secret", "secret", SECRET_WORDS, is_value),
    _named_beside("api_key", "key", SECRET_WORDS, is_value),
    _named_beside("token", "token", TOKENS, is_random),
    _assigned("password", "pass", PASSWORDS, is_value),
    _assigned("password", "pwd", PASSWORDS, is_value),
    _assigned("secret", "secret", SECRET_WORDS, is_value),
    _assigned("api_key", "key", SECRET_WORDS, is_value),
    _assigned("secret", "credential", SECRET_WORDS, is_value),
    _assigned("token", "token", TOKENS, is_random),
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
        lambda value: not value.startswith(REFERENCES) and not value.isdigit(),
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
