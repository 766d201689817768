"""Wordings compared from the command line, on stand-ins: what is planted is found, and resume."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from flipping import opened, otherwise
from helpers import last_run, raybench, results_of, with_store
from in_process import run_here
from keyed import check
from reading import asks_nothing, read_back
from shared_runs import SharedRuns
from statements import code
from stopped_runs import cut_off

from raybench.experiments.games_phrasings import findings
from raybench.types import Estimate

pytest.importorskip("dspy", reason="programs need DSPy")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.timeout(400),
    pytest.mark.usefixtures("on_lasting_ray"),
]

NAME = "games_phrasings"
LEARN = (
    "optimise_players.train=20",
    "optimise_players.validation=2",
    "optimise_players.held_out=2",
    "games.names=[liars_dice]",
)


def roster(**options: float) -> str:
    told = "".join(f", {name}: {value}" for name, value in options.items())
    models = {"a": 0.5, "b": 0.6, "c": 0.4, "d": 0.7}
    each = (
        f"{{name: {name}, engine: simulated, options: {{ability: {ability}{told}}}}}"
        for name, ability in models.items()
    )
    return f"roster.models=[{', '.join(each)}]"


LEARNING = (
    f"+experiment={NAME}", roster(wording=0.4, learns=0.2), *LEARN, "games.matches=240",
    "games.bootstrap=100",
)  # fmt: skip


def lines(run: Path, name: str = "matches") -> list[dict[str, Any]]:
    text = (run / "journal" / f"{name}.jsonl").read_bytes()
    return [json.loads(line) for line in text.splitlines()]


def timeless(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records in one order, without what clocks and folders say."""
    clocks = ("seconds", "ended_ms")
    found = [{key: it for key, it in record.items() if key not in clocks} for record in records]
    for record in found:
        for turn in record["turns"]:
            del turn["seconds"]
    return sorted(found, key=lambda it: (it["cell"], it["match"]))


@pytest.fixture(scope="module")
def finished(shared_runs: SharedRuns) -> Path:
    return shared_runs.copy(*LEARNING)


def test_matches_that_went_otherwise_in_any_wording_open_in_the_report(
    finished: Path, tmp_path: Path
) -> None:
    def lost(match: dict[str, Any]) -> None:
        match["scores"] = {role: -it for role, it in match["scores"].items()}

    run = last_run(finished, NAME)
    assert opened(run, otherwise(run, tmp_path, "matches", lost)) > 0


def test_all_tournaments_have_the_same_matches_in_other_words(finished: Path) -> None:
    records = lines(last_run(finished, NAME))
    by: dict[str, dict[int, tuple[str, int, str]]] = {}
    for it in records:
        of = by.setdefault(it["cell"], {})
        assert it["match"] not in of, "every match once"
        of[it["match"]] = it["game"], it["seed"], str(it["seats"])
    assert [*by] == [f"{stage}/phrasing_{n}" for stage in ("before", "after") for n in range(5)]
    assert len({str(sorted(of.items())) for of in by.values()}) == 1
    asked = {
        cell: next(
            it["turns"][0]["observation"] for it in records
            if (it["cell"], it["match"]) == (cell, 1)
        )
        for cell in by
    }  # fmt: skip
    assert len({*asked.values()}) == 5
    for n in range(5):
        assert asked[f"before/phrasing_{n}"] == asked[f"after/phrasing_{n}"]


def test_models_are_told_what_prompts_say_with_examples_after(finished: Path) -> None:
    run = last_run(finished, NAME)
    own, terse, learned = (
        (run / "transcripts" / "prompts" / f"{name}.md").read_text()
        for name in ("before_phrasing_0", "before_phrasing_1", "after_phrasing_1")
    )
    assert own != terse and "compiled" not in terse
    assert "compiled=" in learned and len(learned) > 2 * len(terse)


def test_every_model_learned_in_every_wording(finished: Path) -> None:
    studies = lines(last_run(finished, NAME), "studies")
    assert Counter((it["model"], it["phrasing"]) for it in studies) == {
        (model, n): 1 for model in "abcd" for n in range(5)
    }
    assert len({it["key"] for it in studies}) == 20
    for it in studies:
        assert it["about"]["settings"].get("phrasing", 0) == it["phrasing"]


def steadied(folder: Path) -> str:
    """Return what is said of optimisation, from the numbers in the results."""
    change = results_of(folder, NAME)["agreement"]["after_less_before"]["spread"]
    return findings.steadied(Estimate(**change))


def test_planted_sensitivity_is_found_and_that_examples_take_it_away(finished: Path) -> None:
    results = results_of(finished, NAME)
    for metrics in results["models"].values():
        spread, after = (metrics[f"{NAME}/{it}/spread"] for it in ("before", "after"))
        assert spread["value"] > 3 * after["value"]
        assert metrics[f"{NAME}/before/raw_spread"]["value"] >= spread["value"]
        assert metrics[f"{NAME}/before/phrasing_3/rating"]["value"] is not None
        assert metrics[f"{NAME}/spread_change"]["value"] < 0
    assert results["agreement"]["before"]["spread"]["ci95"][0] > 40
    assert results["agreement"]["before"]["lost"]["ci95"][0] > 0
    assert results["agreement"]["after_less_before"]["spread"]["ci95"][1] < 0
    said = steadied(finished)
    assert code(said) == "phrasings.steadier" and said in (finished / "stdout").read_text()
    assert results["run"]["fixtures"] == 240 and results["simulated"] is True


def test_the_report_shows_it_by_itself(finished: Path) -> None:
    page = (last_run(finished, NAME) / "report.html").read_text(encoding="utf-8")
    for title in ("Ratings by phrasing", "How far ratings lie apart", "How far orders agree"):
        assert f">{title}<" in page, title
    assert "before optimisation" in page and "after optimisation" in page
    said = page.split(">What this run supports</h2>")[1].split("</section>")[0]
    assert steadied(finished)[1:] in said
    assert asks_nothing(page)


def test_mlflow_has_what_results_have(finished: Path) -> None:
    read = check(finished, NAME)
    # Every wording had the same matches.
    matches = {digest for name, digest in read.items() if name.endswith("/games.matches")}
    assert len(matches) == 1
    assert len([name for name in read if name.endswith("/games.rules")]) == 10


def test_every_match_can_be_read_in_the_words_in_which_it_was_played(finished: Path) -> None:
    run = last_run(finished, NAME)
    read = [*read_back((run / "report.html").read_text(encoding="utf-8"))]
    records = lines(run)
    assert len(read) == len(records)
    for key, unit in read:
        record = records[unit["line"] - 1]
        assert key == f"{record['cell'].replace('/', '-')}-match-{record['match']}"
        assert record["turns"][0]["observation"] in [text for _, text in unit["texts"]]


def test_none_is_found_where_wording_does_nothing(tmp_path: Path) -> None:
    folder = with_store(tmp_path)
    done = run_here(
        f"+experiment={NAME}", roster(), "games.names=[liars_dice,debate]", "stages=[before]",
        "games.matches=96", "wordings=[0,2]", "games.bootstrap=0", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = results_of(folder, NAME)
    assert results["agreement"]["before"]["lost"]["value"] == pytest.approx(0)
    for metrics in results["models"].values():
        assert metrics[f"{NAME}/before/spread"]["value"] in (0, None)
        assert f"{NAME}/spread_change" not in metrics
    assert not lines(last_run(folder, NAME), "studies")


def test_a_run_that_is_killed_while_models_learn_ends_as_one_that_was_not(
    finished: Path, tmp_path: Path
) -> None:
    whole = last_run(finished, NAME)
    # What was learned, the journal has, too: the folder has no compiled players.
    cut_off(whole, tmp_path / "runs", {"studies": 3, "matches": 1000})
    done = raybench(*LEARNING, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = last_run(tmp_path, NAME)
    assert run.name == whole.name
    assert "Resuming" in done.stdout + done.stderr
    assert max(Counter(it["study"] for it in lines(run, "studies")).values()) == 1
    assert timeless(lines(run)) == timeless(lines(whole))
