"""What is fetched of a run, and which runs."""

import pytest

from raybench.pipeline.storage import fetching
from raybench.pipeline.storage.segments import Segment, Term

SEGMENT = Segment("units", Term(1, "ab"), 0, 3, "0" * 16).path


def test_results_come_after_all_that_they_end() -> None:
    paths = [
        "results.json",
        "report.html",
        "parts/index/A/results.json",
        "parts/index/A/report.html",
        "parts/index/A/journal/units.jsonl",
        f"parts/index/A/{SEGMENT}",
        "parts/index/A/lease.json",
        "journal/parts.jsonl",
        SEGMENT,
        "lease.json",
        ".results.json.1a",
        "plots/a.svg",
        "mlflow.jsonl",
    ]
    assert fetching.files(paths) == [
        "report.html",
        "parts/index/A/report.html",
        "plots/a.svg",
        "mlflow.jsonl",
        "parts/index/A/results.json",
        "results.json",
    ]
    assert fetching.finished(paths) == ["", "parts/index/A"]


@pytest.mark.parametrize("above", ["..", "../..", "parts/../..", "/etc", ".hidden"])
def test_nothing_leads_out_of_the_run_s_folder(above: str) -> None:
    paths = [f"{above}/{name}" for name in ("results.json", "report.html", SEGMENT)]
    assert fetching.files(paths) == []
    assert fetching.finished(paths) == []


@pytest.mark.parametrize(
    ("stored", "here", "wanted"),
    [
        ({"1": False}, {}, ["1"]),
        ({"1": False}, {"1": False}, []),  # held to the store once its lease is ours
        ({"1": True}, {}, ["1"]),
        ({"1": True}, {"1": False}, ["1"]),  # it was finished elsewhere
        ({"1": True}, {"1": True}, []),
        ({"1": True, "2": True, "3": False}, {}, ["2", "3"]),
        ({"1": True}, {"2": True}, []),  # what is made of the last one is made of ours
        ({"2": True}, {"1": True}, ["2"]),
        ({}, {"1": False}, []),
    ],
)
def test_which_runs_are_fetched(
    stored: dict[str, bool], here: dict[str, bool], wanted: list[str]
) -> None:
    assert fetching.wanted(stored, here) == wanted
