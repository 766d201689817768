"""Hold what a progress shows of the time left against what it turned out to be."""

import asyncio
import itertools
from collections.abc import Awaitable
from dataclasses import dataclass, field

from virtual_time import now

from raybench.tracking.console import Progress

_EVERY_S = 1.0
_LEAST_SHARE = 0.1


@dataclass
class Shown:
    """The times left that were shown during a run, in virtual seconds from its beginning."""

    at: list[tuple[float, float | None]] = field(default_factory=list)
    took_s: float = 0.0

    def error(self, after: float = 1 / 3) -> float:
        """Return the largest error after this share of the run; infinite where none was shown.

        It is relative to the true time left, or to a tenth of the whole run where less is left: in
        the end the time left tends to 0, and so would every tolerance.
        """
        late = [(it, shown) for it, shown in self.at if after * self.took_s <= it < self.took_s]
        assert late
        return max(
            float("inf")
            if shown is None
            else abs(shown - (self.took_s - it)) / max(self.took_s - it, _LEAST_SHARE * self.took_s)
            for it, shown in late
        )

    def before(self, share: float) -> list[float | None]:
        """Return what was shown before this share of the run."""
        return [shown for it, shown in self.at if it < share * self.took_s]

    def largest_jump(self, after: float = 1 / 3) -> float:
        """Return the largest change of the shown end from one second to the next, as a share."""
        late = [(it, it + (shown or 0)) for it, shown in self.at if it >= after * self.took_s]
        jumps = [abs(end - last) for (_, last), (_, end) in itertools.pairwise(late)]
        return max(jumps) / self.took_s


async def watched(progress: Progress, run: Awaitable[object]) -> Shown:
    """Run something, and look at its progress every second."""
    shown, began = Shown(), now()

    async def look() -> None:
        while True:
            shown.at.append((now() - began, progress.eta()))
            await asyncio.sleep(_EVERY_S)

    looking = asyncio.create_task(look())
    try:
        await run
    finally:
        looking.cancel()
    shown.took_s = now() - began
    return shown
