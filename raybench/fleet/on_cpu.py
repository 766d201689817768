"""What makes engines on CPUs quicker: libraries that are preloaded, how many cores they take."""

import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from ctypes.util import find_library
from pathlib import Path

_VARIABLE = "LD_PRELOAD"
_RESERVED = "VLLM_CPU_NUM_OF_RESERVED_CPU"
_MANY = 4
_PREFIX = Path(sys.prefix)
_OPENMP = ("libiomp", "libgomp", "libomp")


def preload(environment: MutableMapping[str, str] = os.environ) -> None:
    """Name them to the processes that are started from here; who named some keeps those.

    Together they answer a twentieth more than with what vLLM preloads otherwise (measured).
    """
    named = environment.get(_VARIABLE, "")
    environment[_VARIABLE] = ":".join(filter(None, [*_missing(named), named]))


def take_cores(environment: MutableMapping[str, str] = os.environ) -> None:
    """Have an engine take all cores where they are few; of many, vLLM leaves one free.

    Who has said how many are to be left free has it so.

    Alone, an engine on both of two cores is a quarter to a half quicker than on one. Beside
    something else that works it is slower, up to four times: its threads wait for whichever is kept
    from its core (`perf/engine_cores.py`). Where there are many, one is little to give for that.
    """
    if len(os.sched_getaffinity(0)) < _MANY:
        environment.setdefault(_RESERVED, "0")


def names_openmp(environment: Mapping[str, str]) -> bool:
    """Tell whether an OpenMP is among what is preloaded."""
    return any(kind in environment.get(_VARIABLE, "") for kind in _OPENMP)


def _missing(named: str) -> Iterator[str]:
    if "tcmalloc" not in named and (allocator := _allocator()):
        yield allocator
    # Intel's OpenMP comes with vLLM for x86_64. Two OpenMPs in one process do not work.
    openmp = _PREFIX / "lib" / "libiomp5.so"
    if not names_openmp({_VARIABLE: named}) and openmp.is_file():
        yield str(openmp)


def _allocator() -> str | None:
    """Return tcmalloc's library, under the name by which the loader finds it."""
    return find_library("tcmalloc_minimal") or find_library("tcmalloc")
