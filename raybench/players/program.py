"""Program: a DSPy program decides, one that is shipped or one's own.

Shipped are `predict` and `chain_of_thought`, which ask as `direct` does, below an instruction, and
with examples where they have been optimised (`compiled`). One's own is a `dspy.Module` by its
import path, whose `aforward` may take rules, view, task, tries, role, action and form, asks by
`acall`, and returns a prediction with a `move`.

DSPy is an optional extra (raybench[dspy]) and imported when a program is used.
"""

import importlib.util
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from raybench.options import FILE, Options
from raybench.players.parts.contract import Decision, Made
from raybench.players.parts.programs.saved import Saved

PLAIN = "predict"


@dataclass(frozen=True, slots=True)
class Program(Options):
    """Has a program decide."""

    module: str = ""
    """predict, chain_of_thought or MODULE:NAME; '' is that of the file, or predict."""
    compiled: str = field(default="", metadata={FILE: "text"})
    """A file of instructions and examples, as +experiment=optimise_players leaves it, or as an
    optimiser of DSPy's saves its program: JSON."""
    text: str = ""
    """What is in the file, where that lies elsewhere."""
    _saved: Saved = field(default=Saved(), init=False, repr=False, compare=False)

    varies: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if importlib.util.find_spec("dspy") is None:
            raise ValueError("programs need DSPy: pip install 'raybench[dspy]'")
        from raybench.players.parts.programs.deciding import program

        if self.compiled and not self.text:
            object.__setattr__(self, "text", _content(self.compiled))
        if self.text:
            object.__setattr__(self, "_saved", Saved.of(self.text, self.compiled))
        made_of = self._saved.module
        if self.module and made_of and self.module != made_of:
            raise ValueError(
                f"'{self.compiled}' was compiled from '{made_of}', and not from '{self.module}': "
                "leave module out"
            )
        program(self.source, self._saved)

    async def move(self, decision: Decision) -> Made:
        """Return the move."""
        from raybench.players.parts.programs.deciding import decided

        saved = self._saved if self._saved.suits(decision.seen) else Saved()
        return await decided(self.source, saved, decision)

    @property
    def source(self) -> str:
        """What it is a program of."""
        return self.module or self._saved.module or PLAIN

    @property
    def plain(self) -> "Program":
        """The same without what an optimiser made of it."""
        return replace(self, compiled="", text="")


def _content(file: str) -> str:
    try:
        return Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(f"the compiled program '{file}' cannot be read ({why})") from error


STRATEGY = Program
