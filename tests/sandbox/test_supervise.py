"""When a run is stopped for what it hides, without a sandbox: processes show what a test says."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raybench.sandbox import Limits
from raybench.sandbox.inside.watch import Held
from raybench.sandbox.supervise import Run, _look

LIMITS = Limits()


class Watched:
    """A run that is looked at, after so many seconds and so much time of a processor."""

    def __init__(self, folder: Path) -> None:
        self.run = Run(LIMITS, 0.0, init=1, folder=str(folder))

    def look(self, *, hidden: bool, shown: bool, after_s: float, cpu_s: float = 0.0) -> str | None:
        self.run.began = time.monotonic() - after_s
        proc: Any = SimpleNamespace(
            usage=lambda *_: SimpleNamespace(memory_mb=1.0, spent={2: cpu_s}, cpu_s=cpu_s),
            held=lambda *_: Held(0.0, 0, hidden, shown),
        )
        _look(self.run, proc)
        return self.run.stopped


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_program_may_begin_slowly(watched: Watched) -> None:
    """A loaded machine took more than half a second to put up the last walls."""
    for after_s in (0.1, 3.0, 20.0):
        assert watched.look(hidden=True, shown=False, after_s=after_s) is None
    assert watched.look(hidden=False, shown=True, after_s=21.0) is None


def test_a_program_that_has_begun_may_hide_nothing_for_half_a_second(watched: Watched) -> None:
    watched.look(hidden=False, shown=True, after_s=0.1)
    assert watched.look(hidden=True, shown=True, after_s=0.2) is None
    assert watched.look(hidden=True, shown=True, after_s=0.8) == "hidden"


def test_a_program_that_hides_from_the_beginning_gets_no_further(watched: Watched) -> None:
    assert watched.look(hidden=True, shown=False, after_s=0.1, cpu_s=0.01) is None
    assert watched.look(hidden=True, shown=False, after_s=0.7, cpu_s=0.3) == "hidden"
