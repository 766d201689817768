"""Program: a DSPy program decides, one that is shipped or one's own.

Shipped are `predict` and `chain_of_thought`, which ask as `direct` does, below an instruction, and
with examples where they have been optimised. One's own is a `dspy.Module` by its import path. Its
`forward` (or `aforward`) may take rules, view, task, tries, role, action and form, and returns a
prediction with a `move`. It is asked by `acall`, side by side with those of other matches.

DSPy is an optional extra (raybench[dspy]) and imported when a program is used.
"""

import importlib.util
from dataclasses import dataclass
from typing import ClassVar

from raybench.options import Options
from raybench.players.parts.contract import Decision, Made


@dataclass(frozen=True, slots=True)
class Program(Options):
    """Has a program decide."""

    module: str = "predict"
    """predict, chain_of_thought or MODULE:NAME."""

    varies: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if importlib.util.find_spec("dspy") is None:
            raise ValueError("programs need DSPy: pip install 'raybench[dspy]'")
        from raybench.players.parts.programs.deciding import program

        program(self.module)

    async def move(self, decision: Decision) -> Made:
        """Return the move."""
        from raybench.players.parts.programs.deciding import decided

        return await decided(self.module, decision)


STRATEGY = Program
