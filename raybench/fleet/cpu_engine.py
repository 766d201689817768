"""An engine on CPUs in one process fewer than vLLM takes: who schedules also computes.

Imported only in a replica's own process (replica.py).
"""

from typing import TYPE_CHECKING, Any

from ray.llm._internal.serve.engines.vllm.vllm_engine import VLLMEngine

from raybench.fleet.on_cpu import preload, take_cores

if TYPE_CHECKING:
    from ray.util.placement_group import PlacementGroup
    from vllm.config import VllmConfig

_ITSELF = "vllm.v1.executor.uniproc_executor.UniProcExecutor"
_USUAL = "vllm.v1.worker.cpu_worker.CPUWorker"
_QUICK = "raybench.fleet.cpu_worker.QuickWorker"


class CpuEngine(VLLMEngine):
    """A VLLMEngine whose core computes itself, where nobody else does beside it.

    vLLM has a worker process for that, as OpenMP has to be told its cores before a process begins.
    The core's own process begins here just as well. That saves an import of vLLM at each start,
    what it takes of memory, and at each step a message there and back. Its norms have a kernel of
    their own (cpu_norms.py).
    """

    async def start(self) -> None:
        """Start it, told before of what vLLM would choose for itself when it is configured."""
        preload()
        take_cores()
        await super().start()

    def _start_async_llm_engine(
        self,
        vllm_engine_args: Any,
        vllm_engine_config: "VllmConfig",
        placement_group: "PlacementGroup",
    ) -> Any:
        parallel = vllm_engine_config.parallel_config
        given = vllm_engine_args, vllm_engine_config, placement_group
        if parallel.worker_cls == _USUAL:  # unless somebody names one of their own
            parallel.worker_cls = _QUICK
        if parallel.world_size > 1:
            return super()._start_async_llm_engine(*given)

        from vllm.utils.ompmultiprocessing import OMPProcessManager

        parallel.distributed_executor_backend = _ITSELF
        with OMPProcessManager(vllm_engine_config).configure_omp_envs(rank=0, local_rank=0):
            return super()._start_async_llm_engine(*given)
