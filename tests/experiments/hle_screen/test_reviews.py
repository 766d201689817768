"""What reviewers do to a dataset: only what they approved in two rounds is published."""

import json
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hle_rows import exact
from refusals import refused
from screening import Row, batch, configured, fill, lines, private_sheet, rows, screened
from statements import code, the, values

from raybench import benchmarks
from raybench.benchmarks.parts.hle.screening import review
from raybench.config import Config, DataConf, ModelConf
from raybench.experiments.hle_screen import report
from raybench.experiments.hle_screen.register import Register
from raybench.experiments.parts.outcome import Outcome
from raybench.experiments.parts.questions import conditions
from raybench.pipeline import datasets, revisions
from raybench.pipeline.datasets import Selection
from raybench.stats import intervals
from raybench.tracking.leaderboard import alarms

MARKS = dict.fromkeys("abcdefgh", "ww")
public = partial(configured, private=0.0)


def handed_in(folder: Path, *sheets: str, **changes: Any) -> Outcome:
    """Return what a screening makes of review sheets, without candidates."""
    config = public(folder, None, reviewed=list(sheets), judges=[], **changes)
    outcome, _ = screened(config, {})
    return outcome


def sheets_of(outcome: Outcome) -> list[Path]:
    """Return the sheets that were written."""
    return [*map(Path, values(outcome.notes["Sheets"])["sheets"])]


def states(folder: Path) -> dict[str, str]:
    path = folder / "set" / "states.jsonl"
    return {it["id"]: it["state"] for it in map(json.loads, path.read_text().splitlines())}


def newest(folder: Path) -> revisions.Revision | None:
    return revisions.read(folder / "set")


def published(folder: Path) -> list[str]:
    there = newest(folder)
    return [str(row["id"]) for row in there.rows] if there else []


def asked(folder: Path, into: Path, **data: Any) -> datasets.Prepared:
    """Return what an exam over the dataset would ask."""
    conf = DataConf(**({"source": "rolling", "dir": str(folder / "set")} | data))
    return datasets.prepare([benchmarks.load("hle")], conf, Selection(), into)


def test_nothing_is_published_before_its_second_round_approves_it(tmp_path: Path) -> None:
    config = public(tmp_path, rows(*"abcdef"))
    outcome, run = screened(config, MARKS | {"e": "wR", "f": "we"})
    told = outcome.about["screening"]
    assert (told["accepted"], told["revision"], told["review"]) == (4, None, "required")
    assert told["states"] == {"candidate": 1, "passed_panel": 4, "rejected": 1}
    assert states(tmp_path) == {
        **dict.fromkeys("abcd", "passed_panel"), "e": "rejected", "f": "candidate",
    }  # fmt: skip
    passed = values(outcome.notes["Passed"])
    assert (passed["waiting"], passed["published"]) == (4, 0)
    assert code(outcome.notes["Revision"]) == "screening.no_revision"
    first = dict.fromkeys("ab", "accept 5") | {"c": "revise 5", "d": "accept 3"}
    outcome = handed_in(tmp_path, fill(run / "review.csv", first))
    assert newest(tmp_path) is None
    assert {key: states(tmp_path)[key] for key in "abcd"} == {
        "a": "first_round", "b": "first_round", "c": "revise", "d": "low_score",
    }  # fmt: skip
    # The next sheet asks for the second round alone, of what is good, and has what the first said.
    sheet = sheets_of(outcome)[0]
    text = sheet.read_text()
    assert len(text.splitlines()) == 1 + 2 and "score 5" in text
    outcome = handed_in(tmp_path, fill(sheet, {}, {"a": "accept", "b": "reject"}))
    assert published(tmp_path) == ["a"]
    assert (states(tmp_path)["a"], states(tmp_path)["b"]) == ("published", "rejected")
    revision = newest(tmp_path)
    assert revision is not None
    assert (revision.about["review"], revision.unreviewed) == ("required", frozenset())
    assert revision.about["simulated"], "the panel was, whoever publishes"
    assert outcome.about["screening"]["revision"] == 1
    stamped = asked(tmp_path, tmp_path / "exam")
    assert not stamped.notes
    (part,) = stamped
    about = conditions.about(part, 1, None)
    assert (about["review"], about["unreviewed"]) == ("required", 0)
    # The panel was simulated: results over the revision say so, whoever is asked.
    assert outcome.about["screening"]["simulated"] is True
    alarm = alarms({"run": {"data": {"hle": about}}, "simulated": False})
    assert the("alarm.simulated_questions", alarm) == {"benchmarks": "hle"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("reject 1", "revise 1"),
        ("accept 5", "revise 5"),
        ("accept 5", "reject 5"),
        ("accept 3", "accept 5"),
        ("accept 5", "accept 1"),
        ("", "accept 5"),
        ("accept 5", ""),
        ("", ""),
    ],
)
def test_rejected_low_unfinished_and_unreviewed_questions_never_enter(
    tmp_path: Path, first: str, second: str
) -> None:
    _, run = screened(public(tmp_path, rows("a", "b")), MARKS)
    turns = {"a": first, "b": "accept 4"}, {"a": second, "b": "accept 4"}
    handed_in(tmp_path, fill(run / "review.csv", *turns))
    assert published(tmp_path) == ["b"]


def test_what_reviewers_change_their_mind_about_leaves_and_waits_for_its_author(
    tmp_path: Path,
) -> None:
    _, run = screened(public(tmp_path, rows("a", "b")), MARKS)
    both = dict.fromkeys("ab", "accept 4")
    sheet = fill(run / "review.csv", both, both)
    handed_in(tmp_path, sheet)
    assert published(tmp_path) == ["a", "b"]
    handed_in(tmp_path, sheet)  # once more, and nothing changes
    assert revisions.newest(tmp_path / "set") == 1
    handed_in(tmp_path, fill(run / "review.csv", {}, {"a": "revise 4"}))
    assert (published(tmp_path), states(tmp_path)["a"]) == (["b"], "revise")
    # As it was it does not come back; mended it does, and starts over.
    (why,) = batch(public(tmp_path, rows("a"))).invalid[0].candidate.reasons
    assert code(why) == "screening.back"
    mended = [row | {"answer": "43"} for row in rows("a")]
    screened(public(tmp_path, mended), MARKS)
    assert (published(tmp_path), states(tmp_path)["a"]) == (["b"], "passed_panel")


def test_what_was_never_published_comes_back_mended_alone(tmp_path: Path) -> None:
    _, run = screened(configured(tmp_path, rows("a"), private=1.0), MARKS)
    sheet = private_sheet(configured(tmp_path, None), run)
    assert not (run / "review.csv").exists()
    # While it is reviewed, it is there already.
    assert [it.candidate.repeats[0][0] for it in batch(public(tmp_path, rows("a"))).invalid] == [
        "a"
    ]
    handed_in(tmp_path, fill(sheet, {"a": "revise 4"}))
    (why,) = batch(public(tmp_path, rows("a"))).invalid[0].candidate.reasons
    assert code(why) == "screening.not_approved"
    assert (values(why)["id"], values(why)["state"]) == ("a", "revise")
    mended = [row | {"answer": "43"} for row in rows("a")]
    outcome, second = screened(public(tmp_path, mended), MARKS)
    assert lines(outcome, "accepted")["a"]["private"], "it stays on its side"
    # The old sheet speaks of the old version.
    both = {"a": "accept 5"}
    handed_in(tmp_path, fill(sheet, both, both))
    assert (published(tmp_path), states(tmp_path)["a"]) == ([], "passed_panel")
    handed_in(tmp_path, fill(private_sheet(public(tmp_path, None), second), both, both))
    there = newest(tmp_path)
    assert there is not None and not there.public
    assert [row["answer"] for row in there.private] == ["43"]
    assert states(tmp_path)["a"] == "held_out"


def test_a_screening_that_was_killed_after_it_registered_ends_as_an_undisturbed_one(
    tmp_path: Path,
) -> None:
    config = public(tmp_path, rows("a", "b"))
    _, killed = screened(config, MARKS, finish=False)
    assert list(batch(config).valid) == ["a", "b"]
    outcome, run = screened(config, {})
    assert (run, outcome.about["screening"]["states"]) == (killed, {"passed_panel": 2})
    assert not batch(config).valid


def test_reviews_that_were_registered_before_a_kill_are_published_by_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, run = screened(public(tmp_path, rows("a")), MARKS)
    both = {"a": "accept 4"}
    sheet = fill(run / "review.csv", both, both)

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(revisions, "publish", killed)
        handed_in(tmp_path, sheet)
    assert Register.read(tmp_path / "set").approved == {"a"}
    screened(public(tmp_path, rows("b")), MARKS)
    assert published(tmp_path) == ["a"]


# --------------------------------------------------------------------------------- without review


def test_without_review_what_passed_is_published_and_stamped(tmp_path: Path) -> None:
    outcome, run = screened(public(tmp_path, rows("a", "b"), review="skip"), MARKS)
    there = newest(tmp_path)
    assert there is not None
    assert (there.about["review"], there.about["unreviewed"]) == ("skip", ["a", "b"])
    assert outcome.about["screening"]["review"] == "skip"
    assert code(outcome.notes["Review"]) == "screening.no_review"
    for data in ({}, {"source": "hub", "dir": str(there.folder)}):
        exam = asked(tmp_path, tmp_path / f"exam-{len(data)}", **data)
        told = the("data.unreviewed", exam.notes)
        assert (told["unreviewed"], told["by_older_version"]) == (2, False)
        (part,) = exam
        about = conditions.about(part, 1, None)
        assert (about["review"], about["unreviewed"]) == ("skip", 2)
        assert "older_version" not in about
    # The next revision with an approval has approved questions alone; the others wait for theirs.
    both = {"a": "accept 4"}
    outcome = handed_in(tmp_path, fill(run / "review.csv", both, both))
    assert (published(tmp_path), states(tmp_path)["b"]) == (["a"], "passed_panel")
    assert outcome.about["screening"]["back_to_review"] == ["b"]
    assert values(outcome.notes["Back to review"])["questions"] == 1
    there = newest(tmp_path)
    assert there is not None and there.about["review"] == "required"


def test_the_same_screening_is_concluded_again_without_review_and_asks_nobody(
    tmp_path: Path,
) -> None:
    config = public(tmp_path, rows("a"))
    _, run = screened(config, MARKS)
    config.hle_screen.review = "skip"
    outcome, again = screened(config, {})
    assert (again, published(tmp_path)) == (run, ["a"])
    assert outcome.about["screening"]["review"] == "skip"


def older(folder: Path, *keys: str) -> None:
    """Publish a revision as older versions did, who knew no approval."""
    revisions.publish(folder / "set", [exact(key) for key in keys], made=revisions.Made("old", 0))
    for path in (folder / "set").rglob("revision.json"):
        told: dict[str, Any] = json.loads(path.read_text())
        for name in ("version", "review", "unreviewed"):
            del told[name]
        path.write_text(json.dumps(told))


def test_revisions_of_older_versions_are_read_and_called_unreviewed(tmp_path: Path) -> None:
    older(tmp_path, "a")
    exam = asked(tmp_path, tmp_path / "exam")
    told = the("data.unreviewed", exam.notes)
    assert (told["unreviewed"], told["by_older_version"]) == (1, True)
    (part,) = exam
    about = conditions.about(part, 1, None)
    assert (about["review"], about["older_version"]) == ("skip", True)
    # They stay until a revision with approved questions follows, and are put on the sheets.
    _, run = screened(public(tmp_path, rows("b")), MARKS)
    assert published(tmp_path) == ["a"]
    assert states(tmp_path) == {"a": "published", "b": "passed_panel"}
    both = {"b": "accept 4"}
    handed_in(tmp_path, fill(run / "review.csv", both, both))
    assert (published(tmp_path), states(tmp_path)["a"]) == (["b"], "passed_panel")
    both = {"a": "accept 4"}
    handed_in(tmp_path, fill(run / "review.csv", both, both))
    assert sorted(published(tmp_path)) == ["a", "b"]
    assert asked(tmp_path, tmp_path / "first", revision=1).datasets[0].questions == 1


def test_an_exam_before_anything_is_approved_is_refused_with_what_waits(tmp_path: Path) -> None:
    with refused("data.missing", "data.dir"):
        asked(tmp_path, tmp_path / "none")
    screened(public(tmp_path, rows("a", "b")), MARKS)
    with refused("data.unreviewed", "data.dir", given=str(tmp_path / "set")):
        asked(tmp_path, tmp_path / "exam")


def test_what_anybody_may_read_has_nothing_of_the_questions(tmp_path: Path) -> None:
    secret: list[Row] = [row | {"answer": f"secret-{row['id']}"} for row in rows(*"abc")]
    _, run = screened(configured(tmp_path, secret, private=1.0), MARKS)
    config: Config = public(tmp_path, None)
    first: Mapping[str, str] = {"a": "accept 4", "b": "revise 2"}
    handed_in(tmp_path, fill(private_sheet(config, run), first, {"a": "accept"}))
    for path in (tmp_path / "set").rglob("*"):
        if path.is_file() and "private" not in path.parts:
            text = path.read_text()
            assert "secret" not in text and "look at" not in text


def test_a_register_that_was_changed_is_refused(tmp_path: Path) -> None:
    screened(public(tmp_path, rows("a")), MARKS)
    path = tmp_path / "set" / "private" / "register.jsonl"
    path.write_text(path.read_text().replace('"version": 1', '"version": 9'))
    with refused("file.unreadable", "hle_screen.dataset", given=str(path)):
        batch(public(tmp_path, rows("b")))


# --------------------------------------------------------------------------------- search


def searching(folder: Path, *keys: str, **changes: Any) -> Config:
    """Return a screening whose panel has two models, with a third that searches."""
    config = public(folder, rows(*keys), search={"web": "dull"}, **changes)
    config.roster.models.append(ModelConf("web", "simulated"))
    return config


def test_what_only_a_search_answers_is_audited_and_never_dropped_silently(tmp_path: Path) -> None:
    marks = {"a": "wwR", "b": "wwR", "c": "www", "d": "wwe", "e": "RwR"}
    outcome, run = screened(searching(tmp_path, *marks), marks)
    accepted = lines(outcome, "accepted")
    assert list(accepted) == ["a", "b", "c", "d"], "the one that searches is not of the panel"
    assert accepted["a"]["models"] == ("able", "dull")
    assert [it["searched"]["web"] for it in accepted.values()] == [True, True, False, None]
    assert outcome.about["screening"]["search"] == {
        "pairs": {"web": "dull"}, "checked": 4, "searchable": ["a", "b"], "unknown": 1,
    }  # fmt: skip
    assert set(outcome.metrics) == {"able", "dull"}
    section = next(it for it in outcome.sections if it.title == report.SEARCH)
    assert section.table is not None and list(section.table.rows) == [("web", "dull", 4, 2, 1)]
    both = dict.fromkeys("abcd", "accept 4")
    outcome = handed_in(tmp_path, fill(run / "review.csv", both, both))
    assert published(tmp_path) == ["c", "d"]
    assert {states(tmp_path)[key] for key in "ab"} == {"to_audit"}
    there = newest(tmp_path)
    assert there is not None and there.about["searched"] == 1
    sheet = sheets_of(outcome)[0]
    found = {"a": {"non_searchable": "yes"}, "b": {"non_searchable": "no"}}
    decided = {"a": "accept", "b": "reject"}
    handed_in(tmp_path, fill(sheet, {}, {}, decided, checks=found))
    assert sorted(published(tmp_path)) == ["a", "c", "d"]
    assert states(tmp_path)["b"] == "rejected"


def test_without_a_search_model_it_is_said(tmp_path: Path) -> None:
    outcome, _ = screened(public(tmp_path, rows("a"), review="skip"), MARKS)
    assert outcome.about["screening"]["search"] is None
    assert code(outcome.notes["Search"]) == "screening.no_search"
    there = newest(tmp_path)
    assert there is not None and there.about["searched"] == 0
    assert values(outcome.notes["Revision"])["unsearched"]


# --------------------------------------------------------------------------------- audits


def released(folder: Path, *keys: str) -> Path:
    """Publish questions that reviewers approved."""
    marks = dict.fromkeys(keys, "ww")
    _, run = screened(public(folder, rows(*keys)), marks)
    both = dict.fromkeys(keys, "accept 4")
    handed_in(folder, fill(run / "review.csv", both, both))
    return folder


def audits_of(outcome: Outcome) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = outcome.about["screening"]["audits"]
    return found


KEYS = tuple(f"q{number:02d}" for number in range(20))


def test_an_audit_draws_what_was_not_drawn_before_and_says_how_often_experts_disagree(
    tmp_path: Path,
) -> None:
    released(tmp_path, *KEYS)
    outcome = handed_in(tmp_path, audit=8)
    sheet = sheets_of(outcome)[0]
    there = [row for _, row in review.rows(sheet.read_text())]
    drawn = list(dict.fromkeys(row["id"] for row in there))
    assert len(drawn) == 8
    assert [row["round"] for row in there[:3]] == ["4", "4", "5"], "two auditors and a consensus"
    (told,) = audits_of(outcome)
    assert (told["questions"], told["audited"], told["disagreement"]["value"]) == (8, 0, None)
    assert code(outcome.notes["Audit"]) == "screening.audit_drawn"
    # Of five that are audited three are flagged: one is settled for it, one against, one is open.
    auditors = dict.fromkeys(drawn[:2], "accept 5") | dict.fromkeys(drawn[2:5], "revise 2")
    settled = {drawn[2]: "accept 5", drawn[3]: "reject 0"}
    outcome = handed_in(tmp_path, fill(sheet, {}, {}, {}, auditors, settled))
    (told,) = audits_of(outcome)
    kinds = ("waiting", "agreed", "flagged", "overruled", "confirmed")
    assert [told[it] for it in kinds] == [3, 2, 1, 1, 1]
    assert told["disagreement"] == intervals.share(2, 5, over="audited questions").to_json()
    assert told["flagged_by_one"]["value"] == 3 / 5
    said = values(outcome.notes["Audit"])
    assert (said["number"], said["disagreement"], said["audited"]) == (1, 2 / 5, 5)
    section = next(it for it in outcome.sections if it.title == report.AUDITS)
    assert section.table is not None and section.table.rows[0][:6] == (1, 1, 8, 5, 1, 1)
    # What the consensus rejects leaves; what is flagged stays until there is one.
    assert set(KEYS) - set(published(tmp_path)) == {drawn[3]}
    # The next audit is of others, and the rate of the first stays though its question is gone.
    outcome = handed_in(tmp_path, audit=200)
    first, second = audits_of(outcome)
    assert first["disagreement"] == told["disagreement"]
    assert (second["number"], second["questions"]) == (2, len(KEYS) - 8)
    with refused("data.missing", "hle_screen.audit", given=200):
        handed_in(tmp_path, audit=200)


def test_an_audit_that_was_killed_goes_on_with_its_sample(tmp_path: Path) -> None:
    released(tmp_path, *KEYS)
    config = public(tmp_path, None, judges=[], audit=5)
    first, killed = screened(config, {}, finish=False)
    again, run = screened(config, {})
    assert (run, audits_of(again)) == (killed, audits_of(first))


def test_a_question_that_was_changed_after_its_audit_keeps_the_verdict(tmp_path: Path) -> None:
    released(tmp_path, "a")
    outcome = handed_in(tmp_path, audit=1)
    sheet = sheets_of(outcome)[0]
    handed_in(tmp_path, fill(sheet, {}, {}, {}, {"a": "revise 3"}, {"a": "revise 3"}))
    mended = [row | {"answer": "43"} for row in rows("a")]
    outcome, _ = screened(public(tmp_path, mended), MARKS)
    assert audits_of(outcome)[0]["confirmed"] == 1
    assert published(tmp_path) == []


def test_there_is_nothing_to_audit_before_anything_is_published(tmp_path: Path) -> None:
    with refused("data.missing", "hle_screen.audit", given=9):
        handed_in(tmp_path, audit=9)


# --------------------------------------------------------------------------------- late


def test_late_contributions_are_a_second_held_out_set_of_their_own(tmp_path: Path) -> None:
    given = [row | {"answer": f"secret-{row['id']}"} for row in rows("a", "b")]
    config = configured(tmp_path, given, private=0.5, late=True)
    outcome, run = screened(config, MARKS)
    assert {it["part"] for it in lines(outcome, "accepted").values()} == {"late"}
    assert not any("question" in it for it in lines(outcome, "accepted").values())
    assert outcome.about["screening"]["late"] is True
    assert not (run / "review.csv").exists(), "its texts lie in the private folder alone"
    both = dict.fromkeys("ab", "accept 4")
    handed_in(tmp_path, fill(private_sheet(config, run), both, both))
    there = newest(tmp_path)
    assert there is not None
    assert (there.public, there.private, [row["id"] for row in there.late]) == ((), (), ["a", "b"])
    assert (there.about["late"], there.about["private"]) == (2, 0)
    assert states(tmp_path) == {"a": "held_out", "b": "held_out"}
    late = tmp_path / "set" / "late" / "0001"
    assert "secret-a" in (late / "hle.jsonl").read_text()
    for path in (tmp_path / "set").rglob("*"):
        if path.is_file() and not {"private", "late"} & {*path.parts}:
            assert "secret" not in path.read_text()
    # Exams may ask it, as future evaluations are to.
    exam = asked(tmp_path, tmp_path / "exam", source="hub", dir=str(late))
    assert exam.datasets[0].questions == 2 and exam.datasets[0].stamp is not None
    assert exam.notes == (), "nobody expects as many as HLE has"
    with refused("data.missing", "data.revision", given=1):
        asked(tmp_path, tmp_path / "rolling")
    # It stays in the revisions that follow.
    _, run = screened(public(tmp_path, rows("c")), MARKS)
    handed_in(tmp_path, fill(run / "review.csv", {"c": "accept 4"}, {"c": "accept 4"}))
    there = newest(tmp_path)
    assert there is not None and [len(it) for it in there.parts.values()] == [1, 0, 2]


def test_a_late_question_that_comes_back_mended_stays_with_the_late_ones(tmp_path: Path) -> None:
    config = configured(tmp_path, rows("a"), late=True)
    _, run = screened(config, MARKS)
    handed_in(tmp_path, fill(private_sheet(config, run), {"a": "revise 4"}))
    mended = [row | {"answer": "43"} for row in rows("a")]
    outcome, _ = screened(public(tmp_path, mended), MARKS)
    assert lines(outcome, "accepted")["a"]["part"] == "late"


def test_revisions_without_a_late_part_are_read(tmp_path: Path) -> None:
    older(tmp_path, "a")
    for path in (tmp_path / "set").rglob("revision.json"):
        told: dict[str, Any] = json.loads(path.read_text())
        del told["late"]
        path.write_text(json.dumps(told))
    shutil.rmtree(tmp_path / "set" / "late")
    there = newest(tmp_path)
    assert there is not None and (published(tmp_path), there.late) == (["a"], ())
    config = configured(tmp_path, rows("b"), late=True, review="skip")
    screened(config, MARKS)
    there = newest(tmp_path)
    assert there is not None and [len(it) for it in there.parts.values()] == [1, 0, 1]
