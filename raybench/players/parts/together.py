"""Several calls side by side."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def together(calls: Iterable[Awaitable[T]]) -> list[T]:
    """Return what all of them bring; where one raises, that is raised when all have ended.

    None is left behind, so that whatever they cost is counted.
    """
    found = await asyncio.gather(*calls, return_exceptions=True)
    brought = list[T]()
    for each in found:
        if isinstance(each, BaseException):
            raise each
        brought.append(each)
    return brought
