"""What has to be said of a run beside its numbers."""

from pathlib import Path
from typing import Any

from peerage import journal
from statements import the, values

from raybench.autobench.analysis.whole import analysed
from raybench.autobench.settings import Settings
from raybench.autobench.steps import Reply
from raybench.experiments.autobench import remarks as remarks_
from raybench.experiments.autobench.remarks import remarks
from raybench.experiments.autobench.reuse import Extended, Kept, spent

MODELS = ("a", "b", "c")


def said(records: list[dict[str, Any]], settings: Settings, kept: Kept) -> dict[str, str]:
    return remarks(records, settings, kept, analysed(records, settings, draws=20))


def test_there_is_nothing_to_say_of_a_plain_run() -> None:
    settings = Settings(MODELS)
    assert said(journal(settings, 8), settings, Kept(0)) == {}


def test_few_tasks_are_told() -> None:
    settings = Settings(MODELS)
    records = journal(settings, 8)
    for record in records[2:]:
        record |= {"task": None, "answers": {}, "judgments": {}}
    told = said(records, settings, Kept(0))
    assert values(told["Tasks"]) == {"found": 2, "iterations": 8}


def test_a_judge_that_cannot_be_read_and_one_from_outside_are_told() -> None:
    settings = Settings(MODELS, judges=("a", "b", "x"))
    records = journal(settings, 8)
    for record in records:
        record["judgments"]["b"] = dict.fromkeys(record["judgments"]["b"])
        for attempt in record["attempts"]:
            attempt["ratings"]["b"] = None
    told = [*remarks_._judges(records, settings)]
    unread, outsider = the("remarks.unreadable", told), the("remarks.outsider", told)
    assert (unread["judge"], unread["share"]) == ("b", "none")
    assert outsider["judge"] == "x" and outsider["share"].startswith("1.000")
    assert said(records, settings, Kept(0))["Judges"] == "; ".join(told)


def test_only_judges_that_answer_are_said_to_judge_their_own_answers() -> None:
    for own in (["b"], ["b", "c"]):
        for itself in (True, False):
            settings = Settings(MODELS, judges=("x", *own), self_judgement=itself)
            told = values(remarks_.judged_by(settings))
            assert told["panel"] == ["x", *own] and told["own"] == (own if itself else [])
            named = told["themselves"].replace(",", "").split()
            assert all(name in named for name in own) and "x" not in named
    assert values(remarks_.judged_by(Settings(MODELS, judges=("x", "y"))))["themselves"] == ""


def test_what_was_reused_is_told_and_what_was_asked_in_vain() -> None:
    settings = Settings(MODELS)
    extended = Extended(Path("runs/autobench/R"), {"where": Reply("yes")})
    kept = Kept(1, extended)
    kept.enter(spent(1, 100, 7, 40))
    told = said(journal(settings, 3), settings, kept)
    assert values(told["Discarded"]) == {"discarded": 7, "calls": 100}
    reused = values(told["Reused"])
    assert (reused["reused"], reused["calls"], reused["why"]) == (40, 100, "")
    assert told["Reused"].endswith(" runs/autobench/R")
    nothing = Kept(1, extended)
    nothing.enter(spent(1, 100, 0, 0))
    none = values(said(journal(settings, 3), settings, nothing)["Reused"])
    assert (none["reused"], none["there"]) == (0, 1) and none["why"]
