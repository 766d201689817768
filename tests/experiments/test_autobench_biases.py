"""Planted biases from the command line: what a run leaves, and that it goes on where it was."""

import json
from pathlib import Path
from typing import Any

import pytest
from flipping import opened, otherwise
from in_process import run_here
from keyed import check
from reading import read_back
from refusals import refused
from shared_runs import SharedRuns
from stopped_runs import cut_off

from raybench import cli
from raybench.autobench.biases import BIASES
from raybench.errors import Code, ConfigurationError
from raybench.experiments import autobench_biases
from raybench.tracking.leaderboard import SIMULATED

BIASED = (
    "+experiment=autobench_biases",
    "seeds=3",
    "iterations=4",
    "kinds=[self_preference,random]",
)
TRIED = [bias.name for bias in BIASES if bias.kind in ("self_preference", "random")]


def only_run(folder: Path) -> Path:
    (run,) = (folder / "runs" / "autobench_biases").iterdir()
    return run


def trials(run: Path) -> list[dict[str, Any]]:
    lines = (run / "journal" / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def measured(run: Path) -> Any:
    return json.loads((run / "results.json").read_text(encoding="utf-8"))["models"]


@pytest.fixture(scope="module")
def finished(shared_runs: SharedRuns) -> Path:
    return shared_runs.copy(*BIASED)


def test_every_bias_has_a_line_of_results(finished: Path) -> None:
    run = only_run(finished)
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    assert results["simulated"] is True
    assert list(results["models"]) == TRIED
    for name, of in results["models"].items():
        assert of["bias/tau_lost"]["n"] == 3
        noise = "random" in name
        assert (of["bias/places_gained"]["value"] is None) == noise
    assert "6 random" in (finished / "stdout").read_text(encoding="utf-8")


def test_mlflow_has_what_results_have(finished: Path) -> None:
    assert {*check(finished, "autobench_biases")} == {"autobench_biases.planted"}


def test_seeds_with_which_a_bias_does_other_harm_open_in_the_report(
    finished: Path, tmp_path: Path
) -> None:
    def upside_down(trial: dict[str, Any]) -> None:
        scores = trial["scores"]["consensus"]
        trial["scores"]["consensus"] = dict(zip(scores, [*scores.values()][::-1], strict=True))

    run = only_run(finished)
    assert opened(run, otherwise(run, tmp_path, "trials", upside_down)) > 0


def test_the_page_opens_with_one_table_and_has_one_plot(finished: Path) -> None:
    run = only_run(finished)
    page = (run / "report.html").read_text(encoding="utf-8")
    assert page.count('role="img"') == 1
    assert page.count('<table class="lead') == 1
    assert SIMULATED.partition(": ")[2] in page
    assert '<th scope="col" class="name">Bias</th>' in page
    assert "concluded with" not in page
    assert "| rank | bias |" in (run / "leaderboard.md").read_text(encoding="utf-8")


def test_the_page_says_what_the_trials_support(finished: Path) -> None:
    page = (only_run(finished) / "report.html").read_text(encoding="utf-8")
    said = page.split(">What this run supports</h2>")[1].split("</section>")[0]
    assert all(name in said for name in TRIED), "each is told of once"
    assert "over 3 seeds" in said and "Holm" in said


def test_every_iteration_can_be_read_beside_the_same_one_without_the_bias(finished: Path) -> None:
    run = only_run(finished)
    read = dict(read_back((run / "report.html").read_text(encoding="utf-8")))
    assert len(read) == (len(TRIED) + 1) * 3 * 4
    by = {(trial["bias"], trial["seed"]): trial for trial in trials(run)}
    for key, unit in read.items():
        trial = by[unit["facets"]["bias"][0], int(unit["facets"]["seed"][0])]
        assert trial["trial"] == unit["line"]
        record = trial["iterations"][int(key.rpartition("-")[2]) - 1]
        texts = [text for _, text in unit["texts"]]
        assert {*record["answers"].values()} <= {*texts}
        assert (trial["bias"] == "no bias") == ("biased judges" not in texts[0])
    first = next(iter(read.values()))
    shared = [key for key, unit in read.items() if unit["summary"] == first["summary"]]
    assert len(shared) > 1 and shared == [*read][: len(shared)], "the same task together"


def test_a_run_that_lacks_trials_goes_on_and_ends_the_same(finished: Path, tmp_path: Path) -> None:
    whole = only_run(finished)
    # The last line was being written when the run was killed.
    folder = cut_off(whole, tmp_path / "runs", {"trials": 11})
    done = run_here(*BIASED, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Resuming" in done.stderr
    assert "11 of 27 trials" in done.stderr

    def untimed(record: dict[str, Any]) -> dict[str, Any]:
        found = {name: it for name, it in record.items() if name not in ("seconds", "ended_ms")}
        return found | {"iterations": [*map(untimed, found.get("iterations", ()))]}

    assert [*map(untimed, trials(folder))] == [*map(untimed, trials(whole))]
    assert measured(folder) == measured(whole)


@pytest.mark.parametrize(
    ("override", "code", "given", "named"),
    [
        ("kinds=[advesary]", "setting.choice", "advesary", "'adversary'"),
        ("kinds=[]", "setting.missing", None, "self_preference"),
        ("kinds=[random,random]", "setting.duplicate", "random", "2"),
        ("seeds=0", "setting.range", 0, "1"),
        ("iterations=0", "setting.range", 0, "1"),
    ],
)
def test_each_mistake_is_named(override: str, code: Code, given: object, named: str) -> None:
    overrides = cli.at_home(["+experiment=autobench_biases", override])
    setting = f"autobench_biases.{override.partition('=')[0]}"
    with refused(code, setting, given=given, kind=ConfigurationError) as caught:
        cli.check(cli.compose(overrides))
    assert named in str(caught.value)


def test_the_plan_says_what_is_planted_and_how_much_is_asked() -> None:
    config = cli.check(cli.compose(cli.at_home(BIASED)))
    plan = autobench_biases.plan(config)
    assert plan.units == 3 * (len(TRIED) + 1)
    assert [model.name for model in plan.models] == TRIED
    assert plan.simulated
    assert plan.calls.startswith("18,252 to 29,484 ")
