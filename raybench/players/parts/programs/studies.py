"""What is optimised, and how: said without DSPy, which whoever does it imports."""

from dataclasses import dataclass

from raybench.players.parts.programs.optimisers import Optimiser


@dataclass(frozen=True)
class Studies:
    """What is optimised, and how."""

    module: str
    optimiser: Optimiser
    seed: int
    threads: int
    """Positions that are played side by side."""
