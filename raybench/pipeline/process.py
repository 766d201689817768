"""What the process of a stage is like: what it does with memory, and how it ends."""

import ctypes


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
