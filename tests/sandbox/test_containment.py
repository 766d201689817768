"""Every attack is contained, as root and as a plain user, behind every kind of walls there is here.

`attacks/` holds the programs, `bait.py` what they are after. `containment.py` runs them in a
process of its own per user and kind of walls; its results are one table. `make test` runs all
attacks behind the strongest walls, and those for which walls differ behind the other ones.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sandbox import containment
from sandbox.bait import Bait

# The first test of a table waits for all of its attacks.
pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(1200)]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TABLE_S = 1000
"""After how many seconds a table has hung."""
NOBODY_ELSE = 64_321
"""A user that owns nothing on the machine."""
ATTACKS = {attack.name: attack for attack in containment.attacks()}
WALLS_DIFFER = (
    "files_*,proc_*,procs_*,net_*,ns_*,kern_*,caps_*,left_*,persist_*,disk_*,mem_sockets,mem_memfd"
)
"""Attacks on what each kind of walls holds by other means: the rest is held by the same code."""
DIFFERENT = [attack.name for attack in containment.attacks(WALLS_DIFFER)]
QUICK = (
    *("caps_setuid_programs", "disk_big_file", "env_others", "fd_inherited", "files_read"),
    *("kern_keys", "net_tcp4", "persist_files", "proc_vm_read"),
)
"""Harmless attacks that take a moment without walls."""
OTHER_WALLS = ("landlock", "bubblewrap")
KINDS = {
    *("files", "env", "fd", "net", "proc", "mem", "cpu", "procs", "out", "disk", "left"),
    *("persist", "ns", "kern", "caps", "time", "fake"),
}
"""What an attack is on: the first word of its name."""
NOT_ROOT = "only root can be root"
GAPS = {
    ("landlock", "files_touch"): "Landlock leaves times and modes of the own user's files open",
    ("landlock", "proc_ask"): "without a namespace of processes one can ask whether one exists",
}
"""What some walls cannot hold, as sandboxes/README.md says."""
MISSING = {
    "bubblewrap": "no bwrap on PATH",
    "landlock": "this kernel has version",
    "namespaces": "unshare",
}
"""Why walls may be unavailable here; any other reason is a failure."""

Results = dict[str, Any]
RunAttacks = Callable[..., Results | str]
"""Runs attacks as a user, with these arguments; returns their results, or why none could run."""


@pytest.fixture(scope="session")
def copy() -> Iterator[Path]:
    """Yield a copy of what the attacks need that every user can read, and a home for one."""
    with tempfile.TemporaryDirectory(prefix="raybench-containment-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        ignored = shutil.ignore_patterns("__pycache__")
        for part in ("raybench", "sandboxes", "tests/sandbox"):
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        (folder / "home").mkdir(mode=0o700)
        if os.getuid() == 0:
            os.chown(folder / "home", NOBODY_ELSE, NOBODY_ELSE)
        yield folder


@pytest.fixture(scope="session")
def run_attacks(copy: Path) -> RunAttacks:
    """Return a function that runs each table once for all tests."""
    return cache(lambda user, *arguments: _run_attacks(copy, user, *arguments))


def _run_attacks(folder: Path, user: str, *arguments: str) -> Results | str:
    if user == "root" and os.getuid() != 0:
        return NOT_ROOT
    begin: list[str] = []
    changed = user == "plain" and os.getuid() == 0
    if os.getuid() == 0:  # other tests mount disks: without that, mounts that change are attacks
        begin = ["unshare", "--mount"]
    if changed:
        ids = (f"--reuid={NOBODY_ELSE}", f"--regid={NOBODY_ELSE}", "--clear-groups")
        begin += ["setpriv", *ids]
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    environment["HOME"] = str(folder / "home") if changed else str(Path.home())
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [*begin, python(), folder / "tests/sandbox/containment.py", *arguments],
        capture_output=True,
        text=True,
        cwd=folder / "home" if changed else folder,
        env=environment,
        timeout=TABLE_S,
        check=False,
    )
    if done.returncode:
        return str(done.stderr).strip() or f"exit code {done.returncode}"
    results: Results = json.loads(done.stdout)
    return results


def python() -> str:
    """Return a Python that every user can run."""
    for path in (sys.executable, "/usr/bin/python3.12", "/usr/bin/python3.11", "/usr/bin/python3"):
        real = Path(path).resolve()
        if real.exists() and all(folder.stat().st_mode & 0o005 == 0o005 for folder in real.parents):
            return str(real)
    pytest.skip("no Python that a plain user could run: all lie in folders closed to others")


def check_contained(
    request: pytest.FixtureRequest, results: Results | str, backend: str, name: str
) -> None:
    """Check that an attack got at nothing and ended as it should."""
    if isinstance(results, str):
        if results == NOT_ROOT or MISSING[backend] in results:
            pytest.skip(results)
        pytest.fail(results)
    if gap := GAPS.get((backend, name)):
        request.applymarker(pytest.mark.xfail(reason=gap, strict=True))
    result = results[name]
    output = f"\nstdout: {result.get('stdout')}\nstderr: {result.get('stderr')}"
    assert not result["breaches"], f"{result['breaches']}{output}"
    assert not result["faults"], f"{result['faults']}{output}"


def check_succeeds(results: Results | str, name: str) -> None:
    """Check that an attack gets at something where nothing holds it."""
    if isinstance(results, str):
        if results == NOT_ROOT:
            pytest.skip("some attacks need root's rights to succeed")
        pytest.fail(results)
    result = results[name]
    if result["stdout"].startswith("ABSENT"):
        pytest.skip(f"this machine has no such thing: {result['stdout'].strip()}")
    assert result["breaches"], f"{result['stdout']}\n{result['stderr']}"


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("user", ["root", "plain"])
def test_contained_by_namespaces(
    request: pytest.FixtureRequest, run_attacks: RunAttacks, user: str, name: str
) -> None:
    check_contained(request, run_attacks(user, "--backend", "namespaces"), "namespaces", name)


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("backend", OTHER_WALLS)
def test_contained_where_walls_differ(
    request: pytest.FixtureRequest, run_attacks: RunAttacks, backend: str, name: str
) -> None:
    results = run_attacks("plain", "--only", WALLS_DIFFER, "--backend", backend)
    check_contained(request, results, backend, name)


@pytest.mark.long(short="tests/sandbox/test_containment.py::test_contained_where_walls_differ")
@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("backend", OTHER_WALLS)
@pytest.mark.parametrize("user", ["root", "plain"])
def test_contained_by_all_walls(
    request: pytest.FixtureRequest, run_attacks: RunAttacks, user: str, backend: str, name: str
) -> None:
    check_contained(request, run_attacks(user, "--backend", backend), backend, name)


@pytest.mark.parametrize("name", QUICK)
def test_some_attacks_succeed_without_walls(run_attacks: RunAttacks, name: str) -> None:
    """An attack that never can succeed would prove nothing about walls."""
    check_succeeds(run_attacks("root", "--only", ",".join(QUICK), "--unconfined"), name)


# Attacks on the limits of time and memory need a minute to go beyond them.
@pytest.mark.long(
    short="tests/sandbox/test_containment.py::test_some_attacks_succeed_without_walls"
)
@pytest.mark.parametrize(
    "name", [name for name, attack in ATTACKS.items() if attack.unconfined == "safe"]
)
def test_harmless_attacks_succeed_without_walls(run_attacks: RunAttacks, name: str) -> None:
    check_succeeds(run_attacks("root", "--unconfined"), name)


def test_heads_of_attacks_say_how_they_end() -> None:
    wrong = []
    for attack in ATTACKS.values():
        if not attack.title.endswith((".", ":")):
            wrong.append(f"{attack.name}: the first line does not say what is tried")
        if attack.unconfined != "safe" and not attack.unconfined.startswith("no, "):
            wrong.append(f"{attack.name}: 'unconfined' is neither 'safe' nor a reason")
        if attack.name.partition("_")[0] not in KINDS:
            wrong.append(f"{attack.name}: the first word of the name is no kind of attack")
        contained = '"CONTAINED' in attack.source or "CONTAINED\\n" in attack.source
        if "ok" in attack.expect and not contained:
            wrong.append(f"{attack.name}: it expects 'ok' and never prints CONTAINED")
    assert wrong == []


def test_an_attack_that_runs_into_the_time_limit_keeps_what_it_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(containment, "_PATIENCE_S", 3.0)
    monkeypatch.setenv("RAYBENCH_CANARY", "rbx-a-secret")
    breach = "BREACH: got at it"
    source = f"print('{breach}', flush=True)\nwhile True: pass\n"
    with Bait() as bait:
        result = containment.unconfined(containment.Attack("slow", source, "Slow.", "safe"), bait)
    assert result["breaches"] == [breach]
    assert result["code"] is None
