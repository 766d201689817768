"""What the process of a stage is like: what it runs, what it does with memory, how it ends."""

import ctypes
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

Block = dict[str, Any]
"""What Ray Data hands to a stage and takes from it."""


Stage = Callable[[Block], Block | Awaitable[Block]]
Made = tuple[Callable[..., Stage], tuple[Any, ...]]
"""A stage's class, and what it is given when it is made."""


class InTurn:
    """Several stages in one process: each block goes through one after the other."""

    def __init__(self, stages: Sequence[Made]) -> None:
        self._stages = [stage(*given) for stage, given in stages]

    async def __call__(self, block: Block) -> Block:
        """Have every stage do its part for the units of a block."""
        for stage in self._stages:
            done = stage(block)
            block = await done if isinstance(done, Awaitable) else done
        return block


def prepare() -> None:
    """Make a process of Ray's one for a stage."""
    _share_memory()
    _end_with_python()


def _share_memory() -> None:
    """Have the threads of this process share what Arrow has done with.

    Its own allocator keeps some for each. A process that holds many blocks at once has a thread for
    each of them, and they come to hundreds of MiB in which there is nothing.
    """
    import pyarrow

    pyarrow.set_memory_pool(pyarrow.system_memory_pool())


def _end_with_python() -> None:
    """Let this process end as soon as Python is done, without what Ray's library does after that.

    Who has borrowed an object or an actor owes its owner word of having done with it. Where that
    word is still to be sent when Ray takes itself down, it waits for a lock that it holds itself,
    and the process stays for good (Ray 2.60; one in a hundred). The owner hears of the end anyway.
    """
    c = ctypes.CDLL(None)
    # What was registered last is called first: before Ray's, which came with the connection.
    c.on_exit(c._exit, None)
