"""Budgets count what all sessions of a run have spent."""

import asyncio
import json
import math
import re
import signal
from pathlib import Path

import pytest
from helpers import last_run, raybench, with_store
from in_process import run_here
from stopped_runs import run_until

from raybench.experiments.games import running
from raybench.experiments.games.spent import Spent
from raybench.pipeline.journal import Journal

SLOW = (
    "+experiment=games",
    "games.names=[debate,chess]",
    "games.matches=1900",
    "games.at_once=4",
    "games.bootstrap=0",
    "roster.models=["
    + ", ".join(
        f"{{name: {name}, engine: simulated, options: {{latency_s: 0.05}}}}" for name in "abc"
    )
    + "]",
)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_earlier_sessions_noted_last_counts() -> None:
    spent = Spent(Clock())
    for session, seconds, tokens in ((0, 5.0, 70), (0, 9.5, 90), (1, 2.0, 10)):
        spent.enter({"session": session, "seconds": seconds, "tokens": tokens})
    spent.reading = False
    assert (spent.told["seconds"](), spent.told["tokens"]()) == (11.5, 100)


def test_a_session_notes_what_it_spent_itself_every_few_seconds() -> None:
    clock = Clock()
    spent = Spent(clock)
    spent.enter({"session": 0, "seconds": 9.5, "tokens": 90})
    spent.reading = False
    clock.now += 3.0
    spent.count(7)
    clock.now += 3.0
    line = spent.line()
    assert line == {"session": 1, "seconds": 6.0, "tokens": 7}
    spent.enter(line)
    assert (spent.told["seconds"](), spent.told["tokens"]()) == (15.5, 97)


@pytest.mark.parametrize("line", [{"session": 1}, {"session": "x", "seconds": 1, "tokens": 1}])
def test_other_lines_are_refused(line: dict[str, object]) -> None:
    with pytest.raises((KeyError, ValueError)):
        Spent().enter(line)


@pytest.mark.process
def test_a_run_that_goes_on_has_the_rest_of_its_budget(tmp_path: Path) -> None:
    """Jurors' tokens count as well: those of the session are all that its engines wrote."""
    ready = with_store(tmp_path / "runs")
    code, told = run_until("turns", 40, signal.SIGINT, *SLOW, "games.budget_s=600", cwd=ready)
    assert code == 130, told
    spent = last_run(ready, "games") / "journal" / "spent.jsonl"
    first = json.loads(spent.read_text().splitlines()[-1])
    assert first["seconds"] > 0 and first["tokens"] > 0
    budget = math.ceil(first["seconds"]) + 1
    done = raybench(*SLOW, f"games.budget_s={budget}", cwd=ready)
    assert done.returncode == 0, done.stderr
    run = last_run(ready, "games")
    lines = [json.loads(it) for it in spent.read_text().splitlines()]
    last = {it["session"]: it for it in lines}
    assert sorted(last) == [0, 1]
    assert last[0] == first
    results = json.loads((run / "results.json").read_text())
    stopped = re.match(rf"(\d+) seconds of {budget} ", results["run"]["stopped"])
    assert stopped and int(stopped[1]) >= budget
    total = sum(it["seconds"] for it in last.values())
    assert total >= budget  # what was under way is finished, which takes a busy machine longer
    assert last[1]["tokens"] == results["fleet"]["this_session"]["total"]["output_tokens"]
    records = [json.loads(it) for it in (run / "journal" / "matches.jsonl").open()]
    by_players = sum(turn["tokens"] for it in records for turn in it["turns"])
    assert sum(it["tokens"] for it in last.values()) > by_players


@pytest.mark.slow
def test_a_jury_out_of_reach_ends_a_run_when_all_else_is_played(tmp_path: Path) -> None:
    players = ", ".join(f"{{name: {name}, engine: simulated}}" for name in "abc")
    juror = "{name: x, engine: simulated, options: {infra_error: 1.0}}"
    given = (
        "+experiment=games", "games.names=[debate,liars_dice]", "games.matches=80",
        "games.jury=[x]", "games.bootstrap=0", "games.at_once=8", "games.weights.chess=2",
        "games.patience_s=0",
        f"roster.models=[{players}]", f"roster.judges=[{juror}]",
    )  # fmt: skip
    done = run_here(*given, cwd=with_store(tmp_path / "runs"))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    told = done.stderr + done.stdout
    assert "warning: a jury" in told
    assert re.search(r"jury .*.*\(x\): .*: 40 matches ", told, re.DOTALL)
    assert "Waiting for" not in told, "no patience is wanted"
    assert "Note: games.weights.chess: " in told
    assert "40 count" in told
    run = last_run(tmp_path / "runs", "games")
    assert not (run / "results.json").exists()
    records = [json.loads(it) for it in (run / "journal" / "matches.jsonl").open()]
    assert [it["game"] for it in records] == ["liars_dice"] * 40
    assert not any(it["void"] for it in records)


async def test_it_is_noted_while_nothing_happens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(running, "NOTED_S", 0.0)
    account = Journal(tmp_path / "spent.jsonl")
    noting = asyncio.create_task(running._noted(Spent(), account))
    while len(account.records) < 3:
        await asyncio.sleep(0)
    noting.cancel()
    assert [it["session"] for it in account.records][:3] == [0, 0, 0]
