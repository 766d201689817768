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
from raybench.paths import expanded
from raybench.players.parts.contract import Decision, Made
from raybench.players.parts.programs.saved import NOTHING, Saved

PLAIN = "predict"


@dataclass(frozen=True, slots=True)
class Program(Options):
    """Has a program decide."""

    module: str = ""
    """predict, chain_of_thought or MODULE:NAME; '' is that of the file, or predict."""
    compiled: tuple[str, ...] | str = field(default=(), metadata={FILE: "texts"})
    """Files of instructions and examples, as +experiment=optimise_players leaves them, or as an
    optimiser of DSPy's saves its program: JSON. Of several the first one made for what is asked."""
    texts: tuple[str, ...] = ()
    """What is in the files, where these lie elsewhere."""
    _saved: tuple[Saved, ...] = field(default=(), init=False, repr=False, compare=False)

    varies: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if importlib.util.find_spec("dspy") is None:
            raise ValueError("programs need DSPy: pip install 'raybench[dspy]'")
        from raybench.players.parts.programs.deciding import program

        names = (self.compiled,) if isinstance(self.compiled, str) else tuple(self.compiled)
        texts = tuple(self.texts) or tuple(map(_content, names))
        saved = tuple(map(Saved.of, texts, names or [""] * len(texts)))
        for each in saved:
            if self.module and each.module and self.module != each.module:
                raise ValueError(
                    f"'{each.name}' was compiled from '{each.module}', and not from "
                    f"'{self.module}': leave module out"
                )
            if ":" in each.module and not self.module:  # to import it is to run it
                raise ValueError(
                    f"'{each.name}' was compiled from '{each.module}', which is code that a file "
                    "cannot ask for: where you trust it, name it yourself, with module"
                )
        for name, value in {"compiled": names, "texts": texts, "_saved": saved}.items():
            object.__setattr__(self, name, value)
        for each in saved or (NOTHING,):
            program(self._module(each), each)

    async def move(self, decision: Decision) -> Made:
        """Return the move."""
        from raybench.players.parts.programs.deciding import decided

        found = next((it for it in self._saved if it.suits(decision.seen)), NOTHING)
        return await decided(self._module(found), found, decision)

    def _module(self, saved: Saved) -> str:
        return self.module or saved.module or PLAIN


def _content(file: str) -> str:
    try:
        return expanded(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(
            f"the compiled program '{file}' cannot be read ({why}): give the path of one that is "
            "there"
        ) from error


STRATEGY = Program
