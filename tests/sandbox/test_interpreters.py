"""Real Pythons, and programs that only look like one."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from refusals import refused

from raybench.errors import ConfigurationError, RunFailed
from raybench.sandbox import interpreters

pytestmark = pytest.mark.process

OWN = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
OURS = ".".join(map(str, sys.version_info[:3]))


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    for remembered in (interpreters._configured, interpreters._found):
        remembered.cache_clear()
    yield
    for remembered in (interpreters._configured, interpreters._found):
        remembered.cache_clear()


def program(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


def pretender(path: Path, version: str) -> Path:
    """A program that answers as a Python of that version, from where it lies, would."""
    facts = (
        f'{{"version": "{version}", "implementation": "CPython", "executable": "{path}",'
        ' "stdlib": ["/nowhere/lib"], "libraries": ["/usr/lib/a.so"], "broken": {}}'
    )
    return program(path, f"echo '{facts}'")


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing but what the test puts there is found; a folder on its PATH."""
    monkeypatch.setattr(interpreters, "_off_path", lambda: iter(()))
    monkeypatch.setattr(interpreters, "_own", lambda: OWN)
    monkeypatch.setattr(interpreters, "STANDARD", (3, 99))
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path / "bin"


def test_some_python_is_found_and_it_is_the_file_itself() -> None:
    found = interpreters.chosen()
    assert not Path(found.path).is_symlink()
    done = subprocess.run(
        [found.path, "-I", "-c", "import sys; print(sys.version.split()[0], sys.prefix)"],
        capture_output=True,
        text=True,
        check=True,
        env={},
    )
    version, prefix = done.stdout.split()
    assert version == found.version
    assert found.path.startswith(prefix)
    assert found.standard == version.startswith("3.12.")


def test_it_is_asked_once_in_a_process_and_travels_between_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = interpreters.chosen()
    monkeypatch.setattr(subprocess, "run", None)
    assert interpreters.chosen() is found
    assert pickle.loads(pickle.dumps(found)) == found


def test_what_it_needs_is_enough_to_run_it_elsewhere() -> None:
    """In a new root that holds the system's folders and what it named, and nothing else."""
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine gives no user namespaces")
    found = interpreters.chosen()
    paths = [path for path in (*interpreters.SYSTEM, *found.binds) if Path(path).exists()]
    script = """
        set -e
        root=$1; python=$2; shift 2
        mount -t tmpfs none "$root"
        for path in "$@"; do
            if [ -d "$path" ]; then mkdir -p "$root$path"
            else mkdir -p "$(dirname "$root$path")"; touch "$root$path"; fi
            mount --rbind "$path" "$root$path"
        done
        exec chroot "$root" "$python" -I -c 'import ssl, sqlite3, lzma, ctypes; print("runs")'
    """
    root = Path("/mnt")  # hidden by our own mount only
    done = subprocess.run(
        [*unshare, "sh", "-c", script, "sh", str(root), found.path, *paths],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )
    assert done.stdout == "runs\n", done.stderr


def test_the_first_of_the_standard_version_that_works_is_taken(bare: Path, tmp_path: Path) -> None:
    program(bare / "python3.12", "echo 'pyenv: python3.12: command not found' >&2; exit 127")
    good = pretender(tmp_path / "later" / "python3.12", "3.99.4")
    os.environ["PATH"] += f":{good.parent}"
    found = interpreters.chosen()
    assert (found.path, found.version, found.standard) == (str(good), "3.99.4", True)
    assert found.binds == ("/nowhere/lib", str(good))


def test_without_one_it_is_that_which_runs_raybench(bare: Path) -> None:
    pretender(bare / "python3.12", "3.98.0")  # a name promises nothing
    found = interpreters.chosen()
    assert (found.path, found.version, found.standard) == (OWN, OURS, False)


def test_one_that_needs_the_users_variables_is_passed_over(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = pretender(bare.parent / "good", "3.99.0")
    program(bare / "python3.12", f'[ -n "$LD_LIBRARY_PATH" ] && exec {good}')
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/module/lib")
    assert interpreters.chosen().path == OWN


def test_the_newest_of_several_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for patch in (2, 10, 9):
        pretender(tmp_path / f"versions/3.12.{patch}/bin/python3.12", f"3.12.{patch}")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    found = [path for path in interpreters._off_path() if path.is_relative_to(tmp_path)]
    assert [path.parts[-3] for path in found] == ["3.12.10", "3.12.9", "3.12.2"]


def test_a_configured_one_may_be_a_path_a_name_or_a_virtual_environments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_path = interpreters.chosen(sys.executable)
    assert (by_path.path, by_path.version) == (OWN, OURS)
    monkeypatch.setenv("PATH", str(Path(OWN).parent))
    assert interpreters.chosen(Path(OWN).name) == by_path


def test_a_name_is_the_first_on_the_path_that_works(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bare / "snake", "exit 127")
    good = pretender(tmp_path / "later" / "snake", "3.13.0")
    monkeypatch.setenv("PATH", f"{bare}:{good.parent}:/usr/bin:/bin")
    assert interpreters.chosen("snake").path == str(good)


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ("echo 'snake: command not found.' >&2; exit 127", "snake: command not found"),
        ("exit 3", " 3 "),
        ("echo hello", " 0 "),
        ("echo 'Traceback (…):\n  File\nSyntaxError: invalid' >&2; exit 1", "SyntaxError: invalid"),
        (None, "3.10.9"),
    ],
)
def test_a_configured_one_that_will_not_do_is_told_with_the_reason_and_the_mend(
    says: str | None, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "snake"
    if says is None:
        pretender(path, "3.10.9")
    else:
        program(path, says)
    with refused(
        "sandbox.python", "sandbox.python", given=str(path), kind=ConfigurationError
    ) as caught:
        interpreters.chosen(str(path))
    assert why in caught.value.problems[0].message.partition(str(path))[2]
    assert "3.11 " in (caught.value.fix or "")


def test_one_that_is_not_there_is_told() -> None:
    for name in ("/no/such/python", "no-such-python"):
        with refused(
            "sandbox.python", "sandbox.python", given=name, kind=ConfigurationError
        ) as caught:
            interpreters.chosen(name)
        assert "such program" in str(caught.value)


def test_one_without_ctypes_is_told(tmp_path: Path) -> None:
    path = pretender(tmp_path / "snake", "3.12.0")
    path.write_text(path.read_text().replace('"broken": {}', '"broken": {"ctypes": "no _ctypes"}'))
    with refused("sandbox.python", given=str(path), kind=ConfigurationError) as caught:
        interpreters.chosen(str(path))
    assert "no ctypes," in str(caught.value) and "(no _ctypes" in str(caught.value)


def test_one_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "_ANSWER_S", 0.2)
    path = program(tmp_path / "snake", "exec sleep 60")
    with refused("sandbox.python", given=str(path), kind=ConfigurationError) as caught:
        interpreters.chosen(str(path))
    assert "0.2 s" in str(caught.value)


@pytest.mark.parametrize("silent", [interpreters._TRIES - 1, interpreters._TRIES])
def test_the_methodologys_version_is_not_passed_over_because_it_is_slow(
    bare: Path, monkeypatch: pytest.MonkeyPatch, silent: int
) -> None:
    monkeypatch.setattr(interpreters, "_ANSWER_S", 0.5)
    path = pretender(bare / "python3.12", "3.99.0")
    answer = path.read_text().removeprefix("#!/bin/sh\n")
    count = f"echo >> {bare}/asked; test $(wc -l < {bare}/asked) -gt {silent} || exec sleep 60"
    program(path, f"{count}\n{answer}")
    if silent < interpreters._TRIES:
        assert interpreters.chosen().version == "3.99.0"
    else:
        with refused("sandbox.python", "sandbox.python", kind=RunFailed) as caught:
            interpreters.chosen()
        assert f"{path} on " in str(caught.value) and "0.5 s" in str(caught.value)


def test_only_what_lies_beyond_the_system_is_named_and_nothing_twice() -> None:
    paths = ("/usr/lib/a", "/lib64/ld.so", "/opt/p/lib", "/opt/p/lib/x.so", "/opt/p/lib2", "/usrx")
    assert interpreters.beyond_system(paths) == ("/opt/p/lib", "/opt/p/lib2", "/usrx")


def test_a_closed_folder_on_the_way_is_named() -> None:
    other = os.getuid() + 1
    with TemporaryDirectory(dir="/tmp") as top:  # pytest's own are closed to others
        Path(top).chmod(0o755)
        home = Path(top) / "home"
        (home / "python").mkdir(parents=True)
        home.chmod(0o755)
        (home / "python").chmod(0o755)
        assert interpreters.barred(str(home / "python"), other) is None
        home.chmod(0o700)
        assert interpreters.barred(str(home / "python"), other) == str(home)
        assert interpreters.barred(str(home / "python"), os.getuid()) is None


def test_what_a_user_cannot_reach_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    own, closed = interpreters._own(), interpreters.chosen().path
    monkeypatch.setattr(interpreters, "barred", lambda path, user: path)
    interpreters._found.cache_clear()
    try:
        # All are, and then raybench's own is named all the same.
        assert interpreters.chosen(user=1).path == own
        monkeypatch.setattr(interpreters, "barred", lambda path, user: path == closed or None)
        interpreters._found.cache_clear()
        found = interpreters.chosen(user=1)
        assert closed == own or found.path != closed
    finally:
        interpreters._found.cache_clear()
