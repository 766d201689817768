"""Whether engines fit on GPUs is told before anything starts."""

import pytest

from raybench.config import FleetConf
from raybench.fleet.engines import EngineSpec, gpu_problems, group_engines, on_gpu, problems
from raybench.types import ModelSpec


def engines(*degrees: int) -> tuple[EngineSpec, ...]:
    return group_engines(
        [
            ModelSpec(
                name=f"m{position}",
                engine="vllm",
                weights=f"org/m{position}",
                options={"tensor_parallel_size": degree},
            )
            for position, degree in enumerate(degrees)
        ]
    )


def test_engines_that_fit_are_no_problem() -> None:
    assert list(gpu_problems(engines(1, 1), 2)) == []
    assert list(gpu_problems(engines(2), 2)) == []


def test_engines_that_do_not_fit_are_told_with_the_mend() -> None:
    (problem,) = gpu_problems(engines(1, 2), 2)
    assert "3 GPUs" in problem
    assert "has 2" in problem
    assert "tensor_parallel_size" in problem


def test_the_gpus_that_count_are_the_visible_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert on_gpu(FleetConf())
    models = [model for engine in engines(1, 1, 1) for model in engine.models]
    assert "has 2" in next(problems(models, FleetConf()))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert not on_gpu(FleetConf())
    assert on_gpu(FleetConf(device="gpu"))


def test_a_cluster_elsewhere_is_not_measured_by_this_machine() -> None:
    models = [model for engine in engines(8) for model in engine.models]
    assert list(problems(models, FleetConf(device="gpu", address="ray://head:10001"))) == []
