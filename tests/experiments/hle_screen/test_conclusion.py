"""What a screening comes to: sets, revisions, sheets, and what nobody may read there."""

import csv
import errno
import io
import json
import os
import re
from functools import partial
from pathlib import Path
from typing import Any

from hle_rows import choice, png, uri
from reading import read_back, whole
from refusals import refused
from screening import batch, configured, fill, lines, private_sheet, rows, screened
from statements import code, the, values

from raybench.benchmarks.parts.hle.screening import holdout
from raybench.config import Config
from raybench.errors import ConfigurationError
from raybench.experiments.hle_screen import report, sets
from raybench.experiments.parts.questions.units import HIDDEN
from raybench.pipeline import revisions
from raybench.pipeline.screenings import STATE_LABELS

publishing = partial(configured, review="skip")
KEYS = tuple(f"q{number:02d}" for number in range(40))


def dataset(config: Config, number: int | None = None) -> revisions.Revision:
    found = revisions.read(Path(config.hle_screen.dataset), number)
    assert found is not None
    return found


def ids(found: Any) -> list[str]:
    return [row["id"] for row in found]


def test_every_candidate_is_in_one_set_with_its_evidence(tmp_path: Path) -> None:
    other = choice(
        "n", question=choice(options=list("uvwxyz"))["question"].replace("group", "ring")
    )
    given: list[Any] = [*rows("a", "b", "c", "d", "e", "f"), choice("m"), other, "{broken"]
    marks = {"a": "ww", "b": "wR", "c": "we", "d": "wu", "e": "Ru", "f": "rw", "m": "Rw", "n": "RR"}
    config = publishing(tmp_path, given, private=0.0)
    outcome, _ = screened(config, marks)
    assert "hle_screen.review" in values(outcome.notes["Deviations"])["settings"]
    found = {it: list(lines(outcome, it)) for it in ("accepted", "rejected", "undecided")}
    assert found == {
        "accepted": ["a", "f", "m"],
        "rejected": ["b", "e", "n"],
        "undecided": ["c", "d"],
    }
    accepted = lines(outcome, "accepted")
    assert (accepted["a"]["answered"], len(accepted["a"]["models"])) == ((), 2)
    assert accepted["a"]["question"]["rationale"] == given[0]["rationale"]
    assert len(accepted["f"]["notes"]) == 1 and not accepted["a"]["notes"], "a model declined"
    assert lines(outcome, "rejected")["b"]["answered"] == ("dull",)
    evidence = lines(outcome, "undecided")["c"]["evidence"]
    assert "1 of 2 " in evidence and "dull (1 " in evidence
    (invalid,) = outcome.files["invalid.jsonl"]
    assert (invalid["file"], invalid["line"]) == ("in.jsonl", 9)
    told = outcome.about["screening"]
    assert (told["candidates"], told["invalid"], told["tried"]) == (9, 1, 8)
    assert [told[it] for it in found] == [3, 3, 2]
    opening = values(outcome.sections[0].text)
    assert (opening["passed"], opening["tried"], opening["models"]) == (3, 8, 2)
    assert opening["undecided"] == 2 and opening["share"] == 3 / 8 and "95 %" in opening["ends"]
    assert opening["orders"] == "", "each has a candidate without a verdict"
    assert ids(dataset(config).public) == ["a", "f", "m"]


def test_a_reply_that_was_cut_proves_nothing_until_somebody_accepts_it(tmp_path: Path) -> None:
    config = publishing(tmp_path, rows("a", "b"), private=0.0)
    outcome, first = screened(config, {"a": "wc", "b": "we"})
    assert list(lines(outcome, "undecided")) == ["a", "b"]
    assert outcome.about["screening"]["revision"] is None
    config.hle_screen.accept_failures = True
    outcome, second = screened(config, {})  # concluded anew: nobody is asked
    assert first == second
    assert list(lines(outcome, "accepted")) == ["a"]
    assert list(lines(outcome, "undecided")) == ["b"]  # what broke is nobody's answer
    assert ids(dataset(config).public) == ["a"]
    # Concluded as at first: what is published stays, and is told of.
    config.hle_screen.accept_failures = False
    outcome, third = screened(config, {})
    assert third == first
    assert list(lines(outcome, "undecided")) == ["a", "b"]
    assert values(outcome.notes["Still there"])["names"] == "a"
    assert ids(dataset(config).public) == ["a"]


def test_models_without_eyes_do_not_count_for_questions_with_an_image(tmp_path: Path) -> None:
    shown = rows("a", "b", image=uri(png()))
    config = publishing(tmp_path, shown, private=0.0)
    outcome, folder = screened(config, {"a": "wi", "b": "ii"})
    assert lines(outcome, "accepted")["a"]["models"] == ("able",)
    assert "takes images" in lines(outcome, "undecided")["b"]["evidence"]
    sheet = list(csv.DictReader(io.StringIO((folder / "review.csv").read_text())))
    assert {row["image"] for row in sheet} == {"review_images/0001-a.png"}
    assert (folder / "review_images" / "0001-a.png").read_bytes() == png()


def test_the_rule_for_repeats_compares_with_guessing(tmp_path: Path) -> None:
    given = [choice("m"), *rows("a")]
    marks = {"m": "RwwwwwwwwR"[:8] + "RR", "a": "w" * 10}
    config = publishing(tmp_path, given, private=0.0, rule="worse_than_chance", repeats=5)
    outcome, _ = screened(config, marks)
    assert list(lines(outcome, "accepted")) == ["a"]
    assert code(values(outcome.sections[0].text)["orders"]) == "orders.none"
    evidence = lines(outcome, "rejected")["m"]["evidence"]
    assert "3 of 10 " in evidence and "20.0%" in evidence


# --------------------------------------------------------------------------------- held out


def test_nothing_of_what_is_held_out_is_told_but_its_id_and_the_evidence(tmp_path: Path) -> None:
    secret = {key: f"secret-{key}" for key in KEYS}
    given = [row | {"answer": secret[row["id"]]} for row in rows(*KEYS)]
    marks = {key: ("ww", "wu", "Rw", "we")[place % 4] for place, key in enumerate(KEYS)}
    config = publishing(tmp_path, given, private=0.5)
    outcome, folder = screened(config, marks)
    held = {key for key in KEYS if holdout.is_private(key, seed=0, share=0.5)}
    hidden = {key for key in held if marks[key] != "Rw"}
    assert hidden & set(lines(outcome, "accepted"))
    assert hidden & set(lines(outcome, "undecided"))  # another screening may accept them
    told = json.dumps([*outcome.failures, *map(list, outcome.files.values())])
    page = whole(sections=outcome.sections, units=outcome.units)
    readable = json.dumps(dict(read_back(page)))
    assert readable.count("answered") and not any(f'"{key}' in readable for key in hidden)
    for text in (told, page, readable, json.dumps(outcome.about), *outcome.notes.values()):
        for key in hidden:
            assert secret[key] not in text
            assert f"{key} {key * 2}" not in text
    assert HIDDEN in page
    for key in set(KEYS) - hidden:
        assert secret[key] in told
    assert lines(outcome, "accepted").keys() >= {key for key in hidden if marks[key] == "ww"}
    # What somebody may share of the run's folder; the journal is not for that.
    for path in folder.glob("review*"):
        assert not any(secret[key] in path.read_text() for key in hidden)
    there = dataset(config)
    assert set(ids(there.private)) == {key for key in held if marks[key] == "ww"}
    sheet = private_sheet(config, folder)
    assert all(secret[key] in sheet.read_text() for key in ids(there.private))
    for path in Path(config.hle_screen.dataset, "revisions").rglob("*.json*"):
        assert not any(secret[key] in path.read_text() for key in hidden)


def test_a_reason_that_only_a_held_out_question_has_is_withheld(tmp_path: Path) -> None:
    config = publishing(tmp_path, rows("a", "b"), private=1.0)
    outcome, _ = screened(config, {"a": "wu", "b": "Ru"})
    # The same is said of b, which was turned down and may be shown.
    assert outcome.failures and all(each["why"] != sets.WITHHELD for each in outcome.failures)
    config = publishing(tmp_path, rows("c"), private=1.0)
    outcome, _ = screened(config, {"c": "wu"})
    assert [each["why"] for each in outcome.failures] == [sets.WITHHELD]


def test_of_what_repeats_a_held_out_question_only_that_is_told(tmp_path: Path) -> None:
    screened(publishing(tmp_path, rows("old"), private=1.0), {"old": "ww"})
    screened(publishing(tmp_path, rows("seen"), private=0.0), {"seen": "ww"})
    wrong = {"answer_type": "multipleChoice", "answer": "the secret"}
    old, seen, new = rows("old", "seen", "new")
    given = [
        new,
        old | wrong | {"id": "1"},
        rows("other")[0] | wrong | {"id": "old"},  # it may be the old one, mended
        new | wrong | {"id": "2"},
        seen | wrong | {"id": "3"},
        rows("free")[0] | wrong | {"id": "4"},
        rows("tree")[0] | wrong | {"id": "4"},
    ]
    config = publishing(tmp_path, given, private=1.0)
    outcome, _ = screened(config, {"new": "ww"})
    found = {(row["line"], row["id"]): row["reasons"] for row in outcome.files["invalid.jsonl"]}
    for place, same in ((2, "1"), (3, "old"), (4, "2")):
        told = found[place, same]
        assert "the secret" not in str(told)
        assert told[0].startswith("'id' " if same == "old" else "'question' ")
        assert told[1:] == [sets.OTHER_REASONS]
    for place, same in ((5, "3"), (6, "4"), (7, "4")):
        assert sets.OTHER_REASONS not in found[place, same]
        assert " options: " in str(found[place, same])
    # To whoever has the file itself all is told.
    assert all(" options: " in str(it.candidate.reasons) for it in batch(config).invalid[1:])


# --------------------------------------------------------------------------------- reviewers


def test_what_reviewers_turned_down_leaves_and_does_not_come_back_as_it_was(
    tmp_path: Path,
) -> None:
    marks = dict.fromkeys("abcd", "ww")
    _, folder = screened(publishing(tmp_path, rows("a", "b"), private=0.0), marks)
    config = publishing(tmp_path, rows("c", "d"), private=1.0)
    _, second = screened(config, marks)
    private = private_sheet(config, second)
    sheets = [
        fill(folder / "review.csv", {}, {"a": "reject", "b": "accept"}),
        fill(private, {}, {"c": "reject"}),
    ]
    config = publishing(tmp_path, None, reviewed=sheets, judges=[])
    outcome, _ = screened(config, {})
    assert outcome.about["screening"]["removed"] == ["a", "c"]
    assert (ids(dataset(config).public), ids(dataset(config).private)) == (["b"], ["d"])
    # Nobody was asked: nobody is ranked, and there are no sets.
    assert (outcome.metrics, outcome.counts) == ({}, {})
    assert list(outcome.files) == ["reviewed.jsonl"]
    assert [it.title for it in outcome.sections] == [report.STATES, report.REVIEWED]
    table = outcome.sections[0].table
    assert table is not None
    states_of_all = {STATE_LABELS[it] for it in outcome.about["screening"]["states"]}
    assert {row[0] for row in table.rows} == states_of_all
    assert not {"Candidates", "Passed", "Sets", "Judged by"} & outcome.notes.keys()
    told = list(outcome.files["reviewed.jsonl"])
    states = {row["id"]: row["state"] for row in told}
    assert states == {"a": "rejected", "b": "published", "c": "rejected", "d": "held_out"}
    assert "look at" not in json.dumps(told)
    # As they were they do not come back, whatever they are called; mended they do, where they were.
    mended = [row | {"answer": "43"} for row in rows("a", "c")]
    for sheets_given in (sheets, []):
        again = publishing(tmp_path, rows("a", "c"), reviewed=sheets_given)
        assert not batch(again).valid
        other = publishing(tmp_path, [rows("a")[0] | {"id": "new"}], reviewed=sheets_given)
        (why,) = batch(other).invalid[0].candidate.reasons
        assert code(why) == "screening.back"
        assert values(why) == {"id": "a", "when": "in revision 3"}
    config = publishing(tmp_path, mended, private=0.0, reviewed=sheets)
    screened(config, marks)
    assert (ids(dataset(config).public), ids(dataset(config).private)) == (["b", "a"], ["d", "c"])
    # The old sheets speak of the old versions.
    config = publishing(tmp_path, rows("e"), private=0.0, reviewed=sheets)
    screened(config, {"e": "ww"})
    assert ids(dataset(config).public) == ["b", "a", "e"]


def test_reviews_count_though_no_candidate_is_valid(tmp_path: Path) -> None:
    config = publishing(tmp_path, rows("a", "b"), private=0.0)
    _, folder = screened(config, {"a": "ww", "b": "ww"})
    config.hle_screen.reviewed = [fill(folder / "review.csv", {}, {"a": "reject"})]
    outcome, _ = screened(config, {})
    assert outcome.about["screening"]["tried"] == 0
    assert not {"From cache", "Deviations"} & {*outcome.notes}, "no model was asked"
    assert list(outcome.files) == ["invalid.jsonl", "reviewed.jsonl"]
    assert "accepted.jsonl" not in outcome.notes["Sets"]
    assert ids(dataset(config).public) == ["b"]
    assert dataset(config).number == 2
    outcome, _ = screened(config, {})  # once more, and nothing changes
    assert dataset(config).number == 2
    assert values(outcome.notes["Revision"])["same"]


def test_one_of_something_is_no_several(tmp_path: Path) -> None:
    two = publishing(tmp_path, rows("b", "c"), private=0.0)
    told = [values(batch(two).told())]
    one = publishing(tmp_path, rows("a"), private=0.0)
    told.insert(0, values(batch(one).told()))
    assert [(it["candidates"], it["s"]) for it in told] == [(1, ""), (2, "s")]
    outcome, _ = screened(one, {"a": "ww"})
    assert "passed panel" not in str(outcome.notes["Questions"])
    assert values(outcome.notes["Revision"])["counted"].split() == ["1", "question"]
    told_of_one = ("Candidates", "Passed", "Questions")
    assert not any(values(outcome.notes[it])["s"] for it in told_of_one)


def test_a_question_mended_in_the_same_screening_stays_on_its_side(tmp_path: Path) -> None:
    config = publishing(tmp_path, rows("a"), private=1.0)
    _, first = screened(config, {"a": "ww"})
    sheet = private_sheet(config, first)
    given = [row | {"answer": "43"} for row in rows("a")]
    config = publishing(tmp_path, given, private=0.0, reviewed=[fill(sheet, {}, {"a": "reject"})])
    outcome, folder = screened(config, {"a": "ww"})
    assert lines(outcome, "accepted")["a"]["private"] is True
    assert "question" not in lines(outcome, "accepted")["a"]
    assert not (folder / "review.csv").exists()
    assert [(row["id"], row["answer"]) for row in dataset(config).private] == [("a", "43")]


def test_a_sheet_that_somebody_filled_in_is_not_written_over(tmp_path: Path) -> None:
    config = publishing(tmp_path, rows("a", "b"), private=0.0)
    _, folder = screened(config, {"a": "ww", "b": "wc"})
    sheet = folder / "review.csv"
    sheet.write_text(sheet.read_text() + "mine")
    config.hle_screen.accept_failures = True
    outcome, _ = screened(config, {})
    assert sheet.read_text().endswith("mine")
    assert values(outcome.notes["Sheets"])["sheets"] == [str(folder / "review-2.csv")]
    assert len((folder / "review-2.csv").read_text().splitlines()) == 1 + 2 * 3


def test_a_sheet_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text("id,round\n" + "a,7\n" * 50)
    (tmp_path / "empty.csv").write_text("id,round\n")
    for name, why in (
        ("none.csv", os.strerror(errno.ENOENT)),
        ("sheet.csv", "row 2: lacks 'reviewer', [^;]*$"),
        ("empty.csv", "no row"),
    ):
        config = publishing(tmp_path, None, reviewed=[str(tmp_path / name)])
        with refused(
            "file.unreadable",
            "hle_screen.reviewed",
            given=str(tmp_path / name),
            kind=ConfigurationError,
        ) as caught:
            batch(config)
        assert re.search(why, str(caught.value))


# --------------------------------------------------------------------------------- numbers


def test_the_panels_numbers_are_over_what_was_tried_and_say_so(tmp_path: Path) -> None:
    config = publishing(tmp_path, rows("a", "b", "c", "d"), private=0.0)
    outcome, _ = screened(config, {"a": "ww", "b": "Rw", "c": "Rw", "d": "RR"})
    shares = {
        model: (it["hle/accuracy"].value, it["hle/answered"].n)
        for model, it in outcome.metrics.items()
    }
    assert shares == {"able": (0.75, 4), "dull": (0.25, 4)}
    panel = next(it for it in outcome.sections if it.title == "The panel")
    assert panel.text == report.BIAS
    assert panel.table is not None
    assert list(panel.table.rows) == [("able", 4, 3, 2, 4, 3, 0), ("dull", 4, 1, 0, 4, 1, 0)]
    funnel = next(it for it in outcome.sections if it.title == report.FUNNEL)
    assert funnel.table is not None
    assert [row[1] for row in funnel.table.rows] == [4, 4, 4, 1, 3, 0, 0, 1, 0, 0]


def test_what_the_settings_keep_it_from_telling_is_told_at_the_end_too(tmp_path: Path) -> None:
    config = publishing(tmp_path, [choice("m"), *rows("a")], private=0.0)
    outcome, _ = screened(config, {"m": "wR", "a": "ww"})
    assert "Beware" not in outcome.notes
    alone = tmp_path / "alone"
    alone.mkdir()
    config = publishing(alone, [choice("m"), *rows("a")], private=0.0)
    del config.roster.models[1:]
    before = batch(config).caveats(config)
    outcome, _ = screened(config, {"m": "R", "a": "w"})
    assert the("screening.one_model", before) == {"choice": 1}
    assert outcome.notes["Beware"] == "; ".join(before)


def test_shares_are_of_those_that_came_so_far(tmp_path: Path) -> None:
    config = publishing(tmp_path, [*rows("a", "b", "c", "d"), "{broken"], private=0.0)
    outcome, _ = screened(config, {"a": "ww", "b": "ww", "c": "Rw", "d": "we"})
    funnel = next(it for it in outcome.sections if it.title == report.FUNNEL)
    assert funnel.table is not None
    assert [tuple(row[1:3]) for row in funnel.table.rows] == [
        (5, None),  # candidates
        (4, 0.8),  # valid
        (4, 0.8),  # tried
        (2, 0.5),  # passed, of those tried
        (1, 0.25),  # answered
        (1, 0.25),  # undecided
        (0, 0.0),  # wait for review
        (2, 1.0),  # published, of those that passed
        (0, 0.0),  # held out
        (0, 0.0),  # held out, late
    ]


def test_a_model_without_a_verdict_answered_no_share_of_anything(tmp_path: Path) -> None:
    config = publishing(tmp_path, rows("a", "b", "c"), private=0.0)
    outcome, _ = screened(config, {"a": "we", "b": "uc", "c": "Ru"})
    answered = {model: it["hle/answered"] for model, it in outcome.metrics.items()}
    # Of b nothing is known of either.
    assert (answered["able"].value, answered["able"].n) == (0.5, 2)
    assert code(answered["able"].method) == "screening.answered"
    assert (answered["dull"].value, answered["dull"].n) == (None, 0)
    assert answered["dull"].method.startswith("not computed: ")
