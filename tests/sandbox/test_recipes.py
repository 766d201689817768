import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from helpers import ROOT

from raybench import cli
from raybench.config import SANDBOXES
from raybench.sandbox import recipes
from raybench.sandbox.environments import LIBRARIES
from raybench.sandbox.outcome import Backend


def test_the_configuration_knows_every_backend() -> None:
    assert set(SANDBOXES) == {"auto", *get_args(Backend)}


def test_in_a_checkout_the_recipes_lie_at_its_root() -> None:
    assert recipes.folder() == ROOT / "sandboxes"
    assert recipes.scientific_list().is_file()


@pytest.mark.process
def test_in_a_wheel_they_lie_inside_the_package(tmp_path: Path) -> None:
    room = tmp_path / "raybench" / "sandbox"
    room.mkdir(parents=True)
    (tmp_path / "raybench" / "sandboxes").mkdir()
    (room / "recipes.py").write_bytes(Path(recipes.__file__).read_bytes())
    done = subprocess.run(
        [sys.executable, "-c", "import recipes; print(recipes.folder())"],
        env={"PYTHONPATH": str(room)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(tmp_path / "raybench" / "sandboxes")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_list_names_every_library_once_for_every_machine(machine: str) -> None:
    wanted = recipes.pins(recipes.scientific_list().read_text(), machine)
    assert set(LIBRARIES) <= set(wanted)
    # SciCode's own solutions call what scipy 1.14 has no more.
    assert (wanted["numpy"], wanted["scipy"]) == ("1.26.4", "1.13.1")
    assert wanted["h5py"] == ("3.11.0" if machine == "x86_64" else "3.12.1")


def test_remarks_and_other_machines_lines_are_passed_over() -> None:
    text = "# of ours\n\na==1  # via b\nb.c==2.0.post1 ; platform_machine != 'x86_64'\n"
    assert recipes.pins(text, "x86_64") == {"a": "1"}
    assert recipes.pins(text, "aarch64") == {"a": "1", "b.c": "2.0.post1"}


@pytest.mark.parametrize("line", ["a>=1", "a", "a==1 ; python_version < '3.12'", "-r other.txt"])
def test_what_pins_nothing_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is not NAME==VERSION"):
        recipes.pins(f"b==1\n{line}\n")


def test_the_settings_for_the_image_name_what_the_image_holds() -> None:
    conf = cli.check(cli.compose(["+experiment=autobench", "roster=simulated", "sandbox=image"]))
    dockerfile = (recipes.folder() / "Dockerfile").read_text()
    for python in (conf.sandbox.python, conf.sandbox.scientific_python):
        assert python is not None
        folder, _, name = python.partition("/bin/")
        assert name in ("python", "python3.12")
        assert f" {folder}" in dockerfile
    assert conf.sandbox.backend == "auto"
