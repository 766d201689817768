"""Fixed benchmarks, one file each. A new one is a new file; nothing else lists them."""

import importlib
import pkgutil
from functools import cache
from typing import cast

from raybench.benchmarks.parts.contract import Benchmark, Draw, Grade, Row, Source, UngradableError
from raybench.errors import ConfigurationError, did_you_mean, plain

__all__ = ["Benchmark", "Draw", "Grade", "Row", "Source", "UngradableError", "load", "names"]


def names() -> list[str]:
    """Return the names of all benchmarks."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)


@cache  # every unit asks: looking through the folder each time took half of a stage's work
def load(name: str) -> Benchmark:
    """Return a benchmark by name; 'MATH-500', 'math500' and 'math_500' are one."""
    known = {plain(module): module for module in names()}
    if (module := known.get(plain(name))) is None:
        raise ConfigurationError(
            f"unknown benchmark '{name}'." + did_you_mean(name, known.values())
        )
    return cast(Benchmark, importlib.import_module(f"{__name__}.{module}").BENCHMARK)
