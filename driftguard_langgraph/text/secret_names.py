"""What the names of secrets look like, in arguments and other JSON."""

from __future__ import annotations

import re

from driftguard_langgraph.text.secret_patterns import BEGIN, PASSWORDS, SECRET_WORDS, TOKENS
from driftguard_langgraph.text.secret_values import is_random, is_token, is_value

NAMES = (
    ("password", re.compile(rf"(?i){BEGIN}(?:{PASSWORDS})\d{{0,3}}$"), is_value),
    ("secret", re.compile(rf"(?i){BEGIN}(?:{SECRET_WORDS})$"), is_value),
    ("token", re.compile(rf"(?i){BEGIN}{TOKENS}$"), is_random),
    ("token", re.compile(r"(?i)^(?:(?:proxy-)?authorization|cookie|set-cookie)$"), is_value),
)
"""Names of arguments whose values are secrets, whatever these look like."""

PLURAL_NAMES = (
    ("password", re.compile(rf"(?i){BEGIN}(?:{PASSWORDS})s$"), is_value),
    ("secret", re.compile(rf"(?i){BEGIN}(?:{SECRET_WORDS})s$"), is_value),
    ("token", re.compile(rf"(?i){BEGIN}{TOKENS}s$"), is_token),
)
"""Names of lists and objects of secrets; `max_tokens` is a number."""

DESCRIBES = re.compile(
    r"(?i)(?:^|_|(?<=[a-z])(?-i:(?=[A-Z])))(?:type|kind|name(?:space)?|id|user(?:name)?|login"
    r"|e?mail|account|owner|role|host(?:name)?|port|ur[li]|endpoint|path|file|folder|region|zone"
    r"|provider|issuer|engine|format|encoding|alg(?:orithm)?|cipher|scope|scheme|version|stat(?:e|us)"
    r"|title|label|description|message|error|errors|detail|hint|reason|code|pattern|at|date|time"
    r"|expir(?:es|y|ation)|created|updated|rotated|ref(?:erence)?)$"
)
"""Names of what is said about a secret, and is none."""

SCHEMA_TYPES = frozenset("string integer number boolean object array null".split())
"""What `type` says in a JSON schema, whose texts describe a value and are none."""

LABELS = frozenset("name key field variable var env header label parameter param id".split())
"""Keys of an object whose value may be the name of a secret that is beside it."""

BESIDE = re.compile(r"(?i)^(?:\w{1,20}_)?(?:value|val)s?$|^(?:data|content|default)$")
"""Keys of what is beside a name."""
