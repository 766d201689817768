"""vLLM's worker on CPUs, with norms in one pass over the memory.

Imported only in an engine's own process (cpu_core.py names it).
"""

import sys
from typing import Any

from vllm import ir
from vllm.v1.worker.cpu_worker import CPUWorker

from raybench.fleet.cpu_norms import prefer_kernel


class QuickWorker(CPUWorker):
    """A CPUWorker that takes the kernel where the model is not compiled, which would do better."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        if self.vllm_config.model_config.enforce_eager:
            prefer_kernel()

    def chosen(self) -> dict[str, Any]:
        """Tell by what norms are computed (the first that can), and whether it has begun early."""
        return {
            "norms": list(ir.ops.fused_add_rms_norm.get_priority()),
            "head_start": "raybench.fleet.head_start" in sys.modules,
        }
