"""The games from the command line, on stand-ins: what a run leaves, resume, and what is refused."""

import csv
import io
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

import chess.pgn
import pytest
from flipping import opened
from helpers import last_run, raybench, with_store
from in_process import run_here
from keyed import check
from reading import asks_nothing
from shared_runs import GAMES as QUICK
from shared_runs import SharedRuns
from stopped_runs import kill_at
from tracked import client_of

from raybench.experiments.parts import session

pytestmark = pytest.mark.process

GAMES = ("+experiment=games", "roster=simulated")
# All matches are under way at once: each model waits a little before every reply.
SLOW = (
    "+experiment=games",
    "games.names=[chess]",
    "games.matches=4",
    "games.rules.chess.plies=40",
    "games.bootstrap=0",
    "roster.models=[{name: a, engine: simulated, options: {latency_s: 0.01, unparsed: 0.05}},"
    " {name: b, engine: simulated, options: {latency_s: 0.01}}]",
)


def lines(run: Path, name: str = "matches") -> list[dict[str, Any]]:
    text = (run / "journal" / f"{name}.jsonl").read_bytes()
    return [json.loads(line) for line in text.splitlines()]


def timeless(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    clocks = ("seconds", "ended_ms")
    found = [{key: it for key, it in record.items() if key not in clocks} for record in records]
    return sorted(found, key=lambda record: int(record["match"]))


@pytest.fixture(scope="module")
def finished(shared_runs: SharedRuns) -> Path:
    return shared_runs.copy(*QUICK)


def test_matches_between_two_models_that_went_otherwise_open_in_the_report(finished: Path) -> None:
    assert opened(last_run(finished, "games")) > 0


def test_a_run_leaves_what_the_design_promises(finished: Path) -> None:
    run = last_run(finished, "games")
    for name in (
        "config.yaml",
        "journal/matches.jsonl",
        "journal/turns.jsonl",
        "results.json",
        "leaderboard.md",
        "leaderboard.csv",
        "report.html",
        "failures.jsonl",
        "pairs.jsonl",
        "standings.jsonl",
        "transcripts/chess.pgn",
        "transcripts/poker.txt",
        "transcripts/debate.md",
        "transcripts/prompts.md",
    ):
        assert (run / name).exists(), name
    assert [it["match"] for it in timeless(lines(run))] == [*range(1, 97)]
    played = Counter(it["game"] for it in lines(run))
    assert len(played) == 8 and max(played.values()) - min(played.values()) <= 7
    for record in lines(run):
        assert abs(sum(record["scores"].values())) < 1e-9
        assert {turn["role"] for turn in record["turns"]} <= {*record["seats"], "manager"}


def test_results_have_ratings_over_all_games_and_of_each(finished: Path) -> None:
    results = json.loads((last_run(finished, "games") / "results.json").read_text())
    assert results["simulated"] is True
    for metrics in results["models"].values():
        for key in ("games/rating", "games/valid_replies", "games/forfeits", "chess/rating"):
            assert set(metrics[key]) == {"value", "stderr", "ci95", "n", "method"}
        assert metrics["games/valid_replies"]["value"] == 1
    ratings = [it["games/rating"]["value"] for it in results["models"].values()]
    rated = [it for it in ratings if it is not None]
    assert len(rated) == 12 and abs(sum(rated) / 12 - 1000) < 1e-6
    ranks = {name: it["games/rank"] for name, it in results["models"].items()}
    assert {it["value"] for it in ranks.values()} == {*range(1, 13)}
    assert all(it["ci95"][0] <= it["value"] <= it["ci95"][1] for it in ranks.values())
    assert results["run"]["stopped"].startswith("96 matches")
    assert sum(n for of in results["run"]["matches"].values() for n in of.values()) == 96
    assert all(of["ok"] > 0 for of in results["counts"].values())


def test_every_match_is_won_drawn_or_lost_by_each_model_in_it(finished: Path) -> None:
    run = last_run(finished, "games")
    results = json.loads((run / "results.json").read_text())
    metrics, records = results["models"], lines(run)
    for game in ("games", *{it["game"] for it in records}):
        of = [it for it in records if game in ("games", it["game"]) and it["void"] is None]
        for model, told in metrics.items():
            seated = [it for it in of if model in it["seats"].values()]
            counts = [told[f"{game}/{name}"] for name in ("wins", "draws", "losses")]
            against = counts[0]["n"]
            assert against <= len(seated)
            assert all(it["n"] == against for it in counts)
            if against:
                assert sum(it["value"] for it in counts) == against
        chess = [it for it in of if it["game"] == game == "chess"]
        drawn = sum(len({*it["scores"].values()}) == 1 for it in chess)
        if game == "chess":
            assert sum(told["chess/draws"]["value"] or 0 for told in metrics.values()) == 2 * drawn
            wins, losses = (
                sum(told[f"chess/{name}"]["value"] or 0 for told in metrics.values())
                for name in ("wins", "losses")
            )
            assert wins == losses == len(chess) - drawn
    board = (run / "leaderboard.csv").read_text().splitlines()[0]
    assert all(f"games/{name}" in board for name in ("wins", "draws", "losses"))


def test_results_name_what_deviates_from_the_source(finished: Path) -> None:
    results = json.loads((last_run(finished, "games") / "results.json").read_text())
    told = {it["setting"]: it["given"] for it in results["run"]["deviations"]}
    assert set(told) == {"games.names", "games.rules.debate.closings"}
    assert "werewolf" in told["games.names"]
    run = last_run(finished, "games")
    above = (run / "report.html").read_text(encoding="utf-8").partition("<table")[0]
    board = (run / "leaderboard.md").read_text(encoding="utf-8")
    assert all(setting in above and setting in board for setting in told)
    assert sorted(results["run"]["judges"]) == sorted(results["models"])
    assert "Judged by" in above and "Judged by" in board
    assert '<a href="#deviations">' in above


def test_transcripts_are_what_people_of_the_game_read(finished: Path) -> None:
    run = last_run(finished, "games")
    pgn = io.StringIO((run / "transcripts" / "chess.pgn").read_text())
    read = []
    while (game := chess.pgn.read_game(pgn)) is not None:
        assert not game.errors
        read.append(game)
    matches = [it for it in lines(run) if it["game"] == "chess"]
    assert len(read) == len(matches)
    assert {it.headers["White"] for it in read} == {it["seats"]["white"] for it in matches}
    days = {time.strftime("%Y.%m.%d", time.gmtime(it["ended_ms"] / 1000)) for it in matches}
    assert {it.headers["Date"] for it in read} == days
    asked = (run / "transcripts" / "prompts.md").read_text()
    assert "### black: move\n\n```text\n" in asked and "### a juror" in asked
    assert "*** HOLE CARDS ***" in (run / "transcripts" / "poker.txt").read_text()
    assert "| seat | player |" in (run / "transcripts" / "werewolf.md").read_text()


def test_the_report_stands_by_itself(finished: Path) -> None:
    page = (last_run(finished, "games") / "report.html").read_text(encoding="utf-8")
    for title in ("Ratings by game", "Chances of winning", "Who won against whom",
                  "What a role is worth", "Reliability of moves", "Jury", "Read them"):  # fmt: skip
        assert f">{title}<" in page, title
    assert asks_nothing(page)


def test_the_table_has_a_line_for_each_model(finished: Path) -> None:
    run = last_run(finished, "games")
    rows = [*csv.DictReader((run / "leaderboard.csv").open())]
    assert {row["model"] for row in rows} == {f"sim-{n:02}" for n in range(1, 13)}


def test_mlflow_has_what_results_have_and_how_ratings_settled(finished: Path) -> None:
    check(finished, "games")
    results = json.loads((last_run(finished, "games") / "results.json").read_text())
    client = client_of(f"sqlite:///{finished}/runs/mlflow.db")
    found = client.search_runs([client.get_experiment_by_name("raybench").experiment_id])
    children = {it.data.tags["model"]: it for it in found if "model" in it.data.tags}
    assert len(children) == 12
    for model, child in children.items():
        history = client.get_metric_history(child.info.run_id, "games/running_rating")
        rated = {it.step: it.value for it in history}
        assert len(rated) == len(history) > 1
        assert max(rated) <= 96
        if max(rated) == 96:
            assert rated[96] == pytest.approx(results["models"][model]["games/rating"]["value"])


def conclude(folder: Path, *arguments: str) -> None:
    """Run in this process, where engines cannot be brought up."""

    def never(*given: object, **more: object) -> NoReturn:
        raise AssertionError("engines are brought up")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(session, "open_fleet", never)
        assert run_here(*arguments, cwd=folder).returncode == 0


def test_other_weights_conclude_the_same_matches_anew_without_engines(
    shared_runs: SharedRuns,
) -> None:
    finished = shared_runs.copy(*QUICK)
    run = last_run(finished, "games")
    before = (run / "journal" / "matches.jsonl").read_bytes()
    conclude(finished, *QUICK, "games.weights.chess=0")
    assert last_run(finished, "games") == run
    assert (run / "journal" / "matches.jsonl").read_bytes() == before
    results = json.loads((run / "results.json").read_text())
    method = results["models"]["sim-01"]["games/rating"]["method"]
    assert "chess" not in method.split("; ")[1]


def test_a_run_that_is_killed_goes_on_in_the_middle_of_its_matches(tmp_path: Path) -> None:
    ready, other = with_store(tmp_path / "killed"), with_store(tmp_path / "whole")
    kill_at("turns", 60, *SLOW, cwd=ready)
    run = last_run(ready, "games")
    assert not (run / "results.json").exists()
    kept = [it for it in lines(run, "turns") if "role" in it]
    with (run / "journal" / "turns.jsonl").open("a") as file:
        file.write('{"match": 1, "attempt": 0, "ro')  # as if the kill had come in the middle

    done = raybench(*SLOW, cwd=ready)
    assert done.returncode == 0, done.stderr
    assert last_run(ready, "games") == run
    told = [it for it in lines(run, "turns") if "role" in it]
    assert told[: len(kept)] == kept
    for record in lines(run):
        # The journal of turns has the first ones of a match, each in its place and once.
        own = [it for it in told if it["match"] == record["match"]]
        assert {it["attempt"] for it in own} == {record["attempt"]} == {0}
        turns = [{key: it[key] for key in own[0] if key in it} for it in record["turns"]]
        places = [{key: it[key] for key in turns[0]} for it in own]
        assert places == turns[: len(places)], "no turn was played twice"
    assert len({it["match"] for it in kept}) == 4, "all were in the middle"
    whole = run_here(*SLOW, cwd=other)
    assert whole.returncode == 0, whole.stderr
    assert timeless(lines(run)) == timeless(lines(last_run(other, "games")))


def test_forfeits_stand_apart(tmp_path: Path) -> None:
    models = ", ".join(
        f"{{name: {name}, engine: simulated, options: {{unparsed: {share}}}}}"
        for name, share in (("sure", 0.0), ("careless", 0.5), ("middling", 0.2))
    )
    done = run_here(
        "+experiment=games", "games.names=[liars_dice]", "games.matches=200",
        "games.bootstrap=100", f"roster.models=[{models}]", cwd=with_store(tmp_path / "runs"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = last_run(tmp_path / "runs", "games")
    models_of = json.loads((run / "results.json").read_text())["models"]
    forfeits = {name: of["games/forfeits"]["value"] for name, of in models_of.items()}
    assert forfeits["careless"] > forfeits["middling"] > forfeits["sure"] == 0
    with_them = models_of["careless"]["games/rating"]["value"]
    assert models_of["careless"]["games/rating_without_forfeits"]["value"] > with_them
    kinds = Counter(
        json.loads(line)["kind"] for line in (run / "failures.jsonl").read_text().splitlines()
    )
    assert kinds["forfeit"] > 10
    assert "\nForfeits  " in done.stdout


def test_a_model_that_cannot_be_reached_is_told_and_not_scored(tmp_path: Path) -> None:
    models = ", ".join(
        f"{{name: {name}, engine: simulated, options: {{infra_error: {share}}}}}"
        for name, share in (("here", 0.0), ("there", 0.0), ("gone", 1.0))
    )
    done = run_here(
        "+experiment=games", "games.names=[liars_dice]", "games.matches=60",
        "games.bootstrap=100", f"roster.models=[{models}]", cwd=with_store(tmp_path / "runs"),
    )  # fmt: skip
    assert done.returncode == 1
    assert "gone" in done.stderr and "Traceback" not in done.stderr
    run = last_run(tmp_path / "runs", "games")
    results = json.loads((run / "results.json").read_text())
    assert results["models"]["gone"]["games/rating"]["value"] is None
    assert results["counts"]["gone"]["infra_error"] > 0
    assert results["counts"]["here"]["infra_error"] == 0
    void = [it for it in lines(run) if it["void"]]
    assert void and all("gone" in it["seats"].values() and not it["scores"] for it in void)
