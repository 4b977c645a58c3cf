from __future__ import annotations

import io
import sys

import pytest

from driftguard_langgraph.cli.progress import bars


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_a_bar_for_each_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bars() as progress:
        progress("reading", 10, 10)
        progress("replaying", 1, 2)
    assert isinstance(sys.stderr, Terminal)
    shown = sys.stderr.getvalue()
    assert "reading" in shown
    assert "100%" in shown
    assert "50%" in shown


def test_a_file_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with bars() as progress:
        progress("reading", 10, 10)
    assert isinstance(sys.stderr, io.StringIO)
    assert sys.stderr.getvalue() == ""


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bars() as progress:
        progress("reading", 1, 2)
    assert isinstance(sys.stderr, Terminal)
    assert "\x1b[3" not in sys.stderr.getvalue()
