"""Options, tiers, order and shared fixtures of all tests."""

import asyncio
import gc
import importlib
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import composing
import pytest
import skips
import tiers
from browsing import chromium as chromium  # fixtures for whoever asks
from browsing import seen as seen
from clusters import NO_TOKEN, lasting
from durations import Summary, WorkerMeasurements
from helpers import MARK, ON_GPU, STARTED, with_store
from hypothesis import HealthCheck, settings
from inspecting import with_inspect as with_inspect
from scheduling import GroupsOfFiles
from served import served as served
from shared_runs import shared_runs as shared_runs
from shared_servers import SharedServers
from virtual_time import VirtualLoop

os.environ[MARK] = str(os.getpid())
# Before pip, which MLflow imports: the import of setuptools, by vLLM, would fail after that.
importlib.import_module("setuptools")
# With CI set raybench shows no live table. Tests about CI set it themselves.
os.environ.pop("CI", None)
# To import MLflow and to send a run takes seconds: only tests marked `mlflow` do it.
os.environ["RAYBENCH_TRACKING_SEND"] = "later"
if "PYTEST_XDIST_WORKER" in os.environ and len(os.sched_getaffinity(0)) > 1:
    # Beside another file an engine on all cores is up to four times slower (perf/engine_cores.py).
    os.environ.setdefault("VLLM_CPU_NUM_OF_RESERVED_CPU", "1")

# A busy machine makes examples slow, not wrong; pytest-timeout ends what hangs.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples in every run: a failure is a defect of the change at hand, never chance.
settings.register_profile("fixed", _PATIENT, max_examples=50, derandomize=True, database=None)
settings.register_profile("thorough", _PATIENT, max_examples=1000)  # fresh ones: make test-long
settings.load_profile("fixed")

_TIMED = pytest.StashKey[WorkerMeasurements]()
_SERVERS = pytest.StashKey[SharedServers]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this suite."""
    group = parser.getgroup("raybench")
    group.addoption("--tiers", action="store_true", help="list the tier and kind of every test")
    group.addoption("--durations-report", action="store_true", help="print where the time went")
    group.addoption("--durations-json", metavar="FILE", help="write every measurement to FILE")


def pytest_configure(config: pytest.Config) -> None:
    """Measure every test; print the measurements where they are asked for."""
    if config.getoption("--tiers") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--tiers lists without -n: .venv/bin/python -m pytest --tiers")
    config.stash[_TIMED] = WorkerMeasurements()
    config.stash[_SERVERS] = SharedServers()
    config.pluginmanager.register(config.stash[_TIMED], "measurements")
    config.pluginmanager.register(skips.plugin(), "skips")
    report, file = (config.getoption(f"--durations-{what}") for what in ("report", "json"))
    if (report or file) and not hasattr(config, "workerinput"):
        summary = Summary(Path(file) if file else None, printed=report)
        config.pluginmanager.register(summary, "durations")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many test files run at once.

    One more than there are cores, at most 8: most files wait for programs that they started. One
    on a GPU, because two engines would want the same one.
    """
    return 1 if ON_GPU else min(len(os.sched_getaffinity(0)) + 1, 8)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupsOfFiles:
    """Deal out files so that those which share engines or a Ray run on one worker."""
    return GroupsOfFiles(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every test with its kind, and sort files by cost."""
    config.stash[tiers.SUITE] = tiers.suite_of(items)
    tiers.mark_kinds(items)
    tiers.sort_by_cost(items)


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return in which loop an asynchronous test runs (tests/virtual_time.py)."""
    if item.get_closest_marker("virtual_time"):
        return {"virtual": VirtualLoop}
    return {"real": asyncio.new_event_loop}


def pytest_collection_finish(session: pytest.Session) -> None:
    """List tiers instead of running tests where that was asked for.

    What twelve thousand tests are made of is never garbage: without looking through it again and
    again, and by looking more rarely, tests take 8 % less of a processor.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    if session.config.getoption("--tiers"):
        for item in session.items:
            print(f"{tiers.tier_of(item):6}{tiers.kind_of(item):9}{item.nodeid}")
        session.items.clear()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a listing end well, although no test ran."""
    if session.config.getoption("--tiers"):
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a test that its markers call pure where it starts a program or sleeps."""
    pure = tiers.kind_of(item) == "pure"
    if pure:
        tiers.forget_programs()
    result = yield
    if pure:
        observed = item.config.stash[_TIMED].observed
        why = tiers.impurity(observed.programs, observed.slept)
        if why is not None:
            pytest.fail(f"this test counts as pure, but {why} (tests/tiers.py)", pytrace=False)
    return result


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the servers that a worker's next file does not share."""
    servers = item.config.stash[_SERVERS]
    if nextitem is None:
        servers.end()
    elif nextitem.path != item.path:
        servers.leave(item.path, nextitem.path)


def _told(request: pytest.FixtureRequest) -> Iterator[None]:
    """Send runs to MLflow while they go on if the file or the test is marked `mlflow`."""
    with pytest.MonkeyPatch.context() as patched:
        if request.node.get_closest_marker("mlflow"):
            patched.setenv("RAYBENCH_TRACKING_SEND", "now")
        yield


told_by_file = pytest.fixture(scope="module", autouse=True)(_told)
told_by_test = pytest.fixture(autouse=True)(_told)


@pytest.fixture(scope="session", autouse=True)
def compositions() -> Iterator[None]:
    """Remember every composition of configuration groups for the session."""
    with composing.remembered():
        yield


@pytest.fixture(scope="session")
def shared_servers(pytestconfig: pytest.Config) -> SharedServers:
    """Return the servers that files share; they end when no file needs them any more."""
    return pytestconfig.stash[_SERVERS]


@pytest.fixture(scope="module")
def lasting_ray(shared_servers: SharedServers) -> str:
    """Return the address of a Ray that stays up from file to file."""
    return shared_servers.use("ray", lasting)


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
def known_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have plans name a Python for programs that models write without starting one to ask it."""
    from raybench.sandbox import interpreters

    python = interpreters.Interpreter("/usr/bin/python3.12", "3.12.0", "CPython", ())
    monkeypatch.setattr(interpreters, "chosen", lambda *_, **__: python)


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """A folder of the test's own, in which runs find MLflow's store made already."""
    return with_store(tmp_path)


@pytest.fixture
def own(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write the test file's OWN as a module into the working directory; return its name."""
    name: str = request.module.__name__.rpartition(".")[2].replace("test_", "own_")
    (tmp_path / f"{name}.py").write_text(request.module.OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


@pytest.fixture(autouse=True)
def nothing_goes_on() -> Iterator[None]:
    """Kill processes that a failed test left running."""
    yield
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.communicate()
