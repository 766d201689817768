"""Program: a DSPy program decides, one that is shipped or one's own.

Shipped are `predict` and `chain_of_thought`, which ask as `direct` does, below an instruction, and
with examples where they have been optimised (`compiled`). One's own is a `dspy.Module` by its
import path, whose `aforward` may take rules, view, task, tries, role, action and form, asks by
`acall`, and returns a prediction with a `move`.

DSPy is an optional extra (raybench[dspy]) and imported when a program is used.
"""

import importlib.util
from dataclasses import dataclass, field
from typing import ClassVar

from raybench.options import FILE, Options
from raybench.players.parts.contract import Decision, Made


@dataclass(frozen=True, slots=True)
class Program(Options):
    """Has a program decide."""

    module: str = "predict"
    """predict, chain_of_thought or MODULE:NAME."""
    compiled: str = field(default="", metadata={FILE: True})
    """A file of instructions and examples, as an optimiser of DSPy's saves its program: JSON."""

    varies: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if importlib.util.find_spec("dspy") is None:
            raise ValueError("programs need DSPy: pip install 'raybench[dspy]'")
        from raybench.players.parts.programs.deciding import program

        program(self.module, self.compiled)

    async def move(self, decision: Decision) -> Made:
        """Return the move."""
        from raybench.players.parts.programs.deciding import decided

        return await decided(self.module, self.compiled, decision)


STRATEGY = Program
