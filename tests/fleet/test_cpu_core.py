"""The core of an engine on CPUs: what it is told, and when it is not begun early.

That it is begun early, and bound to its cores, is looked at in test_host_real.py.
"""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from raybench.fleet import cpu_core, on_cpu

pytestmark = [
    pytest.mark.slow,  # the import of vLLM
    pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed"),
]
MINE = "mine.Worker"


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    """Leave it as it was."""
    with patch.dict(os.environ):
        yield


def config(parts: int = 1, worker: str = "vllm.v1.worker.cpu_worker.CPUWorker") -> Any:
    return SimpleNamespace(
        parallel_config=SimpleNamespace(
            worker_cls=worker, world_size=parts, local_world_size=parts, data_parallel_rank_local=0,
            _api_process_count=1, distributed_executor_backend="mp",
        ),
        kv_transfer_config=None,
    )  # fmt: skip


def test_an_engine_in_one_part_computes_in_its_core_which_is_bound() -> None:
    whole = config()
    with cpu_core.as_ours(whole):
        assert int(os.environ["OMP_NUM_THREADS"]) >= 1
    assert "OMP_NUM_THREADS" not in os.environ
    assert whole.parallel_config.distributed_executor_backend.endswith("UniProcExecutor")
    assert whole.parallel_config.worker_cls.endswith("QuickWorker")


def test_one_in_parts_has_a_process_for_each() -> None:
    parted = config(2)
    with cpu_core.as_ours(parted):
        assert "OMP_NUM_THREADS" not in os.environ
    assert parted.parallel_config.distributed_executor_backend == "mp"
    assert parted.parallel_config.worker_cls.endswith("QuickWorker")


def test_a_worker_that_somebody_names_stays() -> None:
    named = config(worker=MINE)
    with cpu_core.as_ours(named):
        assert named.parallel_config.worker_cls == MINE


def test_nothing_is_begun_where_vllm_is_to_find_an_openmp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_cpu, "_PREFIX", Path("/nowhere"))
    os.environ["LD_PRELOAD"] = ""
    assert cpu_core.begin() is None


def test_nothing_is_begun_where_somebody_has_chosen_cores_for_parts() -> None:
    os.environ["VLLM_CPU_OMP_THREADS_BIND"] = "0|0"
    assert cpu_core.begin() is None
