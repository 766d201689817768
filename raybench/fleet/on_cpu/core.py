"""The process that computes for an engine on CPUs: its libraries, its cores, and its early start.

It is imported in a replica's own process only, and without most of vLLM: the core starts before.
"""

import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from ctypes.util import find_library
from functools import partial
from pathlib import Path
from typing import Any

from raybench import vllm_patches
from raybench.fleet.on_cpu.early_process import EarlyProcess
from raybench.library_patches import patch

_PRELOAD = "LD_PRELOAD"
_RESERVED = "VLLM_CPU_NUM_OF_RESERVED_CPU"
_MANY = 4
_PREFIX = Path(sys.prefix)
_OPENMP = ("libiomp", "libgomp", "libomp")
_IN_CORE = "vllm.v1.executor.uniproc_executor.UniProcExecutor"
_USUAL_WORKER = "vllm.v1.worker.cpu_worker.CPUWorker"
_WORKER = "raybench.fleet.on_cpu.worker.QuickWorker"
_MODULES = (
    "vllm.v1.engine.core",
    "vllm.v1.executor.uniproc_executor",
    "raybench.fleet.on_cpu.worker",
)
_CONFIGURED = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_CPP_DYNAMIC_THREADS": "1"}
"""What vLLM sets on CPUs when it is configured, and PyTorch reads when it is imported."""


@patch(vllm_patches.VLLM, otherwise=lambda: None)
def begin_engine() -> type | None:
    """Start the core's process, and return the engine class for `LLMServer` that uses it.

    Returns None where vLLM is not built for CPUs.
    """
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return None
    preload()
    take_cores()
    core = start_early()
    return vllm_patches.engine_started_in(partial(tuned, core=core))


def preload(environment: MutableMapping[str, str] = os.environ) -> None:
    """Preload libraries in processes that are started from here; a user's own choice stays.

    With both there are a twentieth more tokens than with what vLLM preloads itself (measured).
    """
    named = environment.get(_PRELOAD, "")
    environment[_PRELOAD] = ":".join(filter(None, [*_missing(named), named]))


def take_cores(environment: MutableMapping[str, str] = os.environ) -> None:
    """Have an engine take all cores where they are few; of many, vLLM leaves one free.

    Alone, an engine on both of two cores is a quarter to a half quicker than on one. While
    something else works it is slower, up to four times: its threads wait for the one that is kept
    from its core (`perf/engine_cores.py`). Where there are many, one is little to give for that.
    """
    if len(os.sched_getaffinity(0)) < _MANY:
        environment.setdefault(_RESERVED, "0")


def start_early() -> EarlyProcess | None:
    """Start the process of a core that computes itself, before it is known what it will serve.

    Returns None where vLLM would give it other libraries or cores once it is configured.
    """
    os.environ.update(_CONFIGURED)
    if not _names_openmp(os.environ):
        return None  # vLLM finds one when it is configured
    try:
        cores = vllm_patches.bound_to_cores(vllm_patches.ONE_PROCESS)
    except AssertionError:  # the user has chosen cores, and for several processes
        return None
    with cores:
        return EarlyProcess(_MODULES)


@contextmanager
def tuned(config: Any, core: EarlyProcess | None = None) -> Iterator[None]:
    """Have an engine of this VllmConfig that is started in this context compute in its core.

    vLLM starts a worker process for that, since OpenMP reads its cores when a process begins. The
    core's own process can begin that way too. That saves an import of vLLM at each start, its
    memory, and a message there and back at each step. `core` becomes the process of the core.
    """
    parallel = config.parallel_config
    if parallel.worker_cls == _USUAL_WORKER:  # the user may have named another
        parallel.worker_cls = _WORKER
    cores: AbstractContextManager[None] = nullcontext()
    if parallel.world_size == 1:
        parallel.distributed_executor_backend = _IN_CORE
        cores = vllm_patches.bound_to_cores(config)
    with cores:
        if core is None:
            yield
            return
        with closing(core), vllm_patches.core_context(core.become_first):
            yield


def _missing(named: str) -> Iterator[str]:
    if "tcmalloc" not in named and (allocator := _allocator()):
        yield allocator
    # Intel's OpenMP comes with vLLM for x86_64. Two OpenMPs in one process do not work.
    openmp = _PREFIX / "lib" / "libiomp5.so"
    if not _names_openmp({_PRELOAD: named}) and openmp.is_file():
        yield str(openmp)


def _names_openmp(environment: Mapping[str, str]) -> bool:
    return any(kind in environment.get(_PRELOAD, "") for kind in _OPENMP)


def _allocator() -> str | None:
    """Return tcmalloc's library, under the name by which the loader finds it."""
    return find_library("tcmalloc_minimal") or find_library("tcmalloc")
