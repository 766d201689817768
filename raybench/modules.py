"""Packages that hold things of one kind, a module each. A new one is a new file."""

import importlib
import pkgutil
import sys
from collections.abc import Collection
from functools import cache
from typing import Any

from raybench.errors import ConfigurationError, Problem, did_you_mean, plain

PARTS = ("parts",)
"""What serves the modules beside it, and is none of the kind."""


def names(package: str, *, but: Collection[str] = PARTS) -> list[str]:
    """Return the names of a package's modules."""
    found = pkgutil.iter_modules(sys.modules[package].__path__)
    return sorted(it.name for it in found if it.name not in but)


@cache  # every unit asks: looking through the folder each time took half of a stage's work
def named(package: str, name: str, what: str, *, own: bool = False) -> Any:
    """Return a package's module by its name, however that is spelled.

    Raises ConfigurationError where there is none; where one's `own` will do, it says so.
    """
    known = {plain(module): module for module in names(package)}
    if (module := known.get(plain(name))) is None:
        mend = " Your own: MODULE:NAME." if own else ""
        raise ConfigurationError(
            Problem(
                "setting.choice",
                f"unknown {what} '{name}'",
                given=name,
                fix=f"{did_you_mean(name, known.values())}{mend}",
            )
        )
    return importlib.import_module(f"{package}.{module}")
