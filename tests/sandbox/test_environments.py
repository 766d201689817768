"""Environments that are really made: of tiny wheels of the test's own, once of the real list."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from refusals import refused

from raybench.errors import ConfigurationError, RunFailed
from raybench.sandbox import environments, recipes
from raybench.sandbox.environments import LIBRARIES, MODULES
from raybench.sandbox.interpreters import Interpreter, chosen

pytestmark = pytest.mark.process

VERSION = "1.0"
LIST = "".join(f"{name}=={VERSION}\n" for name in LIBRARIES)


def wheel(folder: Path, name: str, modules: dict[str, str]) -> None:
    info = f"{name}-{VERSION}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{VERSION}-py3-none-any.whl", "w") as archive:
        for path, source in modules.items():
            archive.writestr(path, source)
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {VERSION}\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


def wheels(folder: Path, *, numpy: str = "") -> Path:
    """Make wheels of these names that hold every module which is imported beforehand, empty."""
    folder.mkdir(exist_ok=True)
    for name in LIBRARIES:
        held = {f"{name}/__init__.py": numpy if name == "numpy" else ""}
        for module in MODULES:
            path = module.replace(".", "/")
            if path.startswith(f"{name}/"):
                held[f"{path}/__init__.py"] = ""
        if name == "matplotlib":  # which comes with a second package, and keeps a list of fonts
            held["mpl_toolkits/mplot3d/__init__.py"] = ""
            held["matplotlib/pyplot/__init__.py"] = (
                "import os, pathlib\n"
                "folder = pathlib.Path(os.environ['MPLCONFIGDIR'])\n"
                "folder.mkdir(exist_ok=True, parents=True)\n"
                "(folder / 'fonts').write_text(os.environ['MPLBACKEND'])\n"
            )
        wheel(folder, name, held)
    return folder


def forget() -> None:
    environments._prepared.cache_clear()
    environments._configured.cache_clear()


@contextmanager
def tiny_packages(folder: Path) -> Iterator[Path]:
    """Have an empty cache, a list of tiny packages, and a pip that finds only their wheels."""
    (folder / "scientific.txt").write_text(LIST)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recipes, "scientific_list", lambda: folder / "scientific.txt")
        patched.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patched.setenv("PIP_CONFIG_FILE", os.devnull)
        patched.setenv("PIP_NO_INDEX", "1")
        patched.setenv("PIP_FIND_LINKS", str(wheels(folder / "wheels")))
        forget()
        yield folder / "cache" / "raybench"
    forget()


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    """Yield an empty cache of a test's own, next to the folder of wheels."""
    with tiny_packages(tmp_path) as cache:
        yield cache


@pytest.fixture(scope="module")
def prepared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose cache holds an environment that somebody cautious has made."""
    folder = tmp_path_factory.mktemp("prepared")
    before = os.umask(0o077)
    try:
        with tiny_packages(folder):
            environments.scientific(chosen(sys.executable))
    finally:
        os.umask(before)
    return folder


@pytest.fixture
def prepared(prepared_folder: Path) -> Iterator[Path]:
    """Yield a cache with an environment, for tests that leave it as it is."""
    with tiny_packages(prepared_folder) as cache:
        yield cache


@pytest.fixture
def base() -> Interpreter:
    return chosen(sys.executable)


def folders(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.is_dir())


def test_it_is_made_once_and_says_what_it_is(
    cache: Path, base: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not environments.ready(base)
    made = environments.scientific(base)
    assert environments.ready(base)
    (folder,) = cache.glob("scientific-*")
    assert made.python == f"{folder}/bin/python"
    assert made.versions() == {"python": base.version, **dict.fromkeys(LIBRARIES, VERSION)}
    assert str(folder) in made.binds
    assert set(base.binds) <= set(made.binds)
    forget()
    monkeypatch.setenv("PIP_FIND_LINKS", "/no/such/folder")
    monkeypatch.setattr(subprocess, "run", None)  # nothing is started any more
    assert environments.scientific(base) == made


def test_its_python_finds_the_libraries_compiled_and_nothing_of_ours(
    prepared: Path, base: Interpreter
) -> None:
    made = environments.scientific(base)
    code = "import importlib.util as u, numpy; print(u.find_spec('pip'), numpy.__cached__)"
    done = subprocess.run(
        [made.python, "-I", "-c", code],
        env=dict(made.variables),
        capture_output=True,
        text=True,
        check=True,
    )
    pip, cached = done.stdout.split()
    assert pip == "None"
    assert Path(cached).is_file()
    # Asked for by its environment's variables: no window, one thread, the fonts listed beforehand.
    fonts = Path(made.variables["MPLCONFIGDIR"])
    assert (fonts / "fonts").read_text() == "Agg"
    assert made.variables["OPENBLAS_NUM_THREADS"] == "1"


def test_every_file_can_be_read_by_another_user(prepared: Path) -> None:
    """Whatever the umask of the user who made it."""
    (folder,) = prepared.glob("scientific-*")
    closed = [
        path
        for path in (folder, *folder.rglob("*"))
        if path.name != "raybench-stamp.json"
        and not path.stat().st_mode & (0o001 if path.is_dir() else 0o004)
    ]
    assert closed == []


def test_what_pythonpath_offers_does_not_count_as_installed(
    cache: Path, base: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(tmp_path / "wheels" / f"numpy-{VERSION}-py3-none-any.whl") as archive:
        archive.extractall(site)
    monkeypatch.setenv("PYTHONPATH", str(site))
    environments.scientific(base)
    (folder,) = cache.glob("scientific-*")
    assert list(folder.glob("lib/*/site-packages/numpy/__init__.py"))


def test_another_list_and_another_python_get_an_environment_of_their_own(
    cache: Path, base: Interpreter, tmp_path: Path
) -> None:
    environments.scientific(base)
    (tmp_path / "scientific.txt").write_text(LIST + "# changed\n")
    assert not environments.ready(base)
    forget()
    environments.scientific(base)
    assert len(folders(cache)) == 2
    other = Interpreter("/elsewhere/python", base.version, base.implementation, ())
    assert not environments.ready(other)


SCRIPT = """\
import sys
from pathlib import Path
from raybench.sandbox import environments, recipes
from raybench.sandbox.interpreters import chosen
recipes.scientific_list = lambda: Path(sys.argv[1])
environments.scientific(chosen(sys.executable))
"""


def start(tmp_path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "scientific.txt")],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_a_killed_preparation_counts_for_nothing_and_the_next_makes_all_of_it(
    cache: Path, base: Interpreter, tmp_path: Path
) -> None:
    with start(tmp_path) as process:
        deadline = time.monotonic() + 60
        while not list(cache.glob("scientific-*/bin/python")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
    assert not environments.ready(base)
    (folder,) = cache.glob("scientific-*")
    (folder / "half").touch()
    environments.scientific(base)
    assert environments.ready(base)
    assert not (folder / "half").exists()


def test_a_stamp_that_was_cut_short_counts_for_nothing(prepared: Path, base: Interpreter) -> None:
    (stamp,) = prepared.glob("scientific-*/raybench-stamp.json")
    whole = stamp.read_bytes()
    for cut in (b"", whole[: len(whole) // 2], b"[]", b"{}", b'{"facts": {}}'):
        stamp.write_bytes(cut)
        assert not environments.ready(base)
    stamp.write_bytes(json.dumps({**json.loads(whole), "made_from": {}}).encode())
    assert not environments.ready(base)
    stamp.write_bytes(whole)
    assert environments.ready(base)
    python = stamp.parent / "bin" / "python"
    python.rename(python.with_name("moved"))  # as when its Python is uninstalled
    assert not environments.ready(base)
    python.with_name("moved").rename(python)


def test_of_two_at_once_one_makes_it(cache: Path, base: Interpreter, tmp_path: Path) -> None:
    with start(tmp_path) as one, start(tmp_path) as other:
        errors = [process.communicate(timeout=120)[1] for process in (one, other)]
    assert [one.returncode, other.returncode] == [0, 0], errors
    assert environments.ready(base)
    assert len(folders(cache)) == 1


def test_a_wait_for_another_process_ends(
    cache: Path, base: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    monkeypatch.setattr(environments, "_INSTALL_S", 0)
    monkeypatch.setattr(environments, "_STEP_S", 0.1)
    place = environments._place(base, LIST)
    cache.mkdir(parents=True)
    with (
        FileLock(cache / f".{place.name}.lock"),
        refused("sandbox.python", "sandbox.scientific_python", kind=RunFailed) as caught,
    ):
        environments.scientific(base)
    assert f".{place.name}.lock" in (caught.value.fix or "")


def test_without_the_packages_the_mends_are_named(
    cache: Path, base: Interpreter, tmp_path: Path
) -> None:
    (tmp_path / "wheels" / f"scipy-{VERSION}-py3-none-any.whl").unlink()
    with refused("sandbox.python", "sandbox.scientific_python", kind=RunFailed) as caught:
        environments.scientific(base)
    for part in (
        "numpy 1.0, scipy 1.0, sympy 1.0",
        "scipy==1.0",
        "python -m raybench.sandbox",
        "PIP_INDEX_URL",
        "sandbox.scientific_python=/path",
    ):
        assert part in str(caught.value)
    assert not environments.ready(base)


@pytest.mark.parametrize(
    ("numpy", "why"),
    [
        ("import nowhere", r"numpy .*\(ModuleNotFoundError"),
        (
            "import threading as t, time\nt.Thread(target=time.sleep, args=[9], daemon=1).start()",
            " 1 threads ",
        ),
    ],
)
def test_what_nothing_can_be_forked_off_is_not_taken(
    cache: Path, base: Interpreter, tmp_path: Path, numpy: str, why: str
) -> None:
    wheels(tmp_path / "wheels", numpy=numpy)
    with refused("sandbox.python", "sandbox.scientific_python", kind=RunFailed) as caught:
        environments.scientific(base)
    assert re.search(why, str(caught.value))
    assert not environments.ready(base)


def test_a_cache_that_cannot_be_written_is_named(
    cache: Path, base: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with refused("sandbox.python", "sandbox.scientific_python", kind=RunFailed) as caught:
        environments.scientific(base)
    assert f" {tmp_path}/file" in str(caught.value)
    assert os.strerror(errno.ENOTDIR) in str(caught.value)


def test_a_step_that_hangs_is_ended(
    cache: Path, base: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "_INSTALL_S", 0.05)
    with refused("sandbox.python", "sandbox.scientific_python", kind=RunFailed) as caught:
        environments.scientific(base)
    assert re.search(r"pip .* 0\.05 s", str(caught.value))


def test_a_configured_python_with_the_right_versions_is_taken_as_it_is(
    prepared: Path, base: Interpreter
) -> None:
    made = environments.scientific(base)
    given = environments.scientific(base, made.python)
    (folder,) = prepared.glob("scientific-*")
    assert (given.python, given.versions()) == (made.python, made.versions())
    assert given.interpreter == base
    # Of a place that is not ours, no more than it takes: the whole folder may hold anything.
    assert str(folder) not in given.binds
    assert {f"{folder}/bin/python", f"{folder}/pyvenv.cfg"} < set(given.binds)
    fonts = Path(given.variables["MPLCONFIGDIR"])
    assert (fonts / "fonts").is_file()
    assert not fonts.is_relative_to(folder)


def test_one_with_other_versions_is_told_with_all_that_differ(
    prepared: Path, base: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = environments.scientific(base)
    newer = tmp_path / "newer.txt"
    newer.write_text(LIST.replace("scipy==1.0", "scipy==1.1"))
    monkeypatch.setattr(recipes, "scientific_list", lambda: newer)
    setting = "sandbox.scientific_python"
    with refused("sandbox.python", setting, given=made.python) as caught:
        environments.scientific(base, made.python)
    problem = caught.value.problems[0]
    assert "scipy 1.0" in problem.message and "numpy" not in problem.message
    assert "numpy 1.0, scipy 1.1," in (problem.fix or "")
    bare = [base.path, "-m", "venv", "--without-pip", str(tmp_path / "bare")]
    subprocess.run(bare, check=True)
    python = f"{tmp_path}/bare/bin/python"
    with refused("sandbox.python", setting, given=python, kind=ConfigurationError) as caught:
        environments.scientific(base, python)
    assert "no numpy," in str(caught.value) and "no scipy," in str(caught.value)
    assert [*prepared.glob("scientific-*")] == [Path(made.python).parents[1]]


def test_one_that_does_not_run_is_told(cache: Path, base: Interpreter) -> None:
    with pytest.raises(ConfigurationError, match=r"'/no/such/python'.*No such file"):
        environments.scientific(base, "/no/such/python")


@pytest.mark.long(
    short="tests/sandbox/test_environments.py::test_it_is_made_once_and_says_what_it_is"
)
@pytest.mark.timeout(900)
def test_the_real_list_installs_fits_together_and_leaves_one_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    forget()
    base = chosen()
    made = environments.scientific(base)
    wanted = recipes.pins(recipes.scientific_list().read_text())
    assert made.versions() == {
        "python": base.version,
        **{name: wanted[name] for name in LIBRARIES},
    }
    check = [sys.executable, "-m", "pip", "--python", made.python, "check"]
    assert subprocess.run(check, check=False).returncode == 0
    script = (
        f"import os, sys\nfor name in {MODULES!r}: __import__(name)\n"
        "from scipy.integrate import simps\n"
        "import numpy as np, matplotlib.font_manager as fonts\n"
        "assert simps(np.ones(3)) == 2.0\n"
        "np.linalg.inv(np.random.rand(300, 300))\n"
        "print(len(os.listdir('/proc/self/task')), len(fonts.fontManager.ttflist) > 10)\n"
    )
    done = subprocess.run(
        [made.python, "-I", "-W", "ignore::DeprecationWarning", "-c", script],
        env=dict(made.variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("1 True\n", "")
    forget()


def test_what_root_prepares_can_be_reached_by_the_user_that_it_becomes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(environments, "barred", lambda path, user: path)
    assert environments._cache() == Path("/var/cache/raybench")
    monkeypatch.setattr(environments, "barred", lambda path, user: None)
    assert environments._cache() == tmp_path / ".cache" / "raybench"
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(environments, "barred", lambda path, user: path)
    assert environments._cache() == tmp_path / ".cache" / "raybench"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "else"))
    assert environments._cache() == tmp_path / "else" / "raybench"
