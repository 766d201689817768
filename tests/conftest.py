"""How tests are told apart from others on their machine, ordered, and searched by hypothesis."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import chromium as chromium  # fixtures for whoever asks
from browsing import seen as seen
from clusters import NO_TOKEN, lasting
from helpers import MARK, ON_GPU, STARTED, with_store
from hypothesis import HealthCheck, settings
from inspecting import with_inspect as with_inspect
from scheduling import EnginesApart

os.environ[MARK] = str(os.getpid())
# Runs in CI show no live table, wherever tests of terminals run: those that mean CI say so.
os.environ.pop("CI", None)
# To import MLflow and to send it a run takes seconds: runs do so whose tests look (mark: mlflow).
os.environ["RAYBENCH_TRACKING_SEND"] = "later"
if "PYTEST_XDIST_WORKER" in os.environ and len(os.sched_getaffinity(0)) > 1:
    # Beside another file an engine on all cores is up to four times slower (perf/engine_cores.py).
    os.environ.setdefault("VLLM_CPU_NUM_OF_RESERVED_CPU", "1")

# A busy machine makes examples slow, not wrong; pytest-timeout ends what hangs.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("raybench", _PATIENT, max_examples=50)
settings.register_profile("thorough", _PATIENT, max_examples=1000)  # --hypothesis-profile=thorough
settings.load_profile("raybench")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many test files run at once: engines of two would want the same GPUs."""
    return 1 if ON_GPU else 2


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> EnginesApart:
    """Deal out files so that no two of them bring up real engines at once."""
    return EnginesApart(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slowest files, so that `make test`, which runs two at once, ends with none."""
    marks = ("engines", "slow")
    engines, slow = ({it.path for it in items if it.get_closest_marker(of)} for of in marks)
    items.sort(key=lambda item: (item.path not in engines, item.path not in slow))


def _told(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have the runs of what is marked so tell MLflow while they go on."""
    with pytest.MonkeyPatch.context() as patched:
        if request.node.get_closest_marker("mlflow"):
            patched.setenv("RAYBENCH_TRACKING_SEND", "now")
        yield


told_by_file = pytest.fixture(scope="module", autouse=True)(_told)
told_by_test = pytest.fixture(autouse=True)(_told)


@pytest.fixture(scope="session")
def lasting_ray() -> Iterator[str]:
    """Yield the address of a Ray that goes on while these tests do."""
    with lasting() as address:
        yield address


@pytest.fixture(scope="module")
def on_lasting_ray(lasting_ray: str) -> Iterator[None]:
    """Have a file's runs use a Ray that is there, as on a cluster: to start one costs 20 CPU-s."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in {**NO_TOKEN, "RAY_ADDRESS": lasting_ray}.items():
            patched.setenv(name, value)
        yield


@pytest.fixture
def own_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a test's runs start a Ray of their own, as everywhere where there is none."""
    for name in ("RAY_ADDRESS", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """A folder of the test's own, in which runs find MLflow's store made already."""
    return with_store(tmp_path)


@pytest.fixture
def own(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of somebody's own, where raybench is started: what the test's file has as OWN."""
    name: str = request.module.__name__.rpartition(".")[2].replace("test_", "own_")
    (tmp_path / f"{name}.py").write_text(request.module.OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


@pytest.fixture(autouse=True)
def nothing_goes_on() -> Iterator[None]:
    """End what a test that failed has left running: the ones after it are to run alone."""
    yield
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.communicate()
