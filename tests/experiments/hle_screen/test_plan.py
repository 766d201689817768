"""What a screening tells before it asks anybody: its plan, and mistakes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from command import run_command
from hle_rows import exact
from refusals import refused
from statements import code, deviating, the, values

from raybench import cli
from raybench.config import Config
from raybench.errors import Code, ConfigurationError
from raybench.experiments import hle_screen
from raybench.statements import Statement
from raybench.tracking.plan import awake, describe

MODELS = ", ".join(f"{{name: {name}, engine: simulated}}" for name in "abc")


def configured(*overrides: str) -> Config:
    """Check what a command line says; three stand-ins are the panel."""
    roster = ["roster=simulated", f"roster.models=[{MODELS}]", "runs_dir=/tmp/none"]
    named = ["+experiment=hle_screen", *roster, "dataset=/tmp/none/look", *overrides]
    return cli.check(cli.compose(cli.with_tables(cli.at_home(named))))


def planned(*overrides: str) -> str:
    return describe(hle_screen.plan(configured(*overrides)))


def test_the_plan_says_how_many_candidates_are_valid_and_what_is_asked() -> None:
    plan = hle_screen.plan(
        configured("candidates=samples", "judges=[a]", "repeats=2", "dry_run=true")
    )
    counts = {"candidates": 24, "origin": "samples", "valid": 15, "invalid": 9}
    assert counts.items() <= the("screening.candidates", plan.notes).items()
    asked = {"benchmark": "hle", "questions": 15, "repeats": 2, "origin": "samples"}
    assert asked.items() <= the("plan.asked", plan.notes).items()
    assert the("plan.judged", plan.notes)["judges"] == "a"
    assert "Units       90 units" in describe(plan)
    assert "methodology" not in describe(plan)


def test_what_a_screening_deviates_in_is_named_and_no_scope_as_it_asks_candidates() -> None:
    given = ("candidates=samples", "judges=[a]", "dry_run=true", "limit=3")
    assert the("deviation.none", hle_screen.plan(configured(*given)).notes)["scope"] == ""
    public = hle_screen.plan(configured(*given, "private=0")).notes
    assert deviating(public) == {"hle_screen.private": 0.0}
    late = hle_screen.plan(configured(*given, "private=0", "late=true")).notes
    assert deviating(late) == {}, "all late contributions are held out"


def test_the_plan_of_a_check_asks_nobody() -> None:
    plan = hle_screen.plan(configured("candidates=samples", "validate=true", "dry_run=true"))
    assert "Units       24 candidates" in describe(plan)
    assert plan.calls.startswith("0: ") and code(awake(plan)) == "plan.no_engine"


def test_a_limit_is_of_the_valid_ones() -> None:
    given = configured("candidates=samples", "judges=[a]", "limit=3", "dry_run=true")
    asked = the("plan.asked", hle_screen.plan(given).notes)
    assert (asked["questions"], asked["repeats"]) == (3, 1)


ALIKE = {"repeats": 3, "models": "a, b, c"}
CAVEATS: Mapping[str, tuple[tuple[str, ...], str, Mapping[str, object]]] = {
    "one model": (
        ("roster.models=[{name: a, engine: simulated}]",), "screening.one_model", {}
    ),
    "itself": (("judges=[a]",), "screening.judges_itself", {"judges": "a"}),
    "themselves": (("judges=[a,b]",), "screening.judges_itself", {"judges": "a and b"}),
    "same": (("repeats=3",), "screening.alike", ALIKE),
    "own": (("repeats=3", "temperature=null"), "screening.alike", ALIKE),
    "once": (("rule=worse_than_chance",), "screening.one_attempt", {}),
}  # fmt: skip


def caveats(*overrides: str) -> list[Statement]:
    """Return what a plan says about the screening but how many candidates there are."""
    notes = hle_screen.plan(configured("candidates=samples", "dry_run=true", *overrides)).notes
    of = (it for it in notes if isinstance(it, Statement))
    always = ("screening.candidates", "screening.review", "screening.no_search")
    return [it for it in of if it.code.startswith("screening.") and it.code not in always]


@pytest.mark.parametrize("name", CAVEATS)
def test_what_the_settings_keep_it_from_telling_is_told_before(name: str) -> None:
    overrides, expected, about = CAVEATS[name]
    outside = "+roster.judges=[{name: j, engine: simulated}]"
    judged = () if "judges" in overrides[0] else (outside, "judges=[j]")
    (told,) = caveats(*judged, *overrides)
    assert told.code == expected and about.items() <= told.values.items()


def test_settings_that_keep_it_from_nothing_are_not_told_of() -> None:
    assert not caveats(
        *("repeats=3", "temperature=0.7"),
        *("+roster.judges=[{name: j, engine: simulated}]", "judges=[j]", "rule=worse_than_chance"),
    )


def test_the_plan_says_whether_anything_is_published_without_review() -> None:
    given = ("candidates=samples", "judges=[a]", "dry_run=true")
    required, skipped = (
        {
            it.code
            for it in hle_screen.plan(configured(*given, *more)).notes
            if isinstance(it, Statement)
        }
        for more in ((), ("review=skip",))
    )
    assert "screening.review" in required and "screening.no_review" in skipped


def test_the_plan_says_whether_a_search_is_tried() -> None:
    given = ("candidates=samples", "judges=[a]", "dry_run=true")
    told = [it for it in hle_screen.plan(configured(*given)).notes if isinstance(it, Statement)]
    assert "screening.no_search" in {it.code for it in told}
    plan = hle_screen.plan(configured(*given, "search={c: b}"))
    assert set(values(the_statement(plan.notes, "screening.search"))) == {"pairs"}


def the_statement(notes: Sequence[str], named: str) -> Statement:
    (found,) = [it for it in notes if isinstance(it, Statement) and it.code == named]
    return found


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
    "review": (
        ("review=skipped", "candidates=samples"), "setting.choice", "hle_screen.review", "skipped"
    ),
    "nobody searches": (
        ("search={x: a}", "candidates=samples", "judges=[a]"),
        "setting.choice", "hle_screen.search", "x",
    ),
    "searches and does not": (
        ("search={a: b, b: c}", "candidates=samples", "judges=[a]"),
        "setting.conflict", "hle_screen.search", "b",
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
PROPOSED = {"rule": "stumps", "review": "skip", "prompt": "single"}


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
    assert " (in.jsonl, line 1 (a); in.jsonl, line 2 (b))" in done.stderr
    assert not (tmp_path / "runs").exists()
    checked = run_command(*screen, "validate=true", cwd=tmp_path)
    assert checked.returncode == 1
    assert "in.jsonl, line 1 (a): 'rationale' " in checked.stdout
