"""`+experiment=NAME --help`: the experiment's own settings, a line each, or the mistake."""

import re
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest
from command import run_command

from raybench import cli
from raybench.config import Config
from raybench.experiment_help import comments


def shown(text: str) -> dict[str, str]:
    """Return what the help says of each setting: its value and its line."""
    lines = (re.fullmatch(r"  (\w+)=(.*)", line) for line in text.splitlines())
    return {line[1]: line[2] for line in lines if line}


@pytest.mark.parametrize("name", sorted(cli.experiments()))
def test_every_setting_of_an_experiment_has_a_line_and_no_other_has(
    name: str, tmp_path: Path
) -> None:
    done = run_command(f"+experiment={name}", "--help", cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr
    assert done.stdout.startswith(f"+experiment={name}: {cli.experiments()[name]}\n")
    told = shown(done.stdout)
    assert {*told} == {field.name for field in fields(get_type_hints(Config)[name])}
    described = comments((cli.conf_dir() / name / "default.yaml").read_text(encoding="utf-8"))
    for setting, line in told.items():
        assert described.get(setting), f"{name}.{setting} has no comment in conf/{name}"
        assert described[setting].split()[0] in line


def test_values_are_those_that_are_set(tmp_path: Path) -> None:
    done = run_command("--help", "+experiment=index", "limit=7", "roster=simulated", cwd=tmp_path)
    told = shown(done.stdout)
    assert told["limit"].startswith("7 ")
    assert told["temperature"].startswith("0.0 ")
    assert told["judges"].startswith("[sim-judge]") and told["checker"].startswith("sim-judge ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["+experiment=index", "rooster=1"], "'rooster'"),
        (["+experiment=index", "index.limt=3"], "'index.limit'"),
        (["+experiment=index", "limit=many"], "'index.limit'"),
        (["+experiment=indx"], "'index'"),
        (["experiment=index"], "+experiment=index"),
        (["roster=nope"], "'nope'"),
    ],
)
def test_a_mistake_beside_it_is_told_in_our_own_words(
    arguments: list[str], named: str, tmp_path: Path
) -> None:
    first, *rest = arguments
    for order in ([*arguments, "--help"], ["--help", *arguments], [first, "--help", *rest]):
        done = run_command(*order, cwd=tmp_path)
        assert done.returncode == 2 and not done.stdout
        assert named in done.stderr
        assert "hydra" not in done.stderr.lower() and "Traceback" not in done.stderr


def test_a_comment_is_the_settings_own_or_that_above_it() -> None:
    text = """\
# The file's.
a: 1
# Of b
# and c.
b: 2
c: 3
d: [4]   # its own,
         # in two lines
e:
         # below it
  - x    # of an item
"""
    assert comments(text) == {
        "a": "",
        "b": "Of b and c.",
        "c": "Of b and c.",
        "d": "its own, in two lines",
        "e": "below it",
    }
