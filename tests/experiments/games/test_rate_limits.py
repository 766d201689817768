"""An endpoint that has enough for a while: a run waits as it is told, and loses nothing."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from helpers import last_run, raybench, with_store
from http_endpoint import Handler, HttpEndpoint


class Limited(HttpEndpoint):
    """Takes a few requests, none for two seconds, then all; it calls as soon as it can."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = self.replied = 0
        self._since: float | None = None

    def play(self, handler: Handler) -> None:
        with self.lock:
            now = time.monotonic()
            if self.replied == 5 and self._since is None:
                self._since = now
            refused = self._since is not None and now < self._since + 2.0
            self.refused += refused
            self.replied += not refused
        if refused:
            body = {"error": {"message": "rate limit reached"}}
            return handler.send(429, body, **{"Retry-After": "1"})
        asked = handler.body["messages"][-1]["content"]
        move = "bid 1 1" if "There is no bid to call yet" in asked else "call"
        name = handler.body["model"]
        message = {"content": f"I am {name}.\nMove: {move}"}
        usage = {"prompt_tokens": 11, "completion_tokens": 7}
        return handler.send(
            200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        )


def test_rate_limits_do_not_end_a_run_and_every_match_counts_once(tmp_path: Path) -> None:
    with Limited() as server:
        models = ", ".join(
            f"{{name: {name}, engine: openai, weights: gpt-{name},"
            f" options: {{base_url: '{server.url}'}}}}"
            for name in "abcd"
        )
        done = raybench(
            "+experiment=games", "games.names=[liars_dice]", "games.matches=60",
            "games.bootstrap=0", "games.at_once=20", f"roster.models=[{models}]",
            cwd=with_store(tmp_path / "runs"), environment={"OPENAI_API_KEY": "none"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert server.refused >= 10
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
