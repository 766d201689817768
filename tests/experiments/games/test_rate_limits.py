"""An endpoint that has enough for a while: a run waits as it is told, and loses nothing."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers import last_run, with_store
from http_endpoint import Handler, HttpEndpoint
from in_process import run_here


class Limited(HttpEndpoint):
    """Takes five requests, refuses the next ten, then takes all; it calls as soon as it can."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = self.replied = 0

    def play(self, handler: Handler) -> None:
        with self.lock:
            refused = self.replied == 5 and self.refused < 10
            self.refused += refused
            self.replied += not refused
        if refused:
            body = {"error": {"message": "rate limit reached"}}
            return handler.send(429, body, **{"Retry-After": "1"})
        asked = handler.body["messages"][-1]["content"]
        move = "bid 1 1" if "no bid" in asked else "call"
        name = handler.body["model"]
        message = {"content": f"I am {name}.\nMove: {move}"}
        usage = {"prompt_tokens": 11, "completion_tokens": 7}
        return handler.send(
            200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        )


@pytest.mark.slow
def test_rate_limits_do_not_end_a_run_and_every_match_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with Limited() as server:
        models = ", ".join(
            f"{{name: {name}, engine: openai, weights: gpt-{name},"
            f" options: {{base_url: '{server.url}'}}}}"
            for name in "abcd"
        )
        done = run_here(
            "+experiment=games", "games.names=[liars_dice]", "games.matches=60",
            "games.bootstrap=0", "games.at_once=20", f"roster.models=[{models}]",
            cwd=with_store(tmp_path / "runs"),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert server.refused == 10
    run = last_run(tmp_path / "runs", "games")
    records: list[dict[str, Any]] = [
        json.loads(line) for line in (run / "journal" / "matches.jsonl").read_text().splitlines()
    ]
    assert sorted(it["match"] for it in records) == [*range(1, 61)]
    assert not any(it["void"] or it["forfeits"] or it["attempt"] for it in records)
    turns = [turn for it in records for turn in it["turns"]]
    assert len(turns) == 2 * 60 == server.replied
    assert all(it["reply"].startswith(f"I am gpt-{it['model']}.\n") for it in turns)
    results = json.loads((run / "results.json").read_text())
    assert Counter(it["infra_error"] for it in results["counts"].values()) == {0: 4}
    assert sum(of["games/rating"]["n"] for of in results["models"].values()) == 120
