"""Norms of engines on CPUs: what the kernel computes is what PyTorch does, and where it cannot."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from helpers import ON_GPU

if TYPE_CHECKING:  # only the tests themselves import vLLM: to collect others would take longer
    import torch
    from torch import Tensor
    from vllm import ir

    NORM, ADD = ir.ops.rms_norm, ir.ops.fused_add_rms_norm

pytestmark = [
    pytest.mark.slow,  # the import of vLLM
    pytest.mark.skipif(ON_GPU, reason="vLLM's build is for a GPU"),
]


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    import torch
    from vllm import ir

    globals().update(torch=torch, NORM=ir.ops.rms_norm, ADD=ir.ops.fused_add_rms_norm)


@pytest.fixture(autouse=True)
def _preferred() -> Iterator[None]:
    from raybench.fleet.on_cpu.worker import prefer_kernel

    before = NORM.get_priority(), ADD.get_priority()
    prefer_kernel()
    yield
    for op, priority in zip((NORM, ADD), before, strict=True):
        op.set_default(priority or ["native"])


def rows(*shape: int, dtype: "torch.dtype | None" = None) -> "Tensor":
    return torch.randn(
        *shape, dtype=dtype or torch.float32, generator=torch.manual_seed(sum(shape))
    )


@pytest.mark.parametrize("shape", [(64, 576), (1, 4096), (3, 5, 32), (0, 64)])
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_it_computes_what_pytorch_does(shape: tuple[int, ...], kind: str) -> None:
    dtype: torch.dtype = getattr(torch, kind)
    x, residual, weight = rows(*shape, dtype=dtype), rows(*shape, dtype=dtype), rows(shape[-1])
    weight = weight.to(dtype)
    # PyTorch's rounds once more, to the type of the weights.
    close = {"rtol": 2e-2, "atol": 1e-2} if dtype == torch.bfloat16 else {}
    assert used(NORM, x, weight, 1e-5) != "native"
    torch.testing.assert_close(
        NORM(x, weight, 1e-5), NORM.impls["native"].impl_fn(x, weight, 1e-5), **close
    )
    want, added = ADD.impls["native"].impl_fn(x, residual, weight, 1e-5)
    assert used(ADD, x, residual, weight, 1e-5) != "native"
    kept = x.clone(), residual.clone()
    found, sums = ADD(x, residual, weight, 1e-5)
    torch.testing.assert_close(found, want, **close)
    torch.testing.assert_close(sums, added)
    # Who needs what was given later still has it; who says so has it written over.
    assert torch.equal(x, kept[0]) and torch.equal(residual, kept[1])
    ADD.maybe_inplace(x, residual, weight, 1e-5)
    torch.testing.assert_close(residual, added)


def test_a_norm_without_weights_is_one_too() -> None:
    x = rows(4, 64)
    torch.testing.assert_close(NORM(x, None, 1e-6), NORM.impls["native"].impl_fn(x, None, 1e-6))


def test_what_it_cannot_compute_is_left_to_pytorch() -> None:
    x, wide, weight = rows(4, 64), rows(4, 128), rows(64)
    assert used(NORM, x, weight, 1e-5) != "native"
    assert used(NORM, rows(4, 100), rows(100), 1e-5) == "native"  # no whole vectors
    assert used(NORM, wide[:, :64], weight, 1e-5) == "native"  # with gaps between rows
    assert used(NORM, x, weight.double(), 1e-5) == "native"
    assert used(NORM, x, weight, 1e-5, 32) == "native"  # of half a row
    assert used(ADD, x, wide[:, :64], weight, 1e-5) == "native"
    assert used(ADD, x, x.double(), weight, 1e-5) == "native"


def test_what_somebody_chose_stays() -> None:
    from raybench.fleet.on_cpu.worker import KERNEL, prefer_kernel

    NORM._priority_impls = [NORM.impls["native"], NORM.impls[KERNEL]]
    prefer_kernel()
    assert NORM.get_priority() == ["native", KERNEL]


def used(op: "ir.op.IrOp", *given: object) -> str:
    """Return by what an operation is computed."""
    return str(op.dispatch(*given).provider)
