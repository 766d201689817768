"""The ablations, played in this process on stand-ins: what they leave, share and go on from."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from flipping import opened
from helpers import last_run, results_of, with_store
from in_process import run_here
from keyed import check
from reading import read_back
from stopped_runs import cut_off

from raybench.config.autobench_ablations import VARIANTS, WORDS

pytestmark = pytest.mark.slow

MODELS = ", ".join(
    f"{{name: m{n}, engine: simulated, options: {{ability: 0.{n}}}}}" for n in (2, 4, 6, 8)
)
JUDGES = "{name: referee, engine: simulated, options: {ability: 1.0}}"
# Of these stand-ins' tasks some are turned down, by some judges and not by others.
STRICT = ("autobench.iterations=8", "autobench.mean_threshold=3.4", "autobench.median_threshold=3")
ABLATIONS = "autobench_ablations"


def settings(experiment: str, models: str = MODELS, judges: str = JUDGES) -> list[str]:
    return [
        f"+experiment={experiment}",
        f"roster.models=[{models}]",
        f"roster.judges=[{judges}]",
        *STRICT,
    ]


def run(folder: Path, *arguments: str, plots: bool = False) -> dict[str, Any]:
    """Run an experiment in a folder, in this process; return its results."""
    done = run_here(*arguments, cwd=folder, plots=plots)
    assert done.returncode == 0, done.stderr
    return results_of(folder, arguments[0].partition("=")[2])


def journal(folder: Path, name: str = "iterations", of: str = ABLATIONS) -> list[dict[str, Any]]:
    lines = (last_run(folder, of) / "journal" / f"{name}.jsonl").read_bytes()
    return [json.loads(line) for line in lines.splitlines()]


def untimed(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    without = ("seconds", "ended_ms")
    return [{name: it for name, it in record.items() if name not in without} for record in records]


def replies(folder: Path) -> list[str]:
    return [where for it in journal(folder, "replies") for where, *_ in it.get("replies", ())]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = with_store(tmp_path_factory.mktemp("ablations"))
    (folder / "truth.csv").write_text("model,ability\nm2,2\nm4,4\nm6,6\nm8,8\n")
    run(folder, *settings(ABLATIONS), "autobench.external.truth=truth.csv", plots=True)
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    """A copy of that folder, to write to."""
    return shutil.copytree(finished, tmp_path / "ablations")


def test_mlflow_has_what_results_have(finished: Path) -> None:
    assert check(finished, "autobench_ablations")


def test_results_name_the_deviations_of_the_full_protocol(finished: Path) -> None:
    told = results_of(finished, ABLATIONS)["run"]["deviations"]
    assert {it["setting"] for it in told} == {
        "autobench.restarts",
        "autobench.faulty_tasks",
        "autobench.fenced",
        "autobench.constrained_ratings",
    }


def test_every_iteration_can_be_read_with_who_judged_it_under_which_variant(
    finished: Path,
) -> None:
    page = (last_run(finished, ABLATIONS) / "report.html").read_text(encoding="utf-8")
    read, records = dict(read_back(page)), journal(finished)
    assert len(read) == len(records)
    for unit in read.values():
        record = records[unit["line"] - 1]
        assert unit["facets"]["variant"][0].startswith(WORDS[record["variant"]])
        assert unit["summary"].startswith(f"{record['iteration']}: ")
        texts = [text for _, text in unit["texts"]]
        assert {*record["answers"].values()} <= {*texts}
    assert any("by referee" in text for _, text in read["outside_judges-iteration-1"]["texts"])


def test_tasks_that_one_model_answered_better_open_in_the_report(finished: Path) -> None:
    assert opened(last_run(finished, ABLATIONS)) > 0


def test_every_variant_is_played_by_its_own_rule(finished: Path) -> None:
    by: dict[str, list[dict[str, Any]]] = {}
    for record in journal(finished):
        by.setdefault(record["variant"], []).append(record)
    assert tuple(by) == VARIANTS
    for records in by.values():
        assert [record["iteration"] for record in records] == list(range(1, 9))
    posed = {name: [it for it in records if it["task"]] for name, records in by.items()}
    assert all(set(it["judgments"]) == {"m8"} for it in posed["single_judge"])
    assert all(set(it["judgments"]) == {"referee"} for it in posed["outside_judges"])
    for record in posed["no_self_judgement"]:
        assert all(judge not in given for judge, given in record["judgments"].items())
    assert {w for it in posed["uniform_weights"] for w in it["weights"].values()} == {0.25}
    assert len({it["task"] for it in posed["fixed_tasks"]}) == 8
    assert len({it["topic"] for it in posed["fixed_tasks"]}) == 8
    # Each accepts by its own ratings: what the full protocol takes, the single judge does not.
    fates = {name: [len(it["attempts"]) for it in records] for name, records in by.items()}
    assert fates["single_judge"] != fates["full"]
    assert not any(fates["fixed_tasks"])


def test_the_full_variant_is_a_plain_run_and_extends_one(finished: Path, tmp_path: Path) -> None:
    folder = with_store(tmp_path)
    plain = run(folder, *settings("autobench"))
    alone = untimed(journal(folder, of="autobench"))
    full = [record for record in untimed(journal(finished)) if record.pop("variant") == "full"]
    assert full == alone
    models = results_of(finished, ABLATIONS)["models"]
    for model, of in plain["models"].items():
        assert {name: models[model][name] for name in of} == of
    results = run(folder, *settings(ABLATIONS), "autobench.extends=last")
    took = results["run"]["ablations"]["full"]["calls"]
    assert took["reused"] == took["calls"] == plain["run"]["calls"]["calls"]
    assert took["asked"] == 0
    assert untimed(journal(folder)) == untimed(journal(finished))


def test_what_two_variants_ask_is_asked_once(finished: Path) -> None:
    kept = replies(finished)
    assert len(kept) == len(set(kept))
    results = results_of(finished, ABLATIONS)
    took = {name: of["calls"] for name, of in results["run"]["ablations"].items()}
    asked = results["fleet"]["this_session"]["total"]["requests"]
    assert asked == len(kept) == sum(of["asked"] for of in took.values())
    assert took["full"]["shared"] == took["fixed_tasks"]["shared"] == 0
    for name in ("single_judge", "no_self_judgement", "uniform_weights"):
        assert took[name]["shared"] > took[name]["calls"] / 2
    # Nobody else has asked the referee; its tasks and answers are those of others.
    assert 0 < took["outside_judges"]["shared"] < took["outside_judges"]["calls"]
    said = (last_run(finished, ABLATIONS) / "leaderboard.md").read_text()
    assert f"{took['single_judge']['asked']:,} of {took['single_judge']['calls']:,}" in said
    assert "Fixed tasks: " in said  # of stand-ins every score is that of the full protocol


def test_table_1_is_in_results_markdown_and_report(finished: Path) -> None:
    results = results_of(finished, ABLATIONS)
    variants = results["run"]["ablations"]
    assert tuple(variants) == VARIANTS
    for name, of in variants.items():
        played = of["external"]["truth"]["played"]
        assert -1 <= played["kendall"]["value"] <= 1
        assert played["spearman"]["n"] == 4
        assert ("kendall_added_by_full" in played) == (name != "full")
        assert (of["order"] is None) == (name == "full")
        replayed = name in ("single_judge", "no_self_judgement", "uniform_weights")
        assert (of["external"]["truth"]["replayed"] is not None) == replayed
        assert of["found_a_task"]["n"] == 8
        assert of["parse_rate"]["value"] == 1
    for metrics in results["models"].values():
        for name in VARIANTS[1:]:
            assert 1 <= metrics[f"autobench_ablations/{name}/score"]["value"] <= 5
    folder = last_run(finished, ABLATIONS)
    board = (folder / "leaderboard.md").read_text()
    assert "| variant | τ, truth |" in board
    assert "single judge: m8" in board
    page = (folder / "report.html").read_text()
    for said in (
        "single judge: m8, replayed",
        "iteration × L1 distance",
        "Leaderboard: fixed tasks",
    ):
        assert said in page
    rows = [json.loads(line) for line in (folder / "ablations.jsonl").read_text().splitlines()]
    assert rows == list(variants.values())


def test_another_table_concludes_the_finished_run_anew(copied: Path) -> None:
    before = last_run(copied, ABLATIONS)
    (copied / "reversed.csv").write_text("model,ability\nm2,8\nm4,6\nm6,4\nm8,2\n")
    again = run(copied, *settings(ABLATIONS), "autobench.external.other=reversed.csv")
    assert last_run(copied, ABLATIONS) == before
    for of in again["run"]["ablations"].values():
        assert of["external"]["other"]["played"]["kendall"]["value"] < 0
    assert again["fleet"]["this_session"]["total"]["requests"] == 0
    # Without any table it still says how far the variants agree.
    alone = run(copied, *settings(ABLATIONS))
    assert alone["run"]["ablations"]["single_judge"]["order"]["kendall"]["value"] is not None


def test_a_killed_run_goes_on_within_a_variant(finished: Path, tmp_path: Path) -> None:
    whole = last_run(finished, ABLATIONS)
    lines = (whole / "journal" / "replies.jsonl").read_bytes().count(b"\n")
    cut = cut_off(whole, tmp_path / "runs", {"iterations": 12, "replies": lines * 3 // 4})
    shutil.copy(finished / "truth.csv", tmp_path)
    kept = (cut / "journal" / "replies.jsonl").read_bytes().splitlines()[:-1]
    before = [where for line in kept for where, *_ in json.loads(line).get("replies", ())]
    given = (*settings(ABLATIONS), "autobench.external.truth=truth.csv")
    done = run_here(*given, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Resuming" in done.stderr
    after = replies(tmp_path)
    assert len(after) == len(set(after))
    assert set(before) < set(after)
    results = results_of(tmp_path, ABLATIONS)
    assert results["fleet"]["this_session"]["total"]["requests"] == len(after) - len(before)
    # All is as if nobody had killed it, what was shared included.
    assert untimed(journal(tmp_path)) == untimed(journal(finished))
    undisturbed = results_of(finished, ABLATIONS)["run"]["ablations"]
    for name, of in results["run"]["ablations"].items():
        assert of["calls"]["shared"] + of["calls"]["asked"] == of["calls"]["calls"]
        assert of["found_a_task"] == undisturbed[name]["found_a_task"]
    assert sum(of["calls"]["asked"] for of in results["run"]["ablations"].values()) == len(after)
