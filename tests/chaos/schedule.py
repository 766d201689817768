"""What breaks, and when: drawn from a seed, so that what was found can be found again."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

_FIRST, _LAST = 0.02, 0.6
_BRIEF_S, _LONG_S = 0.5, 4.0


@dataclass(frozen=True)
class Event:
    """One thing that breaks in a run."""

    fault: str
    after: float
    """The share of the run's units that are done before."""
    lasts_s: float
    """How long it is until it is mended, where it has to be."""
    pick: int
    """Which one breaks where there are several, counted round and round."""

    def of(self, several: Sequence[object]) -> int:
        """Return the place of the one that breaks."""
        return self.pick % len(several)


def drawn(seed: int, faults: Sequence[str], longest_s: float = _LONG_S) -> list[Event]:
    """Have each of these happen once, in some order, all along a run."""
    rng = random.Random(seed)
    shares = sorted(rng.uniform(_FIRST, _LAST) for _ in faults)
    return [
        Event(fault, share, rng.uniform(_BRIEF_S, longest_s), rng.randrange(2**16))
        for fault, share in zip(rng.sample(faults, len(faults)), shares, strict=True)
    ]
