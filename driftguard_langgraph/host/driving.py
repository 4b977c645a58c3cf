"""Sync and async from one body: a generator yields whatever may block and is sent the result.

What it yields runs in a worker thread under async; the rest stays in the context of the caller,
where `interrupt()` works.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, TypeVar

_T = TypeVar("_T")
Steps = Generator[Callable[[], Any], Any, _T]
"""A body that yields whatever may block and is sent the result."""


def driven(steps: Steps[_T]) -> _T:
    """Run a body to its end in this thread."""
    result = None
    while True:
        try:
            blocking = steps.send(result)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        result = blocking()


async def adriven(steps: Steps[_T]) -> _T:
    """Run a body to its end; whatever may block runs in a worker thread."""
    result = None
    while True:
        try:
            blocking = steps.send(result)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        result = await asyncio.to_thread(blocking)
