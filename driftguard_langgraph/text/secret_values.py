"""Whether text in the place of a secret is one, by what it looks like."""

from __future__ import annotations

import base64
import re

_NOT_VALUES = frozenset(
    "bool bytes changed denied disabled empty enabled expected expired failed false hidden "
    "incorrect invalid mismatch missing none not null number object optional protected "
    "rejected required reset str string true undefined unknown unset wrong".split()
)
"""What stands after `password:` in prose, schemas and code, and is no password."""

REFERENCES = (
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


def is_value(value: str) -> bool:
    """Whether text in the place of a password may be one."""
    bare = value.strip("\"'")
    return (
        len(bare) > 2
        and bare.lower().rstrip(".,:;!?") not in _NOT_VALUES
        and not bare.startswith(REFERENCES)
    )


def is_random(value: str) -> bool:
    """Whether text looks drawn rather than written: words have no digits."""
    bare = value.strip("\"'")
    return is_value(value) and len(bare) > 5 and any(character.isdigit() for character in bare)


def is_token(value: str) -> bool:
    """Whether text in a list of tokens is a credential: words of a text are shorter."""
    return is_random(value) and len(value) >= _SHORTEST_TOKEN and not _has_space(value)


def is_basic(value: str) -> bool:
    """Whether text is `user:password` in base64, as HTTP's Basic scheme has it."""
    try:
        user, colon, _ = base64.b64decode(value, validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(colon) and user.isprintable()


def is_authorization(value: str) -> bool:
    """Whether the value of an Authorization header holds a credential."""
    scheme, *rest = value.split(maxsplit=1)
    if rest and scheme.lower() in _SCHEMES:
        return is_value(rest[0])
    return is_random(rest[0] if rest else scheme) and not (rest and _has_space(rest[0]))


def is_card(value: str) -> bool:
    """Whether digits are a payment card's: brand, length and check digit (Luhn)."""
    digits = [int(character) for character in value if character.isdigit()]
    number = "".join(map(str, digits))
    if not any(re.fullmatch(brand, number) for brand in _CARD_BRANDS):
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


_SHORTEST_TOKEN = 16
_SCHEMES = frozenset(
    "bearer basic token digest apikey api-key aws4-hmac-sha256 negotiate ntlm hoba mutual "
    "sharedkey sharedaccesssignature splunk".split()
)
"""Names of ways to authenticate (IANA's, and those of large services)."""


def _has_space(value: str) -> bool:
    return any(map(str.isspace, value))


_CARD_BRANDS = (
    r"4(?:\d{12}|\d{15}|\d{18})",
    r"(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}",
    r"3[47]\d{13}",
    r"3(?:0[0-5]|[68]\d)\d{11}",
    r"(?:6011|64[4-9]\d|65\d\d|35[2-8]\d)\d{12}",
    r"62\d{14,17}",
)
