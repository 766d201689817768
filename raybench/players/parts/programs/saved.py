"""What an optimiser made of a program: instructions and examples, as a file holds them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from raybench.reading import from_json
from raybench.types import Observation

PROGRAM, ABOUT = "program", "about"
"""What a file of ours holds; one of DSPy's is what ours holds as the program."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A compiled program; an empty one changes nothing."""

    name: str = ""
    """That of its file."""
    state: str = ""
    """As DSPy saves it, in JSON."""
    module: str = ""
    """What it was compiled from; '' where the file does not say."""
    actions: tuple[str, ...] = ()
    """What it was compiled to do; () for all that is asked."""

    @classmethod
    def of(cls, text: str, name: str) -> "Saved":
        """Read a file. Raises ValueError where it holds no program."""
        try:
            found = from_json(text)
        except ValueError as error:
            raise ValueError(_no_program(name, f"it is no JSON: {error}")) from error
        if not isinstance(found, Mapping):
            raise ValueError(_no_program(name, "it holds no object"))
        if PROGRAM not in found or ABOUT not in found:
            return cls(name, text)
        about: Mapping[str, Any] = found[ABOUT]
        try:
            return cls(
                name,
                json.dumps(found[PROGRAM]),
                str(about["module"]),
                tuple(about["actions"]),
            )
        except (LookupError, TypeError) as error:
            raise ValueError(_no_program(name, repr(error))) from error

    def suits(self, seen: Observation) -> bool:
        """Tell whether it was made for what is asked: its examples show nothing else."""
        return not self.actions or seen.action in self.actions


NOTHING = Saved()
"""What a program is given that no optimiser has seen."""


def _no_program(name: str, why: str) -> str:
    return (
        f"the compiled program '{name}' cannot be loaded ({why}): give a JSON file that "
        "+experiment=optimise_players left, or that an optimiser of DSPy's saved its program to"
    )
