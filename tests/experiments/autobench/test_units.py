"""Every iteration as the report's reader has it."""

from peerage import journal
from reading import page, read_back

from raybench.autobench.settings import Settings
from raybench.experiments.autobench.report import reading
from raybench.experiments.autobench.units import units
from raybench.tracking import addresses

SETTINGS = Settings(("a", "b", "c"))


def test_an_iteration_shows_its_tasks_its_answers_and_who_gave_what() -> None:
    records = journal(SETTINGS, 12)
    read = dict(read_back(page(units(records, SETTINGS))))
    assert list(read) == [f"iteration-{number}" for number in range(1, 13)]
    record = next(it for it in records if it["task"] is not None)
    found = read[addresses.iteration(record["iteration"])]
    texts = [text for _, text in found["texts"]]
    assert record["task"] in texts
    assert {*record["answers"].values()} <= {*texts, None}
    best = max(it for it in record["scores"].values() if it is not None)
    assert {record["scores"][model] for model in found["facets"]["best answer by"]} == {best}
    rated = [label for label, _ in found["texts"]].count("ratings")
    assert rated >= len(record["answers"])


def test_those_that_the_report_picks_stay_whatever_has_room() -> None:
    records = journal(SETTINGS, 40)
    picked = {record["iteration"]: why for record, why in reading.chosen(records)}
    kept = {it.line for it in units(records, SETTINGS).each() if it.kept}
    assert kept == {at for at, it in enumerate(records, 1) if it["iteration"] in picked}
