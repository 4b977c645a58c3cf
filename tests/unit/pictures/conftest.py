"""What every test of a picture is held to: no picture leaves a trace in pyplot."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _pyplot_stays_out() -> Iterator[None]:
    """Fail a test whose picture imports pyplot."""
    before = "matplotlib.pyplot" in sys.modules
    yield
    assert ("matplotlib.pyplot" in sys.modules) == before
