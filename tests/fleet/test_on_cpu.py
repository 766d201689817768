"""What engines on CPUs are told; that they do as told is looked at in test_host_real.py."""

import os
from pathlib import Path

import pytest

from raybench.fleet import on_cpu as module
from raybench.fleet.on_cpu import preload, take_cores

RESERVED = "VLLM_CPU_NUM_OF_RESERVED_CPU"
TCMALLOC = "libtcmalloc_minimal.so.4"


@pytest.fixture
def openmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both are installed."""
    library = tmp_path / "lib" / "libiomp5.so"
    library.parent.mkdir()
    library.touch()
    monkeypatch.setattr(module, "_PREFIX", tmp_path)
    monkeypatch.setattr(module, "_allocator", lambda: TCMALLOC)
    return str(library)


def told(**environment: str) -> list[str]:
    preload(environment)
    return [path for path in environment["LD_PRELOAD"].split(":") if path]


def test_what_is_installed_is_preloaded(openmp: str) -> None:
    assert told() == [TCMALLOC, openmp]
    assert told(LD_PRELOAD="/my/own.so") == [TCMALLOC, openmp, "/my/own.so"]


def test_what_a_person_names_is_kept_and_not_doubled(openmp: str) -> None:
    assert told(LD_PRELOAD="/my/libtcmalloc.so") == [openmp, "/my/libtcmalloc.so"]
    for other in ("/usr/lib/libgomp.so.1", "/my/libiomp5.so", "/usr/lib/libomp.so"):
        assert told(LD_PRELOAD=other) == [TCMALLOC, other]


def test_where_nothing_is_installed_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PREFIX", tmp_path)
    monkeypatch.setattr(module, "_allocator", lambda: None)
    assert told() == []
    assert told(LD_PRELOAD="/my/own.so") == ["/my/own.so"]


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
