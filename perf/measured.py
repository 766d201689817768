"""What a command takes as a whole, seen from outside: time, processors, memory, and its tokens."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from perf.engine_clock.raybench_engine_clock import FOLDER, RECORD
from perf.processes import Family

_Way = TypeVar("_Way")
_LOOK_S = 0.5
_GROWN = 1.01
"""How much more memory is worth a closer look: one at all processes takes a tenth of a second of a
processor, which a command on two of them feels, and the more the more processes it has."""
_CLOCK = Path(__file__).parent / "engine_clock"


@dataclass(frozen=True)
class Took:
    """What a command took, from its first to its last moment."""

    seconds: float
    cpu_s: float
    """Of all its processes together, but for what each did after the last look at it."""
    peak_mib: float
    """The most memory that they held together; what several share counts once."""
    tokens: int = 0
    """What engines of vLLM made."""
    first_s: float = 0.0
    """When the first of them were made."""
    last_s: float = 0.0
    """When the last were."""

    @property
    def steady_s(self) -> float:
        """Return how long there were tokens."""
        return self.last_s - self.first_s

    @property
    def rate(self) -> float:
        """Return how many tokens there were in a second of that."""
        return self.tokens / self.steady_s


def in_turn(rounds: int, ways: Sequence[_Way]) -> Iterator[tuple[int, _Way]]:
    """Yield each way once a round, with the round's number, from 1.

    Every other round goes the other way round: machines get slower, and quicker again.
    """
    for number in range(rounds):
        for way in ways[:: -1 if number % 2 else 1]:
            yield number + 1, way


def say(what: str) -> None:
    """Tell how far it is, beside what is found."""
    print(what, file=sys.stderr, flush=True)


def took(command: Sequence[str], *, cwd: Path, environment: Mapping[str, str] = os.environ) -> Took:
    """Run a command and say what it took.

    What it says goes to `said.txt` in its folder. Raises SystemExit with its last words where it
    fails.
    """
    family, peak, resident = Family(), 0, 0.0
    with tempfile.TemporaryDirectory() as steps, (cwd / "said.txt").open("w") as said:
        path = f"{_CLOCK}:{environment.get('PYTHONPATH', '')}".rstrip(":")
        begun = time.time()
        process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            env={**users(environment), "PYTHONPATH": path, FOLDER: steps},
        )  # fmt: skip
        while process.poll() is None:
            processes = family.look([process.pid])
            if (now := sum(it.rss for it in processes)) > resident * _GROWN:
                resident, peak = now, max(peak, sum(it.pss() for it in processes))
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_S)
        seconds = time.time() - begun
        family.end()
        made = sorted(
            record
            for file in Path(steps).iterdir()
            for record in RECORD.iter_unpack(file.read_bytes())
        )
    if process.returncode:
        raise SystemExit(last_words(command, cwd, f"ended with code {process.returncode}"))
    tokens = sum(count for _, count in made)
    first, last = (made[0][0], made[-1][0]) if made else (begun, begun)
    return Took(seconds, family.cpu_s, peak / 2**20, tokens, first - begun, last - begun)


def users(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return an environment as users have it: what Python has compiled it keeps."""
    return {name: it for name, it in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}


def last_words(command: Sequence[str], cwd: Path, what: str) -> str:
    """Return what is told of a command that is no measurement."""
    words = (cwd / "said.txt").read_text(errors="replace")[-3000:]
    return f"{' '.join(command)} {what}:\n{words}"
