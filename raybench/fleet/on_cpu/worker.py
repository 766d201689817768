"""vLLM's worker on CPUs, with norms by vLLM's own kernel.

vLLM has that kernel for CPUs too, but counts on the compiler there. Without, a norm is nine
operations one after the other, a fifth of a step of a small model (perf/NOTES.md).

Imported only in an engine's own process (core.py names the worker).
"""

from typing import Any

import torch
from torch import Tensor
from vllm import ir
from vllm.v1.worker.cpu_worker import CPUWorker

from raybench import vllm_patches
from raybench.fleet.on_cpu import early_process

KERNEL = "raybench_cpu"
_VECTOR = 32
"""Numbers that the kernel takes at a time, of any type: rows of other lengths it refuses."""
_norm_kernel, _add_and_norm_kernel = vllm_patches.norm_kernels()


class QuickWorker(CPUWorker):
    """A CPUWorker that takes the kernel where the model is not compiled, which would do better."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.vllm_config.model_config.enforce_eager:
            prefer_kernel()

    def describe_tuning(self) -> dict[str, Any]:
        """Return what computes norms (the first that can), and whether the process began early."""
        return {
            "norms": list(ir.ops.fused_add_rms_norm.get_priority()),
            "began_early": early_process.began_early,
        }


def prefer_kernel() -> None:
    """Have norms computed by the kernel wherever it can, in place of PyTorch and nothing else."""
    for op in (ir.ops.rms_norm, ir.ops.fused_add_rms_norm):
        if op.get_priority() in ([], ["native"]):
            op.set_default([KERNEL, "native"])


def _plain(x: Tensor, weight: Tensor | None, variance_size: int | None) -> bool:
    return (
        variance_size is None
        and (weight is None or weight.dtype == x.dtype)
        and x.shape[-1] % _VECTOR == 0
        and x.is_contiguous()
    )


def _can_norm(
    x: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None
) -> bool:
    return _plain(x, weight, variance_size)


def _can_add_and_norm(
    x: Tensor,
    x_residual: Tensor,
    weight: Tensor | None,
    epsilon: float,
    variance_size: int | None = None,
) -> bool:
    return (
        _plain(x, weight, variance_size)
        and x_residual.dtype == x.dtype
        and x_residual.is_contiguous()
    )


@ir.ops.rms_norm.register_impl(KERNEL, supports_args=_can_norm)
def _norm(
    x: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None
) -> Tensor:
    out = torch.empty_like(x)
    _norm_kernel(out, x, weight, epsilon)
    return out


@ir.ops.fused_add_rms_norm.register_impl(KERNEL, supports_args=_can_add_and_norm, inplace=True)
def _add_and_norm(
    x: Tensor,
    x_residual: Tensor,
    weight: Tensor | None,
    epsilon: float,
    variance_size: int | None = None,
) -> tuple[Tensor, Tensor]:
    _add_and_norm_kernel(x, x_residual, weight, epsilon)
    return x, x_residual
