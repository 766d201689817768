"""A process of its own for the program, out of which nothing of the tests can be reached.

Runs in the sandbox: the standard library only, Python 3.11 and 3.12.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable

from raybench.benchmarks.parts.harness.channel import Channel

_SET_DEATH_SIGNAL, _GET_DUMPABLE, _SET_DUMPABLE, _NO_NEW_PRIVILEGES = 1, 3, 4, 38
_CAPABILITIES = 0x20080522
_MANY = 1 << 20
_READING, _WRITING = 3, 4
_PATIENCE_S = 0.5


class Child:
    """The process that runs the program, and the way to it."""

    def __init__(self, pid: int, channel: Channel) -> None:
        self.channel = channel
        self._pid = pid

    @classmethod
    def start(cls, work: Callable[[Channel], None]) -> "Child":
        """Let a new process do the work. It holds what this one has read so far, and no more.

        Start it before anything is read that it must not know.
        """
        libc = ctypes.CDLL(None, use_errno=True)
        # Without this a process of the same user may read this one's memory and descriptors.
        libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
        if libc.prctl(_GET_DUMPABLE, 0, 0, 0, 0) != 0:
            raise OSError("this process could not be hidden from its child")
        requests, replies = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                _settle(libc, requests[0], replies[1])
                work(Channel(_READING, _WRITING))
                code = 0
            except SystemExit as leave:
                code = leave.code if isinstance(leave.code, int) else leave.code is not None
            finally:
                os._exit(code & 0xFF)
        os.close(requests[0])
        os.close(replies[1])
        return cls(pid, Channel(replies[0], requests[1]))

    def end(self) -> str:
        """End the process and say how it had ended before, if it had."""
        self.channel.close()
        told = self._ended(_PATIENCE_S)
        if told is None:
            self.kill()
            self._ended(_PATIENCE_S)
        return told or "closed its pipes"

    def kill(self) -> None:
        """End the process, whatever it is at."""
        with contextlib.suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)

    def _ended(self, patience_s: float) -> str | None:
        until = time.monotonic() + patience_s
        while True:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > until:
                return None
            time.sleep(0.005)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number == signal.SIGXCPU:
                # The limit is that of the whole run, which is to tell of it.
                os.kill(os.getpid(), signal.SIGXCPU)
            known = number in signal.Signals.__members__.values()
            return f"ended by {signal.Signals(number).name if known else f'signal {number}'}"
        return f"exit code {os.waitstatus_to_exitcode(status)}"


def _settle(libc: ctypes.CDLL, reading: int, writing: int) -> None:
    """Leave the child with two pipes, and with nothing to reach its parent by."""
    os.setsid()
    libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    # The sandbox has no capabilities to lose. Where there is none, root could still look around.
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES, 0), (ctypes.c_uint32 * 6)())
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    spare = [os.dup(it) for it in (reading, writing)]
    while min(spare) <= _WRITING:  # else one could be closed before it is moved
        spare = [os.dup(it) for it in spare]
    os.dup2(spare[0], _READING)
    os.dup2(spare[1], _WRITING)
    os.closerange(_WRITING + 1, _MANY)
