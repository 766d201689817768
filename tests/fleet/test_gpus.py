"""Whether engines fit on GPUs is told before anything starts."""

import pytest
from refusals import refusal, refusals

from raybench.config import FleetConf
from raybench.fleet import devices
from raybench.fleet.engines import (
    EngineSpec,
    gpu_problems,
    gpus_of,
    group_engines,
    problems,
)
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


@pytest.mark.parametrize("degrees", [(1, 1), (2,), (1, 2), (1, 1, 1, 2, 2)])
def test_engines_that_fit_side_by_side_or_in_turns_are_no_problem(degrees: tuple[int]) -> None:
    assert list(gpu_problems(engines(*degrees), 2)) == []


def test_an_engine_that_fits_nowhere_is_told_with_the_mend() -> None:
    roster = engines(1, 4, 2)
    (problem,) = gpu_problems(roster, 2)
    assert refusal(problem) == ("resources.gpus", "fleet.gpus")
    for part in ("m1", "4 GPUs", "has 2"):
        assert part in problem.message
    assert problem.fix and "tensor_parallel_size" in problem.fix


def test_engines_that_lack_the_same_are_told_together() -> None:
    each, one = gpu_problems(engines(1, 1, 2), 0)
    assert refusals([each, one]) == [("resources.gpus", "fleet.gpus")] * 2
    for part in ("m0, m1", "1 GPU,", "has 0"):
        assert part in each.message
    assert "m2" in one.message and "2 GPUs" in one.message


def test_pipeline_and_tensor_parallel_multiply() -> None:
    model = ModelSpec(
        "m", "vllm", "org/m", options={"tensor_parallel_size": 2, "pipeline_parallel_size": 3}
    )
    (engine,) = group_engines([model])
    assert gpus_of(engine) == 6


def test_the_gpus_that_count_are_the_visible_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setattr(devices, "build", lambda: "gpu")
    models = [model for engine in engines(1, 3) for model in engine.models]
    assert "has 2" in next(problems(models, FleetConf())).message


def test_a_cluster_elsewhere_is_not_measured_by_this_machine() -> None:
    models = [model for engine in engines(8) for model in engine.models]
    assert list(problems(models, FleetConf(device="gpu", address="ray://head:10001"))) == []
