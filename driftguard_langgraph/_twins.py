"""Async twins of sync methods, without writing the body twice."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

_S = TypeVar("_S")
_P = ParamSpec("_P")
_R = TypeVar("_R")


def async_twin(
    method: Callable[Concatenate[_S, _P], _R],
) -> Callable[Concatenate[_S, _P], Coroutine[Any, Any, _R]]:
    """Return an `async` method that runs `method` in a worker thread.

    The method is looked up by name on the instance at call time, so an overridden sync
    method is what the inherited twin runs. Context variables travel with the call.

    Args:
        method: The sync method, as defined in the class body.
    """
    name = method.__name__

    # The attributes of an abstract method would make its twin abstract, too.
    @functools.wraps(method, updated=())
    async def twin(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return cast("_R", await asyncio.to_thread(getattr(self, name), *args, **kwargs))

    twin.__name__ = f"a{name}"
    twin.__qualname__ = twin.__qualname__.rpartition(".")[0] + f".a{name}"
    twin.__doc__ = f"Async twin of `{name}`; it runs in a worker thread."
    return twin


def is_sort(sort: Callable[[Any], bool], given: object) -> bool:
    """Whether something is a function of a sort, as one of `inspect`'s questions tells it.

    Args:
        sort: `inspect.iscoroutinefunction`, for example.
        given: A function, or an object that can be called.
    """
    # An object with an `async def __call__` is as much of a coroutine function.
    return sort(given) or sort(getattr(given, "__call__", None))  # noqa: B004


def is_async(given: object) -> bool:
    """Whether somebody has to await what calling this gives, or iterate over it in async code."""
    return any(
        is_sort(sort, given) for sort in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    )
