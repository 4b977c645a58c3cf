"""Telling a failed tool result from a good one, when the log does not say.

Message logs hold what a tool returned and no verdict. `looks_failed` decides by explicit
markers only: it would rather miss a failure than invent one. Replace it with any
`Callable[[str], bool]` that knows your tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

FailurePredicate = Callable[[str], bool]
"""Says of the text of one tool result whether the call failed."""

_ERROR_KEYS = ("error", "errors", "exception", "traceback")
_FLAG_KEYS = ("is_error", "isError", "failed")
_SUCCESS_KEYS = ("success", "ok", "succeeded")
_EXIT_KEYS = ("exit_code", "exitCode", "exit_status", "returncode", "return_code")
_HTTP_KEYS = ("status_code", "statusCode", "http_status")
_BAD_STATUS = frozenset({"error", "failed", "failure"})

_HTTP_CLIENT_ERROR = 400
"""First HTTP status code that means failure (RFC 9110, section 15.5)."""

_OPENING = re.compile(
    r"""(?ix) \A \s* (?:
        (?:error|failed|failure|fatal|exception) \b \s* (?: : | \[ | \( | - | \Z )
      | error \s+ (?:executing|running|calling|invoking|while|during|in) \b
      | (?:[\w.]+\.)? \w* (?:error|exception) (?:\s*\[[^\]]*\])? \s* :
      | traceback \s \( most \s recent \s call \s last \)
    )"""
)
_ANYWHERE = re.compile(
    r"""(?ix)
        ^ traceback \s \( most \s recent \s call \s last \) : \s* $
      | \b exit (?:ed)? (?: \s+ with)? (?: \s+ (?:code|status)) \s* :? \s* -? 0* [1-9] \d*
      | ^ [^\n]{0,200} : \s command \s not \s found \s* $
    """,
    re.MULTILINE,
)


def looks_failed(content: str) -> bool:
    """Return whether the text of a tool result carries an explicit mark of failure.

    In a JSON object: a non-empty `error`, `errors`, `exception` or `traceback`; a true
    `is_error`; a false `success` or `ok`; the `status` `error` or `failed`; an exit code
    other than 0; an HTTP status of 400 or more. In other text: an opening such as `Error:`,
    `fatal:` or `ValueError:`, a Python traceback, `exit code 1`, `command not found`.

    Args:
        content: What the tool returned.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return bool(_OPENING.search(content) or _ANYWHERE.search(content))
    if isinstance(value, Mapping):
        return _object_failed(value)
    return isinstance(value, str) and bool(_OPENING.search(value) or _ANYWHERE.search(value))


def by_pattern(pattern: re.Pattern[str]) -> FailurePredicate:
    """Return a predicate for which a result failed when `pattern` occurs in it."""
    return lambda content: pattern.search(content) is not None


def _object_failed(value: Mapping[str, Any]) -> bool:
    return (
        any(value.get(key) for key in _ERROR_KEYS)
        or any(value.get(key) is True for key in _FLAG_KEYS)
        or any(value.get(key) is False for key in _SUCCESS_KEYS)
        or str(value.get("status", "")).lower() in _BAD_STATUS
        or any(_number(value.get(key)) != 0 for key in _EXIT_KEYS)
        or any(_number(value.get(key)) >= _HTTP_CLIENT_ERROR for key in _HTTP_KEYS)
    )


def _number(value: object) -> float:
    """Return a number as it is and anything else as 0: no statement, no failure."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0
