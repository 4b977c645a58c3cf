"""What can be wrapped, and what is refused before anything is paid for."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from openai import OpenAI

from driftguard_langgraph.clients import wrap
from driftguard_langgraph.drift.tracking.tracker import DriftTracker
from driftguard_langgraph.errors import ConfigurationError


def client() -> OpenAI:
    return OpenAI(api_key="k")


class Chat:
    """Looks like a client, and is none."""


@pytest.mark.parametrize("given", [None, "openai", Chat(), OpenAI, object()])
def test_what_is_no_client_is_refused_with_the_way_out(given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot wrap .*record_turn"):
        wrap(given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "must be 'open' or 'closed'"),
        ({"max_conversations": 0}, "must be 1 or more"),
        ({"sytem_prompt": "x"}, "no option sytem_prompt"),
        ({"mode": "sometimes"}, "'always' or 'ondemand'"),
        ({"persist": True}, "conversation="),
        ({"tracker": 5}, "not int"),
        ({"tracker": DriftTracker("x"), "mode": "always"}, "give these to the tracker"),
    ],
)
def test_a_wrong_option_is_found_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        wrap(client(), **options)


def test_a_client_is_not_wrapped_twice() -> None:
    with pytest.raises(ConfigurationError, match="wrapped already"):
        wrap(wrap(client()))


def test_neither_sdk_nor_langchain_is_imported() -> None:
    code = (
        "import sys, driftguard_langgraph.clients\n"
        "print([n for n in ('openai', 'anthropic', 'langchain_core') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
