"""What a screening tells before it asks anybody: its plan, and mistakes."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from command import run_command
from hle_rows import exact
from refusals import refused

from raybench import cli
from raybench.config import Config
from raybench.errors import Code, ConfigurationError
from raybench.experiments import hle_screen
from raybench.tracking.plan import describe

MODELS = ", ".join(f"{{name: {name}, engine: simulated}}" for name in "abc")


def configured(*overrides: str) -> Config:
    """Check what a command line says; three stand-ins are the panel."""
    roster = ["roster=simulated", f"roster.models=[{MODELS}]", "runs_dir=/tmp/none"]
    named = ["+experiment=hle_screen", *roster, "dataset=/tmp/none/look", *overrides]
    return cli.check(cli.compose(cli.at_home(named)))


def planned(*overrides: str) -> str:
    return describe(hle_screen.plan(configured(*overrides)))


def test_the_plan_says_how_many_candidates_are_valid_and_what_is_asked() -> None:
    told = planned("candidates=samples", "judges=[a]", "repeats=2", "dry_run=true")
    assert "24 candidates in samples: 15 valid, 9 invalid" in told
    assert "hle: 15 questions × 2 from samples" in told
    assert "Units       90 units" in told
    assert "hle: judged by a" in told
    assert "the methodology counts" not in told


def test_the_plan_of_a_check_asks_nobody() -> None:
    told = planned("candidates=samples", "validate=true", "dry_run=true")
    assert "Units       24 candidates" in told
    assert "candidates are checked" in told
    assert "no model is asked" in told


def test_a_limit_is_of_the_valid_ones() -> None:
    told = planned("candidates=samples", "judges=[a]", "limit=3", "dry_run=true")
    assert "hle: 3 questions × 1 from samples" in told


CAVEATS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "one model": (("roster.models=[{name: a, engine: simulated}]",), "a panel of one model: of"),
    "itself": (("judges=[a]",), "a judges itself among others"),
    "themselves": (("judges=[a,b]",), "a and b judge themselves among others"),
    "same": (("repeats=3",), "at temperature 0 attempts repeat one another: 3 of a, b, c at a"),
    "own": (
        ("repeats=3", "temperature=null"),
        "at temperature 0 attempts repeat one another: 3 of a, b, c at a",
    ),
    "once": (("rule=worse_than_chance",), "and each model has one at a question: ask for more"),
}


@pytest.mark.parametrize("name", CAVEATS)
def test_what_the_settings_keep_it_from_telling_is_told_before(name: str) -> None:
    overrides, expected = CAVEATS[name]
    outside = "+roster.judges=[{name: j, engine: simulated}]"
    judged = () if "judges" in overrides[0] else (outside, "judges=[j]")
    told = planned("candidates=samples", "dry_run=true", *judged, *overrides)
    assert expected in " ".join(told.split())
    others = [it for it, (_, caveat) in CAVEATS.items() if caveat != expected]
    assert not [it for it in others if CAVEATS[it][1] in " ".join(told.split())]


def test_settings_that_keep_it_from_nothing_are_not_told_of() -> None:
    told = planned(
        *("candidates=samples", "dry_run=true", "repeats=3", "temperature=0.7"),
        *("+roster.judges=[{name: j, engine: simulated}]", "judges=[j]", "rule=worse_than_chance"),
    )
    assert not [caveat for _, caveat in CAVEATS.values() if caveat in " ".join(told.split())]


def test_it_publishes_where_the_exam_reads() -> None:
    config = cli.compose(["+experiment=hle_screen", "runs_dir=/tmp/none"])
    assert config.hle_screen.dataset == "/tmp/none/hle_rolling"
    rolling = cli.compose(["data=rolling", "runs_dir=/tmp/none"])
    assert rolling.data.dir == "/tmp/none/hle_rolling"


MISTAKES: Mapping[str, tuple[tuple[str, ...], Code, str, object]] = {
    "no candidates": (("judges=[a]",), "setting.missing", "hle_screen.candidates", None),
    "no judge": (
        ("candidates=samples", "judges=[]"), "setting.missing", "hle_screen.judges", None
    ),
        "three judges": (
        ("judges=[a,b,c]", "candidates=samples"), "setting.range", "hle_screen.judges", 3
    ),
    "nobody": (("judges=[x]", "candidates=samples"), "setting.choice", "hle_screen.judges", "x"),
    "rule": (
        ("rule=stump", "candidates=samples", "judges=[a]"),
        "setting.choice", "hle_screen.rule", "stump",
    ),
    "prompt": (
        ("prompt=singel", "candidates=samples"), "setting.choice", "hle_screen.prompt", "singel"
    ),
    "share": (
        ("private=20", "candidates=samples"), "setting.range", "hle_screen.private", 20.0
    ),
    "reviewers": (
        ("reviewers=4", "candidates=samples"), "setting.range", "hle_screen.reviewers", 4
    ),
    "dataset": (
        ("dataset=' '", "candidates=samples"), "setting.missing", "hle_screen.dataset", None
    ),
    "samples among one's own": (
        ("candidates=samples", "judges=[a]", "dataset=runs/hle_rolling"),
        "setting.conflict", "hle_screen.dataset", "runs/hle_rolling",
    ),
    "data": (("data=samples", "candidates=samples"), "setting.conflict", "data", None),
    "no list": (
        ("reviewed=a.csv", "candidates=samples"), "setting.type", "hle_screen.reviewed", None
    ),
    "repeats": (
        ("repeats=0", "candidates=samples"), "setting.range", "hle_screen.repeats", 0
    ),
    "limit": (("limit=0", "candidates=samples"), "setting.range", "hle_screen.limit", 0),
    "no file": (
        ("candidates=none.jsonl", "judges=[a]"),
        "file.missing", "hle_screen.candidates", "none.jsonl",
    ),
}  # fmt: skip
PROPOSED = {"rule": "stumps", "prompt": "single"}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_mend(name: str) -> None:
    overrides, code, setting, given = MISTAKES[name]
    with refused(code, setting, given=given, kind=ConfigurationError) as caught:
        planned(*overrides)
    if name in PROPOSED:
        assert f"'{PROPOSED[name]}'" in (caught.value.fix or "")


def test_where_no_candidate_is_valid_nothing_begins(tmp_path: Path) -> None:
    rows = [json.dumps(exact(name, rationale="")) for name in "ab"]
    (tmp_path / "in.jsonl").write_text("\n".join(rows) + "\n")
    screen = (
        "+experiment=hle_screen", "roster=simulated", f"roster.models=[{MODELS}]", "judges=[a]",
        "candidates=in.jsonl",
    )  # fmt: skip
    done = run_command(*screen, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "  - 2: 'rationale' " in done.stderr
    assert " (in.jsonl, line 1, in.jsonl, line 2)" in done.stderr
    assert not (tmp_path / "runs").exists()
    checked = run_command(*screen, "validate=true", cwd=tmp_path)
    assert checked.returncode == 1
    assert "in.jsonl, line 1 (a): 'rationale' " in checked.stdout
