"""The core of an engine on CPUs: its libraries and cores, and when it does not start early.

test_host_real.py shows that it starts early and is bound to its cores.
"""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from raybench import library_patches
from raybench.fleet.on_cpu import begin_engine, core
from raybench.fleet.on_cpu.core import preload, start_early, take_cores, tuned

pytestmark = pytest.mark.slow  # the import of vLLM
NEEDS_VLLM = pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed")
MINE = "mine.Worker"
RESERVED = "VLLM_CPU_NUM_OF_RESERVED_CPU"
TCMALLOC = "libtcmalloc_minimal.so.4"


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


@NEEDS_VLLM
def test_an_engine_in_one_process_computes_in_its_core_which_is_bound() -> None:
    whole = config()
    with tuned(whole):
        assert int(os.environ["OMP_NUM_THREADS"]) >= 1
    assert "OMP_NUM_THREADS" not in os.environ
    assert whole.parallel_config.distributed_executor_backend.endswith("UniProcExecutor")
    assert whole.parallel_config.worker_cls.endswith("QuickWorker")


@NEEDS_VLLM
def test_an_engine_on_several_cores_has_a_worker_for_each() -> None:
    parted = config(2)
    with tuned(parted):
        assert "OMP_NUM_THREADS" not in os.environ
    assert parted.parallel_config.distributed_executor_backend == "mp"
    assert parted.parallel_config.worker_cls.endswith("QuickWorker")


@NEEDS_VLLM
def test_a_worker_that_the_user_names_stays() -> None:
    named = config(worker=MINE)
    with tuned(named):
        assert named.parallel_config.worker_cls == MINE


@NEEDS_VLLM
def test_no_core_starts_early_if_vllm_will_look_for_an_openmp() -> None:
    os.environ["LD_PRELOAD"] = ""
    assert start_early() is None


@NEEDS_VLLM
def test_no_core_starts_early_if_the_user_has_chosen_cores_for_several_processes() -> None:
    os.environ["LD_PRELOAD"] = "libiomp5.so"
    os.environ["VLLM_CPU_OMP_THREADS_BIND"] = "0|0"
    assert start_early() is None


def test_other_versions_of_vllm_serve_without_tuning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_patches, "installed", lambda library: "0.31.0")
    before = dict(os.environ)
    assert begin_engine() is None
    assert os.environ == before


@pytest.fixture
def openmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both libraries are installed."""
    library = tmp_path / "lib" / "libiomp5.so"
    library.parent.mkdir()
    library.touch()
    monkeypatch.setattr(core, "_PREFIX", tmp_path)
    monkeypatch.setattr(core, "_allocator", lambda: TCMALLOC)
    return str(library)


def preloaded(**environment: str) -> list[str]:
    preload(environment)
    return [path for path in environment["LD_PRELOAD"].split(":") if path]


def test_installed_libraries_are_preloaded(openmp: str) -> None:
    assert preloaded() == [TCMALLOC, openmp]
    assert preloaded(LD_PRELOAD="/my/own.so") == [TCMALLOC, openmp, "/my/own.so"]


def test_a_library_that_the_user_names_is_kept_and_not_doubled(openmp: str) -> None:
    assert preloaded(LD_PRELOAD="/my/libtcmalloc.so") == [openmp, "/my/libtcmalloc.so"]
    for other in ("/usr/lib/libgomp.so.1", "/my/libiomp5.so", "/usr/lib/libomp.so"):
        assert preloaded(LD_PRELOAD=other) == [TCMALLOC, other]


def test_libraries_that_are_not_installed_are_not_preloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "_PREFIX", tmp_path)
    monkeypatch.setattr(core, "_allocator", lambda: None)
    assert preloaded() == []
    assert preloaded(LD_PRELOAD="/my/own.so") == ["/my/own.so"]


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 64])
def test_few_cores_are_all_taken_and_of_many_vllm_leaves_one(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {*range(cores)})
    environment: dict[str, str] = {}
    take_cores(environment)
    assert environment == ({RESERVED: "0"} if cores < 4 else {})
    environment = {RESERVED: "2"}
    take_cores(environment)
    assert environment == {RESERVED: "2"}
