"""An engine on CPUs in one process fewer than vLLM takes, which is begun early (cpu_core.py).

Imported only in a replica's own process (replica.py).
"""

from typing import TYPE_CHECKING, Any

from ray.llm._internal.serve.engines.vllm.vllm_engine import VLLMEngine

from raybench.fleet.cpu_core import as_ours
from raybench.fleet.head_start import HeadStart, taken
from raybench.fleet.on_cpu import preload, take_cores

if TYPE_CHECKING:
    from ray.serve.llm import LLMConfig
    from ray.util.placement_group import PlacementGroup
    from vllm.config import VllmConfig


class CpuEngine(VLLMEngine):
    """A VLLMEngine whose core computes itself, where nobody else does beside it."""

    def __init__(self, config: "LLMConfig", core: HeadStart | None = None) -> None:
        """Take the core's process where it has begun."""
        super().__init__(config)
        self._core = core

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
        from vllm.v1.engine import utils

        given = vllm_engine_args, vllm_engine_config, placement_group
        with as_ours(vllm_engine_config), taken(self._core, utils, "get_mp_context"):
            return super()._start_async_llm_engine(*given)
