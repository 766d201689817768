"""How long a run waits for those without whom nothing more can be played."""

import math
import time
from collections.abc import Callable, Iterable

from raybench.statements import Statement

Say = Callable[[str], None]


class Patience:
    """Says for whom is waited, and for how long still."""

    def __init__(
        self,
        seconds: float | None,
        say: Say,
        phase: Say,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """None is for ever. `say` is told where a wait begins, `phase` what goes on now."""
        self._seconds = math.inf if seconds is None else seconds
        self._say = say
        self._phase = phase
        self._clock = clock
        self._since: float | None = None

    def left(self, gone: Iterable[object]) -> float:
        """Wait for these; return for how many seconds still."""
        first = self._since is None
        if self._since is None:
            self._since = self._clock()
        left = max(0.0, self._since + self._seconds - self._clock())
        long = "for ever" if left == math.inf else f"{left:.0f} s still"
        told = f"for {' and '.join(map(str, gone))}, {long}"
        if first and left > 0:
            self._say(
                Statement(
                    "patience.begins",
                    "Waiting {told} (games.patience_s), asking now and then: all that can be "
                    "played without is played",
                    told=told,
                    left=left,
                )
            )
        self._phase(Statement("patience.waits", "waiting {told}", told=told, left=left))
        return left

    def rest(self) -> None:
        """Wait for nobody: something can be played."""
        if self._since is not None:
            self._since = None
            self._phase("playing")
