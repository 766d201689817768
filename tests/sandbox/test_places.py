"""Which walls are used, and what is said where none stand."""

import errno
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from refusals import refused

from raybench import sandbox
from raybench.errors import ConfigurationError, RunFailed
from raybench.sandbox import interpreters, places, selftest
from raybench.sandbox.errors import SandboxFaultError, SandboxUnavailableError
from raybench.sandbox.inside.box import Box
from raybench.sandbox.outcome import Profile
from raybench.sandbox.places import Settings
from raybench.sandbox.runner import Runner
from raybench.sandbox.server import BusyError, FaultError, Server

LIMITS = sandbox.Limits()


class Standing:
    """A server that cannot do anything but end."""

    def __init__(self, backend: str) -> None:
        self.backend = backend

    def close(self) -> None:
        pass


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A machine that refuses walls by name; yields what it was asked for."""
    asked: list[str] = []

    def start(python: str, box: Box) -> Standing:
        asked.append(box.backend)
        if box.backend in os.environ["REFUSED"].split():
            raise FaultError(f"the {box.backend} call: Operation not permitted")
        return Standing(box.backend)

    monkeypatch.setattr(places, "Server", start)
    monkeypatch.setattr(selftest, "check", lambda server: None)
    monkeypatch.setattr(places, "_check_open", lambda *_: None)
    monkeypatch.setenv("REFUSED", "")
    places._best.cache_clear()
    yield asked
    places._best.cache_clear()


def started(backend: str, profile: Profile = "plain") -> str:
    return places.start(Settings(backend=backend), profile).backend


@pytest.mark.sandbox
def test_namespaces_come_first(machine: list[str]) -> None:
    assert started("auto") == "namespaces"
    assert "landlock" not in machine


@pytest.mark.sandbox
def test_landlock_is_taken_where_namespaces_are_refused(
    machine: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUSED", "namespaces")
    assert started("auto") == "landlock"
    assert machine == ["namespaces", "namespaces", "landlock", "landlock"]
    assert started("auto") == "landlock"
    assert machine.count("namespaces") == 2  # a second time, in case the first was a mishap


@pytest.mark.usefixtures("known_python")
def test_a_machine_that_refuses_all_is_told_of_with_the_mends(
    machine: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUSED", "namespaces landlock")
    with refused("sandbox.unavailable", "sandbox.backend", kind=SandboxUnavailableError) as refusal:
        started("auto")
    assert isinstance(refusal.value, RunFailed)
    told = str(refusal.value)
    for named in (
        "the namespaces call: ", "the landlock call: ", os.strerror(errno.EPERM),
        "sysctl user.max_user_namespaces", "sandboxes/README.md", "--security-opt", "Linux 6.12",
        "sandbox.backend=unsafe",
    ):  # fmt: skip
        assert named in told
    assert "unsafe" not in machine  # never without being asked for


@pytest.mark.usefixtures("known_python")
def test_walls_that_were_asked_for_are_used_or_refused(
    machine: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert started("unsafe") == "unsafe"
    assert started("landlock") == "landlock"
    monkeypatch.setenv("REFUSED", "landlock")
    with refused("sandbox.unavailable", kind=SandboxUnavailableError) as refusal:
        started("landlock")
    assert "landlock call" in str(refusal.value)
    assert "namespaces" not in machine


@pytest.mark.sandbox
def test_a_busy_machine_is_no_machine_that_refuses(
    machine: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(server: Server) -> None:
        raise BusyError("this machine is too busy")

    monkeypatch.setattr(selftest, "check", busy)
    with pytest.raises(BusyError):
        started("auto")
    assert "landlock" not in machine
    with refused("sandbox.failed", kind=SandboxFaultError) as failed:
        Runner(Settings()).run("", "", {}, LIMITS, "plain")
    assert "3 times" in str(failed.value) and "busy" in str(failed.value)


def test_an_unknown_backend_is_told_of() -> None:
    with refused(
        "setting.choice", "sandbox.backend", given="namespace", kind=ConfigurationError
    ) as refusal:
        places.start(Settings(backend="namespace"), "plain")
    assert "'namespaces'" in (refusal.value.fix or "")


@pytest.mark.usefixtures("known_python")
def test_bubblewrap_has_to_be_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused("sandbox.unavailable", kind=SandboxUnavailableError) as refusal:
        places.start(Settings(backend="bubblewrap"), "plain")
    assert "bwrap" in str(refusal.value)


@pytest.mark.usefixtures("known_python")
def test_a_python_that_its_user_cannot_reach_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.getuid() != 0:
        pytest.skip("only root becomes somebody else")
    found = replace(interpreters.chosen(), binds=("/closed/python",))
    monkeypatch.setattr(interpreters, "chosen", lambda *_, **__: found)
    monkeypatch.setattr(interpreters, "barred", lambda path, uid: "/closed")
    with refused("sandbox.unavailable", kind=SandboxUnavailableError) as caught:
        places.start(Settings(backend="landlock"), "plain")
    assert " /closed/python, " in str(caught.value) and " /closed, " in str(caught.value)


@pytest.mark.parametrize(
    ("backend", "root", "user"),
    [
        ("namespaces", True, None),
        ("landlock", False, None),
        ("landlock", True, places._USERS[0]),
        ("unsafe", True, places._USERS[0]),
    ],
)
def test_who_shares_the_hosts_tree_needs_a_python_that_he_can_reach(
    monkeypatch: pytest.MonkeyPatch, backend: str, root: bool, user: int | None
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0 if root else 1000)
    asked: list[int | None] = []
    monkeypatch.setattr(interpreters, "chosen", lambda python, user: asked.append(user))
    places.python_of(Settings(backend))
    assert asked == [user]


@pytest.mark.sandbox
def test_walls_that_do_not_hold_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "_PROGRAM", "print('one;two', flush=True)")
    with pytest.raises(SandboxUnavailableError, match="one, two"):
        places.start(Settings(backend="namespaces"), "plain")


@pytest.mark.sandbox
def test_the_self_test_finds_what_has_no_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run without walls it gets at everything it is after."""
    said: list[str] = []
    real = Server.run

    def run(self: Server, *given: object) -> object:
        done = real(self, *given)  # type: ignore[arg-type]
        said.append(done.stdout.bytes().decode())
        return done

    monkeypatch.setattr(Server, "run", run)
    python = "/usr/bin/python3" if os.getuid() == 0 else None
    if python and not Path(python).exists():
        pytest.skip("no Python that another user could run")
    places.start(Settings(backend="unsafe", python=python), "plain").close()
    read, wrote, _, reached, *_ = re.findall(r'attempt\("(.+?)"', selftest._PROGRAM)
    assert {read, wrote, reached} <= {*said[0].strip().split(";")}


@pytest.mark.sandbox
def test_unsafe_is_stamped_on_the_outcome() -> None:
    python = "/usr/bin/python3" if os.getuid() == 0 else None
    if python and not Path(python).exists():
        pytest.skip("no Python that another user could run")
    runner = Runner(Settings(backend="unsafe", python=python))
    try:
        outcome = runner.run("print(1)", "", {}, LIMITS, "plain")
    finally:
        runner.close()
    assert (outcome.status, outcome.backend, outcome.place["backend"]) == ("ok", *["unsafe"] * 2)


@pytest.mark.sandbox
def test_a_slot_has_a_core_and_a_user_of_its_own() -> None:
    cores = sorted(os.sched_getaffinity(0))
    runner = Runner(Settings(slot=1, pinned=True))
    try:
        outcome = runner.run(
            "import os; print(sorted(os.sched_getaffinity(0)))", "", {}, LIMITS, "plain"
        )
    finally:
        runner.close()
    assert outcome.stdout == f"[{cores[1 % len(cores)]}]\n"
