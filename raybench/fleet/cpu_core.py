"""The core of an engine on CPUs: it computes itself, and is begun before all else of the engine.

Imported in a replica's own process only, and without most of vLLM: it has a head start on that.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from raybench.fleet.head_start import HeadStart
from raybench.fleet.on_cpu import names_openmp, preload, take_cores

if TYPE_CHECKING:
    from vllm.config import VllmConfig

_ITSELF = "vllm.v1.executor.uniproc_executor.UniProcExecutor"
_USUAL = "vllm.v1.worker.cpu_worker.CPUWorker"
_QUICK = "raybench.fleet.cpu_worker.QuickWorker"
_MODULES = ("vllm.v1.engine.core", "vllm.v1.executor.uniproc_executor", "raybench.fleet.cpu_worker")
_CONFIGURED = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_CPP_DYNAMIC_THREADS": "1"}
"""What vLLM sets on CPUs when it is configured, and PyTorch reads when it is imported."""
_ALONE = SimpleNamespace(
    parallel_config=SimpleNamespace(
        local_world_size=1, data_parallel_rank_local=None, _api_process_count=1
    ),
    kv_transfer_config=None,
)
"""What vLLM reads of a configuration to choose cores, of an engine in one part."""


def begin() -> HeadStart | None:
    """Begin it, as an engine in one part has it; nothing where vLLM is not for CPUs."""
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return None
    preload()
    take_cores()
    os.environ.update(_CONFIGURED)
    if not names_openmp(os.environ):
        return None  # vLLM finds one when it is configured, and with that other cores
    try:
        cores = _cores(_ALONE)
    except AssertionError:  # somebody has chosen cores, and for more parts: they begin in time
        return None
    with cores:
        return HeadStart(_MODULES)


@contextmanager
def as_ours(config: "VllmConfig") -> Iterator[None]:
    """Have an engine of this configuration that is started now be as ours: it computes in its core.

    vLLM has a worker process for that, as OpenMP has to be told its cores before a process begins.
    The core's own process begins here just as well. That saves an import of vLLM at each start,
    what it takes of memory, and at each step a message there and back. Its norms have a kernel of
    their own (cpu_norms.py).
    """
    parallel = config.parallel_config
    if parallel.worker_cls == _USUAL:  # unless somebody names one of their own
        parallel.worker_cls = _QUICK
    if parallel.world_size > 1:
        yield
        return
    parallel.distributed_executor_backend = _ITSELF
    with _cores(config):
        yield


def _cores(config: "VllmConfig | SimpleNamespace") -> AbstractContextManager[None]:
    """Have processes that begin meanwhile be bound to the cores that vLLM chooses."""
    from vllm.utils.ompmultiprocessing import OMPProcessManager

    manager: Any = OMPProcessManager(config)
    cores: AbstractContextManager[None] = manager.configure_omp_envs(rank=0, local_rank=0)
    return cores
