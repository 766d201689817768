"""The exam from the command line, with stand-ins: what it leaves, judges, resume."""

import csv
import json
import re
from functools import partial
from pathlib import Path

import helpers
import pytest
from helpers import last_run, raybench, units_of
from keyed import check
from shared_runs import HLE, SharedRuns
from stopped_runs import cut_off

from raybench.benchmarks.parts.hle import prompts
from raybench.benchmarks.parts.hle.options import EXACT
from raybench.experiments.hle.report import budgets

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("on_lasting_ray")]

MODELS, JUDGES = HLE[2:4]
EXAM = HLE[:-1]
TWO = HLE[-1]


run_of = partial(last_run, experiment="hle")
results_of = partial(helpers.results_of, experiment="hle")
journal_of = partial(units_of, experiment="hle")


@pytest.fixture(scope="module")
def finished(shared_runs: SharedRuns) -> Path:
    return shared_runs.copy(*HLE)


def test_mlflow_has_what_results_have(finished: Path) -> None:
    assert check(finished, "hle")


def test_accuracy_and_calibration_are_those_of_the_stand_ins(finished: Path) -> None:
    results = results_of(finished)
    sure, able = (results["models"][name] for name in ("sure", "able"))
    low, high = sure["hle/rms_calibration_error_less_chance"]["ci95"]
    assert low < 0.7 < high
    assert sure["hle/accuracy"]["ci95"][0] < 0.2 < sure["hle/accuracy"]["ci95"][1]
    assert able["hle/accuracy"]["value"] > 0.6
    assert able["hle/confidence_given"]["value"] == pytest.approx(0.7, abs=0.1)
    assert sure["hle/confidence_given"]["value"] == 1
    assert results["simulated"] is True


def test_who_takes_no_images_is_evaluated_on_the_text(finished: Path) -> None:
    blind = results_of(finished)["models"]["blind"]["hle/accuracy"]
    assert blind["n"] == 38
    assert " 8 " in blind["method"]
    assert results_of(finished)["run"]["fates"]["blind"] == {"judged": 152, "no images": 8}
    told = (finished / "stdout").read_text()
    assert "blind (8 " in told
    assert "Text only" in told.splitlines()[2]
    sure = results_of(finished)["models"]["sure"]
    parts = [sure[f"hle/accuracy/{part}"] for part in ("text_only", "with_image")]
    assert [part["n"] for part in parts] == [38, 2]
    (confidence,) = (it for it in told.splitlines() if it.startswith("Confidence  "))
    assert "100 %" in confidence and ": able " in confidence


def test_two_judges_are_compared_and_the_first_decides(finished: Path) -> None:
    for unit in journal_of(finished):
        if unit["by"] == "judge":
            assert list(unit["judgements"]) == ["good", "poor"]
            assert unit["correct"] == unit["judgements"]["good"]["correct"]
    for metrics in results_of(finished)["models"].values():
        low, high = metrics["hle/judge_kappa"]["ci95"]
        assert 0 < low < high < 1
        assert metrics["hle/judge_agreement"]["value"] == pytest.approx(0.7, abs=0.12)
    assert "good (first)" in (finished / "stdout").read_text()


def test_a_sample_waits_for_people(finished: Path) -> None:
    lines = [json.loads(it) for it in (run_of(finished) / "review.jsonl").read_text().splitlines()]
    assert len(lines) == 50
    assert all(line["your_verdict"] is None and line["question"] for line in lines)
    key = (run_of(finished) / "review_key.jsonl").read_text()
    assert key.count('"drawn_as": "judges differ"') == 25


def test_the_report_has_everything(finished: Path) -> None:
    page = (run_of(finished) / "report.html").read_text()
    for title in ("Calibration", "Confidence and accuracy", "By type of answer", "HLE by subject",
                  "Accuracy against token budget", "The two judges", "Read them",
                  "What became of the responses", "Confidences as they were read"):  # fmt: skip
        assert f">{title}</h2>" in page, title
    assert budgets.REPEATED in page
    assert prompts.system(EXACT).splitlines()[0] in page
    with (run_of(finished) / "leaderboard.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["model"] for row in rows} == {"sure", "able", "blind"}


def test_budgets_and_settings_are_in_the_results(finished: Path) -> None:
    run = results_of(finished)["run"]
    assert (run["prompt"], run["judges"]) == ("by_type", ["good", "poor"])
    able = run["budgets"]["able"]
    assert sum(it["accuracy"]["n"] for it in able["bins"]) == 160
    assert able["peak"]["why"]
    assert all(2 * it["from"] == it["below"] for it in able["bins"])


def test_what_is_concluded_changes_no_finished_journal(shared_runs: SharedRuns) -> None:
    finished = shared_runs.copy(*HLE)
    before = (run_of(finished) / "journal" / "units.jsonl").read_bytes()
    done = raybench(*HLE, "review=3", cwd=finished)
    assert done.returncode == 0, done.stderr
    assert "is finished" in done.stderr
    assert (run_of(finished) / "journal" / "units.jsonl").read_bytes() == before
    assert len((run_of(finished) / "review.jsonl").read_text().splitlines()) == 3


def test_killed_it_goes_on_and_ends_with_every_unit_once(finished: Path, ready: Path) -> None:
    cut_off(run_of(finished), ready / "runs", {"units": 200})
    done = raybench(*HLE, cwd=ready)
    assert done.returncode == 0, done.stderr
    assert "200 of 480 units" in done.stderr
    units = {(it["model"], it["key"], it["repeat"]) for it in journal_of(ready)}
    assert len(units) == len(journal_of(ready)) == 480
    assert results_of(ready)["models"] == results_of(finished)["models"]


def test_a_judge_that_never_answers_leaves_no_score(ready: Path) -> None:
    silent = JUDGES.replace("{ability: 1}", "{infra_error: 1}")
    command = [it if it != JUDGES else silent for it in EXAM]
    done = raybench(*command, "judges=[good]", "limit=4", cwd=ready)
    results = results_of(ready)
    for metrics in results["models"].values():
        assert metrics["hle/accuracy"]["value"] is None
        assert "not computed" in metrics["hle/accuracy"]["method"]
    assert results["counts"]["able"]["judge_error"] == 16
    assert "good, " in (run_of(ready) / "failures.jsonl").read_text()
    assert "Traceback" not in done.stderr
    assert done.returncode == 1
    assert "good (judge): " in done.stderr and " 48 responses: " in done.stderr


def test_what_is_wrong_with_judges_is_told(ready: Path) -> None:
    silent = JUDGES.replace("judge_noise: 0.3", "infra_error: 1")
    certain = MODELS
    for ability in ("0.2", "0.8", "0.5"):
        certain = certain.replace(f"{{ability: {ability}", "{ability: 1, spread: 0")
    command = [{JUDGES: silent, MODELS: certain}.get(it, it) for it in EXAM]
    done = raybench(*command, TWO, "limit=4", cwd=ready)
    # The second never says a word. The first one's verdicts count all the same.
    assert done.returncode == 1
    assert "poor (judge): " in done.stderr
    assert results_of(ready)["models"]["able"]["hle/accuracy"]["value"] == 1
    failures = (run_of(ready) / "failures.jsonl").read_text()
    assert re.search(r"poor, .*infrastructure", failures)
    # But they are all alike.
    assert re.search(r"^Doubtful +good .* 48 ", done.stdout, re.MULTILINE)
