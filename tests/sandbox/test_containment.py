"""Every attack is contained, as root and as a plain user, behind every kind of walls there is here.

`attacks/` holds the programs, `bait.py` what they are after, `containment.py` runs them, as a
process of its own for each kind of walls and user. Attacks that do no harm are shown to succeed
without.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sandbox import containment
from sandbox.bait import Bait

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NOBODY_ELSE = 64_321
"""A user that owns nothing on the machine."""
NAMES = [attack.name for attack in containment.attacks()]
SAFE = [attack.name for attack in containment.attacks() if attack.unconfined == "safe"]
BACKENDS = ("namespaces", "landlock", "bubblewrap")
USERS = ("root", "plain")
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

pytestmark = pytest.mark.xdist_group("containment")


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Path]:
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


@cache
def python() -> str:
    """Return a Python that every user can run."""
    for path in (sys.executable, "/usr/bin/python3.12", "/usr/bin/python3.11", "/usr/bin/python3"):
        real = Path(path).resolve()
        if real.exists() and all(folder.stat().st_mode & 0o005 == 0o005 for folder in real.parents):
            return str(real)
    pytest.skip("no Python that a plain user could run: all lie in folders closed to others")


_TABLES: dict[tuple[str, ...], dict[str, Any] | str] = {}


def table(folder: Path, user: str, *arguments: str) -> dict[str, Any]:
    """Run all attacks as a user, once for all tests; skip where that cannot be."""
    key = (user, *arguments)
    if key not in _TABLES:
        _TABLES[key] = _table(folder, user, *arguments)
    found = _TABLES[key]
    if isinstance(found, str):
        if found == NOT_ROOT or MISSING.get(arguments[-1], NOT_ROOT) in found:
            pytest.skip(found)
        pytest.fail(found)
    return dict(found)


def _table(folder: Path, user: str, *arguments: str) -> dict[str, Any] | str:
    if user == "root" and os.getuid() != 0:
        return NOT_ROOT
    changed: dict[str, Any] = {}
    if user == "plain" and os.getuid() == 0:
        changed = {"user": NOBODY_ELSE, "group": NOBODY_ELSE, "extra_groups": []}
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    environment["HOME"] = str(folder / "home") if changed else str(Path.home())
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [python(), folder / "tests/sandbox/containment.py", *arguments],
        capture_output=True,
        text=True,
        cwd=folder / "home" if changed else folder,
        env=environment,
        timeout=280,
        check=False,
        **changed,
    )
    if done.returncode:
        return str(done.stderr).strip() or f"exit code {done.returncode}"
    results: dict[str, Any] = json.loads(done.stdout)
    return results


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("user", USERS)
def test_contained(
    request: pytest.FixtureRequest, elsewhere: Path, user: str, backend: str, name: str
) -> None:
    result = table(elsewhere, user, "--backend", backend)[name]
    if gap := GAPS.get((backend, name)):
        request.applymarker(pytest.mark.xfail(reason=gap, strict=True))
    told = f"\nstdout: {result.get('stdout')}\nstderr: {result.get('stderr')}"
    assert not result["breaches"], f"{result['breaches']}{told}"
    assert not result["faults"], f"{result['faults']}{told}"


@pytest.mark.parametrize("name", SAFE)
def test_would_succeed_without_walls(elsewhere: Path, name: str) -> None:
    if os.getuid() != 0:
        pytest.skip("some need root's rights to show that walls are needed")
    result = table(elsewhere, "root", "--unconfined")[name]
    if result["stdout"].startswith("ABSENT"):
        pytest.skip(f"this machine has no such thing: {result['stdout'].strip()}")
    assert result["breaches"], f"{result['stdout']}\n{result['stderr']}"


@pytest.mark.parametrize("name", NAMES)
def test_is_what_it_should_be(name: str) -> None:
    attack = containment.read(containment.FOLDER / f"{name}.py")
    assert attack.title.endswith((".", ":")), "the first line says what is tried"
    assert attack.unconfined == "safe" or attack.unconfined.startswith("no, ")
    assert attack.name.split("_")[0] in {
        *("files", "env", "fd", "net", "proc", "mem", "cpu", "procs", "out", "disk", "left"),
        *("persist", "ns", "kern", "caps", "time", "fake"),
    }
    if "ok" in attack.expect:
        assert '"CONTAINED' in attack.source or "CONTAINED\\n" in attack.source


def test_who_takes_too_long_without_walls_is_told_by_what_it_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(containment, "_PATIENCE_S", 3.0)
    monkeypatch.setenv("RAYBENCH_CANARY", "rbx-a-secret")
    source = "print('BREACH: got at it', flush=True)\nwhile True: pass\n"
    with Bait() as bait:
        told = containment.unconfined(containment.Attack("slow", source, "Slow.", "safe"), bait)
    assert told["breaches"] == ["BREACH: got at it"]
    assert told["code"] is None
