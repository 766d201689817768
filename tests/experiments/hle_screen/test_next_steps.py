"""What a screening tells people to do next: after each round, and when nothing waits."""

import json
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from refusals import refused
from screening import batch, configured, fill, private_sheet, rows, screened
from statements import code, values

from raybench import benchmarks, cli
from raybench.config import Config, DataConf
from raybench.errors import Code
from raybench.experiments.parts.outcome import Outcome
from raybench.pipeline import datasets, screenings
from raybench.pipeline.datasets import Selection

MARKS = dict.fromkeys("abcdefgh", "ww")
ROUNDS = {"Round 1", "Round 2", "Round 3", "To audit"}
public = partial(configured, private=0.0)


def handed_in(folder: Path, *sheets: str, **changes: object) -> Outcome:
    config = public(folder, None, reviewed=list(sheets), judges=[], **changes)
    return screened(config, {})[0]


def composed(command: str) -> Any:
    """Return the configuration that a command asks for, as a shell would split it."""
    command = command.replace("ROSTER", "simulated").replace("JUDGE", "sim-judge")
    program, *arguments = shlex.split(command)
    assert (program, arguments[:2]) == ("python", ["-m", "raybench"])
    return cli.compose(cli.with_tables(cli.at_home(arguments[2:])))


def asked(outcome: Outcome) -> set[str]:
    return ROUNDS & outcome.notes.keys()


def test_each_stage_tells_its_own_next_step(tmp_path: Path) -> None:
    config = public(tmp_path, rows("a", "b"))
    outcome, run = screened(config, MARKS)
    assert asked(outcome) == {"Round 1"}
    first_round = values(outcome.notes["Round 1"])
    assert (first_round["questions"], first_round["rows"]) == (2, 2)
    assert not {"Exam", "Next", "Declined"} & outcome.notes.keys()

    first = fill(run / "review.csv", {"a": "accept 5"})
    outcome = handed_in(tmp_path, first)
    assert asked(outcome) == {"Round 1", "Round 2"}, "nobody has reviewed b"
    assert values(outcome.notes["Round 1"])["questions"] == 1
    assert values(outcome.notes["Round 2"])["questions"] == 1
    assert "Exam" not in outcome.notes

    (sheet,) = values(outcome.notes["Sheets"])["sheets"]
    outcome = handed_in(
        tmp_path, fill(Path(sheet), {"b": "accept 4"}, dict.fromkeys("ab", "accept"))
    )
    assert not asked(outcome) and not {"Sheets", "Hand in"} & outcome.notes.keys()
    assert code(outcome.notes["Next"]) == "next.no_reviews"
    assert values(outcome.notes["Exam"])["hint"] == screenings.TO_FILL_IN
    exam = composed(values(outcome.notes["Exam"])["command"])
    assert (exam.experiment, exam.data.source) == ("hle", "rolling")
    assert exam.data.dir == config.hle_screen.dataset
    assert exam.runs_dir == config.runs_dir


def test_where_nothing_passes_there_is_nothing_to_review(tmp_path: Path) -> None:
    outcome, _ = screened(public(tmp_path, rows("a")), {"a": "RR"})
    assert code(outcome.notes["Next"]) == "next.none_passed"
    assert not asked(outcome) and "Exam" not in outcome.notes


def test_the_command_takes_both_sheets_and_stands_in_the_guides(tmp_path: Path) -> None:
    config = configured(tmp_path, rows(*"abcdefgh"), private=0.5)
    outcome, run = screened(config, MARKS)
    sheets = [str(run / "review.csv"), str(private_sheet(config, run))]
    assert values(outcome.notes["Sheets"])["sheets"] == sheets
    assert outcome.about["screening"]["sheets"] == sheets
    command = values(outcome.notes["Hand in"])["command"]
    told = composed(command)
    assert told.hle_screen.reviewed == sheets
    assert told.hle_screen.dataset == config.hle_screen.dataset
    for sheet in sheets:
        guide = Path(sheet).with_name("review.md")
        assert command in guide.read_text()
        assert str(guide) in outcome.notes["Sheets"]


@pytest.mark.parametrize("name", ["a b", "a,b", "[a]", "it's", 'say "a"', "ä$1", "dataset=b"])
def test_commands_are_ready_for_a_shell_wherever_files_lie(name: str) -> None:
    sheets = [f"/tmp/{name}/review.csv", f"{name}-2.csv"]
    told = composed(screenings.hand_in_command(sheets, dataset=name, runs_dir=f"{name}/runs"))
    assert told.hle_screen.reviewed == sheets
    assert (told.hle_screen.dataset, told.runs_dir) == (name, f"{name}/runs")
    exam = composed(screenings.exam_command(name, runs_dir="runs"))
    assert (exam.data.dir, exam.runs_dir) == (name, "runs")


def test_what_has_a_default_is_left_out_of_commands() -> None:
    told = screenings.hand_in_command(["a.csv"], dataset="runs/hle_rolling", runs_dir="runs")
    assert shlex.split(told)[-1] == "reviewed=[a.csv]"
    other = screenings.hand_in_command(["a.csv"], dataset="mine/hle_rolling", runs_dir="mine")
    assert composed(other).hle_screen.dataset == "mine/hle_rolling"


def test_questions_that_reviewers_did_not_accept_are_named_with_the_way_back(
    tmp_path: Path,
) -> None:
    _, run = screened(public(tmp_path, rows(*"abcd")), MARKS)
    first = {"a": "revise 5", "b": "accept 3", "c": "reject 0", "d": "accept 5"}
    outcome = handed_in(tmp_path, fill(run / "review.csv", first))
    told = values(outcome.notes["Declined"])
    assert told["questions"] == {"revise": ["a"], "low_score": ["b"], "rejected": ["c"]}
    assert told["hint"] == screenings.TO_FILL_IN
    back = composed(told["command"])
    assert back.hle_screen.candidates == "FILE"
    assert back.hle_screen.dataset == str(tmp_path / "set")
    # As the line says: unchanged they are refused, each with its id and state.
    again = batch(public(tmp_path, [row | {"id": f"new-{row['id']}"} for row in rows(*"abc")]))
    reasons = [values(it.candidate.reasons[0]) for it in again.invalid]
    assert [(it["id"], it["state"]) for it in reasons] == [
        ("a", "revise"), ("b", "low_score"), ("c", "rejected"),
    ]  # fmt: skip
    assert len(again.kinds()) == 3
    # A changed version comes back under its id, and starts over.
    changed = [row | {"answer": "43"} for row in rows(*"abc")]
    outcome, _ = screened(public(tmp_path, changed), MARKS)
    assert "Declined" not in outcome.notes
    assert outcome.about["screening"]["states"] == {"passed_panel": 3, "first_round": 1}


def test_reviews_that_need_not_be_made_are_not_asked_for(tmp_path: Path) -> None:
    outcome, _ = screened(public(tmp_path, rows("a")), MARKS)
    required = values(outcome.notes["Sheets"])["optional"]
    outcome, _ = screened(public(tmp_path, rows("b"), review="skip"), MARKS)
    assert "review=skip" in values(outcome.notes["Sheets"])["optional"] != required
    assert not asked(outcome)
    # What an audit draws is solved all the same.
    outcome, _ = screened(public(tmp_path, rows("c"), review="skip", audit=1), MARKS)
    assert asked(outcome) == {"To audit"}


def test_approved_questions_are_called_the_same_before_and_after_they_are_published(
    tmp_path: Path,
) -> None:
    config = configured(tmp_path, rows(*"abcdefgh"), private=0.5)
    _, run = screened(config, MARKS)
    accept = dict.fromkeys(MARKS, "accept 5")
    sheets = [fill(it, accept, accept) for it in (run / "review.csv", private_sheet(config, run))]
    handing_in = configured(tmp_path, None, reviewed=sheets, judges=[])
    before = values(batch(handing_in).standing.register.note(batch(handing_in).reviews))
    outcome, _ = screened(handing_in, {})
    after = values(outcome.notes["Reviews"])
    assert before["states"] == {"approved": 8}
    assert set(after["states"]) == {"published", "held_out"}
    assert before["outcomes"] == after["outcomes"]
    assert sorted(after["outcomes"].values()) == sorted(after["states"].values())
    revision = values(outcome.notes["Revision"])
    assert str(tmp_path / "set" / "private" / "0001") in revision["held_out"]
    assert "late" not in revision["held_out"], "there is none"


def test_a_question_that_stays_published_without_reviews_is_not_called_declined(
    tmp_path: Path,
) -> None:
    _, run = screened(public(tmp_path, rows("a", "b"), review="skip"), MARKS)
    sheet = fill(run / "review.csv", {"a": "revise 4", "b": "reject 0"})
    outcome = handed_in(tmp_path, sheet, review="skip")
    told = values(outcome.notes["Declined"])["questions"]
    assert told == {"revise": [], "low_score": [], "rejected": ["b"]}
    assert outcome.about["screening"]["states"]["published"] == 1


def test_a_revision_that_only_holds_out_names_an_exam_over_what_it_holds_out(
    tmp_path: Path,
) -> None:
    config = configured(tmp_path, rows("a"), private=1.0)
    _, run = screened(config, MARKS)
    both = {"a": "accept 4"}
    outcome = handed_in(tmp_path, fill(private_sheet(config, run), both, both))
    told = values(outcome.notes["Exam"])
    assert (told["part"], told["hint"]) == ("private", screenings.TO_FILL_IN)
    assert composed(told["command"]).data.dir == str(tmp_path / "set" / "private" / "0001")


# --------------------------------------------------------------------------------- too early


def exam(folder: Path, place: Path | None = None, source: str = "rolling") -> None:
    """Prepare an exam over a dataset, next to the screenings of these tests."""
    datasets.prepare(
        [benchmarks.load("hle")],
        DataConf(source=source, dir=str(place or folder / "set")),
        Selection(),
        folder / "exam",
        runs_dir=folder / "runs",
    )


def recorded(config: Config, marks: dict[str, str]) -> Outcome:
    """Screen candidates and leave the results that a finished run leaves."""
    outcome, run = screened(config, marks)
    told = {"run": {"screening": outcome.about["screening"]}}
    (run / "results.json").write_text(json.dumps(told))
    return outcome


def test_an_exam_before_the_reviews_names_the_sheets_to_hand_in(tmp_path: Path) -> None:
    outcome = recorded(public(tmp_path, rows("a")), MARKS)
    command = values(outcome.notes["Hand in"])["command"]
    with refused("data.unreviewed", "data.dir", given=str(tmp_path / "set")) as caught:
        exam(tmp_path)
    fix = caught.value.fix or ""
    assert command in fix and screenings.TO_FILL_IN not in fix, "there is nothing to replace"
    # The same where the exam looks at another folder, in which nothing was screened.
    other = tmp_path / "other"
    with refused("data.missing", "data.dir", given=str(other)) as caught:
        exam(tmp_path, other)
    fix = caught.value.fix or ""
    assert command in fix and fix.count(screenings.TO_FILL_IN) == 1
    dataset, runs_dir = str(tmp_path / "set"), str(tmp_path / "runs")
    assert screenings.exam_command(dataset, runs_dir=runs_dir) in fix


def test_an_exam_over_another_folder_is_shown_the_published_questions(tmp_path: Path) -> None:
    recorded(public(tmp_path, rows("a"), review="skip"), MARKS)
    other = tmp_path / "other"
    with refused("data.missing", "data.dir", given=str(other)) as caught:
        exam(tmp_path, other)
    fix = caught.value.fix or ""
    dataset, runs_dir = str(tmp_path / "set"), str(tmp_path / "runs")
    assert screenings.exam_command(dataset, runs_dir=runs_dir) in fix
    assert fix.count(screenings.TO_FILL_IN) == 1
    assert "reviewed=" not in fix


@pytest.mark.parametrize(
    ("marks", "asked_for"), [({"a": "RR"}, "candidates=FILE"), (MARKS, "'reviewed=[SHEET]'")]
)
def test_without_sheets_to_hand_in_the_words_to_replace_are_told_once(
    tmp_path: Path, marks: dict[str, str], asked_for: str
) -> None:
    """Nothing waits for a review and nothing is published, or the sheets are gone."""
    for sheet in recorded(public(tmp_path, rows("a")), marks).about["screening"]["sheets"]:
        Path(sheet).unlink()
    cases: list[tuple[str, Code]] = [("set", "data.unreviewed"), ("other", "data.missing")]
    for given, wrong in cases:
        with refused(wrong, "data.dir") as caught:
            exam(tmp_path, tmp_path / given)
        fix = caught.value.fix or ""
        assert asked_for in fix and fix.count(screenings.TO_FILL_IN) == 1
        assert fix.count("reviewed=") == asked_for.count("reviewed=")


def test_the_newest_screening_of_a_dataset_counts_and_odd_results_do_not(tmp_path: Path) -> None:
    config = public(tmp_path, rows("a"))
    recorded(config, MARKS)
    runs = tmp_path / "runs" / "hle_screen"
    for name, text in (("2999", "{"), ("2998", '{"run": {}}'), ("2997", "[]")):
        (runs / name).mkdir()
        (runs / name / "results.json").write_text(text)
    (found,) = screenings.find_datasets(tmp_path / "runs")
    assert (found.folder, found.waits, found.published) == (config.hle_screen.dataset, True, False)
    assert len(found.sheets) == 1
    assert screenings.find_datasets(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("held_out", "full", "empty"),
    [(0.0, "revisions", ("private", "late")), (1.0, "private", ("revisions", "late"))],
)
def test_a_part_without_questions_names_the_parts_that_have_some(
    tmp_path: Path, held_out: float, full: str, empty: tuple[str, str]
) -> None:
    screened(configured(tmp_path, rows("a"), private=held_out, review="skip"), MARKS)
    for part in empty:
        place = tmp_path / "set" / part / "0001"
        with refused("data.missing", "data.dir", given=str(place)) as caught:
            exam(tmp_path, place, source="hub")
        assert f"data.dir={tmp_path / 'set' / full / '0001'}" in (caught.value.fix or "")
