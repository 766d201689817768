"""The built wheel carries its configuration and works from any directory."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from helpers import ROOT, SIMULATED

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_it_carries_the_configuration_and_nothing_of_the_workshop(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for file in (ROOT / "conf").rglob("*.yaml"):
        assert f"raybench/conf/{file.relative_to(ROOT / 'conf')}" in names
    for file in (ROOT / "sandboxes").iterdir():
        assert f"raybench/sandboxes/{file.name}" in names
    # Samples, topics, words, the report's page: whatever lies beside the code.
    beside = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "raybench").rglob("*")
        if file.is_file() and file.suffix not in (".py", ".pyc") and file.name[0] != "."
    }
    assert "raybench/games/parts/debate/topics.txt" in beside
    assert beside <= names
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"raybench"}


def test_installed_from_the_wheel_it_runs_from_any_directory(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site)]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    code = "import raybench, raybench.cli as c; print(raybench.__file__, c.conf_dir()); c.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *SIMULATED, "autobench.iterations=2"],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    where, conf = done.stdout.splitlines()[0].split()
    assert where.startswith(str(site))
    assert conf == str(site / "raybench" / "conf")
    assert list(elsewhere.glob("runs/autobench/*/results.json"))


def test_the_console_script_is_declared(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (entry,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
    assert "raybench = raybench.cli:main" in archive.read(entry).decode()
