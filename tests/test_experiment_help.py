"""`+experiment=NAME --help`: the experiment's own settings, a line each, or the mistake."""

import json
import re
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import get_type_hints

import pytest
from command import run_command

from raybench import cli
from raybench.config import Config
from raybench.experiment_help import comments


def shown(text: str) -> dict[str, str]:
    """Return what the help says of each setting: its value and its line."""
    lines = re.finditer(r"^  (\w+)=(.*(?:\n {27}.*)?)$", text, re.MULTILINE)
    return {line[1]: line[2] for line in lines}


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
    for line, following in pairwise(done.stdout.splitlines()):
        if named := re.match(r"  (\w+)=", line):  # all texts begin in one column
            row = following if following[:27].isspace() else line
            first = described[named[1]].split()[0]
            assert row[26] == " " and row[27:].startswith(first), line


def test_values_are_the_experiments_own_and_the_roster_tells_what_it_changes(
    tmp_path: Path,
) -> None:
    done = run_command("--help", "+experiment=index", "limit=7", cwd=tmp_path)
    own = shown(done.stdout)
    defaults = {"limit": "7", "temperature": "0.0", "max_tokens": "4096", "judge_chars": "null"}
    assert {name: own[name].split()[0] for name in defaults} == defaults
    (line,) = (it for it in done.stdout.splitlines() if "roster=embedded" in it)
    changed = {"temperature=null", "max_tokens=512", "judge_chars=350", "checker=smollm2-judge"}
    assert changed <= {*line.replace(",", "").split()}

    other = run_command("--help", "+experiment=index", "limit=7", "roster=simulated", cwd=tmp_path)
    assert shown(other.stdout) == own
    (line,) = (it for it in other.stdout.splitlines() if "roster=simulated" in it)
    assert line.endswith("checker=sim-judge, judges=[sim-judge]")
    assert list(tmp_path.iterdir()) == []


def test_what_the_command_line_sets_is_not_the_rosters(tmp_path: Path) -> None:
    done = run_command("--help", "+experiment=index", "max_tokens=512", cwd=tmp_path)
    assert shown(done.stdout)["max_tokens"].startswith("512 ")
    (line,) = (it for it in done.stdout.splitlines() if "roster=embedded" in it)
    assert "judge_chars=350" in line and "max_tokens" not in line


@pytest.mark.parametrize(
    ("wrong", "settings"),
    [
        (["judges=[nobody]"], {"index.judges"}),
        (
            ["judges=[nobody]", "checker=nobody", "benchmarks=[mmlu]", "limit=0"],
            {"index.judges", "index.checker", "index.benchmarks", "index.limit"},
        ),
    ],
)
def test_wrong_values_are_all_told_with_and_without_the_help(
    wrong: list[str], settings: set[str], tmp_path: Path
) -> None:
    arguments = ["+experiment=index", "roster=simulated", *wrong]
    for flags in (["--help"], []):
        done = run_command(*arguments, *flags, cwd=tmp_path)
        assert done.returncode == 2
        assert bool(shown(done.stdout)) == bool(flags)
        told = re.findall(r"index\.\w+", done.stderr)
        assert {*told} == settings


def test_help_asks_for_nothing_that_only_a_run_needs(tmp_path: Path) -> None:
    arguments = ["+experiment=hle", "roster=endpoint"]  # which takes two keys
    assert run_command(*arguments, cwd=tmp_path).returncode == 2
    done = run_command(*arguments, "--help", cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["+experiment=indx"], "'index'"),
        (["+experiment=indx", "roster=nofile.yaml"], "'index'"),
        (["+experiment=index", "+experiment=hle"], "'experiment'"),
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


@pytest.mark.parametrize(
    ("wrong", "settings"),
    [
        (["rooster=1"], ["rooster"]),
        (["index.limt=3", "limit=many"], ["index.limit", "index.limt"]),
        (["limt=3", "judges=[nobody]"], ["index.judges", "limt"]),
        (["roster=nofile.yaml"], ["roster"]),
        (["roster=nope", "index.limit=many"], ["index.limit", "roster"]),
        (["roster=simulated", "roster=nope"], ["roster"]),
        (["benchmarks"], ["index.benchmarks"]),
        (["--config-dir", "nofolder"], ["--config-dir"]),
    ],
)
def test_the_help_stands_before_every_mistake_where_the_experiment_is_known(
    wrong: list[str], settings: list[str], tmp_path: Path
) -> None:
    given = ["+experiment=index", "temperature=0.7", *wrong]
    for order in ([*given, "--help"], ["--help", *given]):
        done = run_command(*order, cwd=tmp_path)
        assert done.returncode == 2
        assert shown(done.stdout)["limit"].startswith("null ")
        if "--config-dir" not in wrong:  # what is right stays
            assert shown(done.stdout)["temperature"].startswith("0.7 ")
        told = run_command("--json", *order, cwd=tmp_path)
        found = json.loads(told.stdout[told.stdout.index('{"') :].splitlines()[0])["error"]
        assert sorted(it["setting"] for it in found["problems"]) == settings


@pytest.mark.parametrize("name", ["index", "hle", "hle_screen"])
def test_the_judge_of_the_roster_is_the_default_and_not_the_empty_list(
    name: str, tmp_path: Path
) -> None:
    judged = ["judges", "checker"] if name == "index" else ["judges"]
    plain = shown(run_command(f"+experiment={name}", "--help", cwd=tmp_path).stdout)
    assert all(plain[it].startswith("<") and "roster.judges" in plain[it] for it in judged)
    set_ = [f"{it}={'null' if it == 'checker' else '[]'}" for it in judged]
    own = shown(run_command(f"+experiment={name}", *set_, "--help", cwd=tmp_path).stdout)
    assert [own[it].split()[0] for it in judged] == [it.partition("=")[2] for it in set_]
    others = {*plain} - {*judged}
    assert {it: plain[it] for it in others} == {it: own[it] for it in others}
    assert not any(plain[it].split("\n")[-1].endswith("…") for it in judged if name == "index")


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
