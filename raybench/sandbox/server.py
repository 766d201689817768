"""The client's side of a fork server: a process that starts once and runs one program a time."""

import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from raybench.sandbox.inside import request, wire
from raybench.sandbox.inside.box import Box
from raybench.sandbox.inside.watch import Proc
from raybench.sandbox.outcome import Limits
from raybench.sandbox.supervise import Pipes, Run, StuckError, attend

_HERE = Path(__file__).parent
_BOOT = (
    "import sys; sys.path.append({0!r}); from inside import serve; sys.path.remove({0!r}); "
    "serve.main()"
)
_ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": "/usr/bin:/bin",
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
}
"""All that a server's environment holds, and so its programs'."""
_START_S, _GRACE_S, _CLOSE_S = 120.0, 15.0, 5.0
"""How long a server may take to start, to answer after a run, and to end."""


class FaultError(Exception):
    """A server that could not do what it was asked, in its own words."""


class BusyError(FaultError):
    """A machine that had no time for a server or a run, which says nothing of its walls."""


class PlainError(FaultError):
    """A fault whose words hold the mend."""


@dataclass(frozen=True, slots=True)
class Ready:
    """What a server says of itself."""

    python: str
    kernel: str


class Server:
    """One fork server. Not to be used by two threads at once."""

    def __init__(self, python: str, box: Box) -> None:
        """Start it. Raises FaultError where it cannot make the place that `box` describes."""
        self.backend = box.backend
        self.runs = 0
        self.variables = {**_ENVIRONMENT, **box.variables}
        """All that its programs find in their environment."""
        ours, its = socket.socketpair()
        self._socket = ours
        self._proc = _proc()
        with its:
            self._process = subprocess.Popen(
                [python, "-s", "-P", "-S", "-B", "-c", _BOOT.format(str(_HERE))],
                stdin=its.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=self.variables,
                cwd="/",
                start_new_session=True,  # Ctrl-C at the terminal is ours to hear
            )
        try:
            self._send(asdict(box))
            said = self._receive(_START_S)
        except FaultError:
            self.close()
            raise
        self.ready = Ready(said["python"], said["kernel"])

    @property
    def pid(self) -> int:
        """Return the number of its process."""
        pid: int = self._process.pid
        return pid

    def run(self, source: bytes, stdin: bytes, files: Mapping[str, bytes], limits: Limits) -> Run:
        """Have a program run to its end; return what is known of it.

        Raises FaultError where its walls could not be put up, or fell.
        """
        self.runs += 1
        _, shared = self._proc.size_mb(self.pid)
        run = Run(limits, shared)
        asked, given = request.packed(source, files), request.read_only(stdin)
        try:
            with closing(Pipes()) as pipes:
                self._send({"limits": asdict(limits)}, [given, *pipes.theirs, asked])
                pipes.keep_ours()
                attend(run, pipes, self._proc, self._stop)
        except StuckError as error:
            self._process.kill()
            raise BusyError(str(error)) from error
        finally:
            os.close(asked)
            os.close(given)
        self._receive(_GRACE_S)
        if run.fault or (run.status is None and run.stopped is None):
            last = run.stderr.bytes().decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise FaultError(run.fault or last or "the program's processes vanished without a word")
        run.memory_mb = max(0.0, run.memory_mb - run.shared_mb)
        return run

    def close(self) -> None:
        """End it, and with it whatever it runs."""
        self._socket.close()  # at which it ends what it runs, and clears up behind it
        try:
            self._process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _stop(self) -> None:
        """Have the run ended: a word is enough."""
        with suppress(FaultError):
            self._send({})

    def _send(self, said: Any, descriptors: Sequence[int] = ()) -> None:
        try:
            wire.send(self._socket, said, descriptors)
        except (wire.ClosedError, OSError) as error:
            raise FaultError(f"the sandbox's server ended ({self._wait()})") from error

    def _receive(self, deadline: float) -> dict[str, Any]:
        self._socket.settimeout(deadline)
        try:
            said, _ = wire.receive(self._socket)
        except TimeoutError as error:
            self._process.kill()
            raise FaultError(f"the sandbox's server gave no answer in {deadline:.0f} s") from error
        except (wire.ClosedError, OSError) as error:
            raise FaultError(f"the sandbox's server ended ({self._wait()})") from error
        if "fault" in said:
            raise FaultError(said["fault"])
        return dict(said)

    def _wait(self) -> str:
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return "its pipe is closed"
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


@cache
def _proc() -> Proc:
    return Proc()
