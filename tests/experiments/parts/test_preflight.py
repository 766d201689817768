"""Endpoints that refuse a model when a run begins: real HTTP, from the command line."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import last_run, raybench, results_of, with_store
from http_endpoint import Handler, HttpEndpoint
from in_process import run_here

from raybench.fleet.refusals import IN_A_ROW

GAMES = ("+experiment=games", "games.names=[liars_dice]", "games.matches=6", "games.bootstrap=0")
INDEX = ("+experiment=index", "data=samples", "benchmarks=[gpqa_diamond]", "limit=4", "repeats=1")


class Endpoint(HttpEndpoint):
    """Refuses some models, with the status that is given; all others reply.

    From some number of questions on, the key is revoked.
    """

    def __init__(self, replies: float = math.inf, **refuses: int) -> None:
        super().__init__()
        self._refuses = refuses
        self._replies = replies
        self.words: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()

    def word(self, handler: Handler) -> None:
        self._reply(handler, self.words)

    def play(self, handler: Handler) -> None:
        self._reply(handler, self.asked)

    def _reply(self, handler: Handler, count: Counter[str]) -> None:
        name = handler.body["model"]
        with self.lock:
            count[name] += 1
            revoked = self.asked.total() > self._replies
        if status := 401 if revoked else self._refuses.get(name):
            return handler.send(status, {"error": {"message": "refused"}})
        prompt = str(handler.body["messages"][-1]["content"])
        move = "bid 1 1" if "no bid" in prompt else "call"
        message = {"content": f"Answer: A\nMove: {move}"}
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        choice = {"message": message, "finish_reason": "stop"}
        return handler.send(200, {"choices": [choice], "usage": usage})

    def roster(self, *names: str) -> str:
        url = f"{{base_url: '{self.url}', api_key_env: MY_KEY}}"
        each = (f"{{name: {it}, engine: openai, weights: {it}, options: {url}}}" for it in names)
        return f"roster.models=[{', '.join(each)}]"


@pytest.fixture(autouse=True)
def my_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-wrong-0123456789")


@pytest.fixture
def wrong_key() -> Iterator[Endpoint]:
    with Endpoint(a=401, b=401, c=401) as endpoint:
        yield endpoint


@pytest.mark.process
def test_a_run_whose_key_is_wrong_ends_before_ray_starts(wrong_key: Endpoint, ready: Path) -> None:
    # No cluster is there: to look for one would fail otherwise.
    nobody = {"RAY_ADDRESS": "127.0.0.1:1"}
    done = raybench(*INDEX, wrong_key.roster("a", "b"), cwd=ready, environment=nobody)
    assert done.returncode == 1, done.stderr
    assert wrong_key.words == {"a": 1, "b": 1} and not wrong_key.asked
    assert all(it in done.stderr for it in ("a: ", "b: ", "HTTP 401", "MY_KEY", wrong_key.url))
    assert "Traceback" not in done.stderr and "sk-wrong" not in done.stderr
    assert not (last_run(ready, "index") / "results.json").exists()


@pytest.mark.process
def test_an_exam_whose_judge_is_refused_ends_before_anybody_is_asked(ready: Path) -> None:
    with Endpoint(bad=403) as endpoint:
        judge = endpoint.roster("bad").replace("roster.models", "roster.judges")
        done = raybench(
            "+experiment=hle", "data=samples", "images=false", "limit=2",
            endpoint.roster("good"), judge, "judges=[bad]",
            cwd=ready, environment={"RAY_ADDRESS": "127.0.0.1:1"},
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert endpoint.words == {"good": 1, "bad": 1} and not endpoint.asked
    assert "HTTP 403" in done.stderr and "MY_KEY" in done.stderr


@pytest.mark.ray
@pytest.mark.usefixtures("on_lasting_ray")
def test_a_model_that_is_refused_leaves_the_others_to_be_ranked(ready: Path) -> None:
    with Endpoint(bad=404) as endpoint:
        done = raybench(*INDEX, endpoint.roster("good", "bad"), cwd=ready)
    assert done.returncode == 1, done.stderr
    assert endpoint.words == {"good": 1, "bad": 1}
    assert endpoint.asked == {"good": 4}
    results = results_of(ready, "index")
    assert [*results["run"]["failed"]] == ["bad"]
    assert results["counts"]["bad"]["infra_error"] == 4
    assert results["counts"]["good"]["infra_error"] == 0
    assert results["models"]["good"]["gpqa_diamond/accuracy"]["n"] == 4
    assert done.stderr.count("bad is unavailable") == 1


@pytest.mark.ray
@pytest.mark.usefixtures("on_lasting_ray")
def test_a_key_that_is_revoked_in_the_middle_costs_a_handful_of_calls(ready: Path) -> None:
    with Endpoint(replies=6) as endpoint:
        models = endpoint.roster("far").replace("MY_KEY", "MY_KEY, concurrency: 1")
        done = raybench(*INDEX, "benchmarks=[mmlu_pro,gpqa_diamond,math_500]", "limit=12",
                        "repeats=4", "checker=null", models, cwd=ready)  # fmt: skip
    assert done.returncode == 1, done.stderr
    results = results_of(ready, "index")
    counts = results["counts"]["far"]
    assert counts["infra_error"] >= 100 and sum(counts.values()) - counts["infra_error"] == 6
    assert endpoint.asked["far"] == 6 + IN_A_ROW and endpoint.words["far"] == 2
    assert [*results["run"]["failed"]] == ["far"]
    assert done.stderr.count("far is unavailable") == 1


@pytest.mark.slow
def test_games_go_on_without_a_model_that_is_refused(tmp_path: Path) -> None:
    with Endpoint(c=403) as endpoint:
        done = run_here(*GAMES, endpoint.roster("a", "b", "c"), cwd=with_store(tmp_path))
    assert done.returncode == 1, done.stderr
    assert endpoint.words == {"a": 1, "b": 1, "c": 1}
    assert {*endpoint.asked} == {"a", "b"}
    results: dict[str, Any] = results_of(tmp_path, "games")
    assert [*results["run"]["failed"]] == ["c"]
    assert results["models"]["a"]["games/rating"]["n"] > 0


@pytest.mark.slow
def test_the_parts_of_a_suite_have_one_preflight(tmp_path: Path) -> None:
    with Endpoint() as endpoint:
        command = (
            "+experiment=suite", "suite.parts=[games,autobench]", "games.names=[liars_dice]",
            "games.matches=4", "games.bootstrap=0", "autobench.iterations=1",
            endpoint.roster("a", "b"),
        )  # fmt: skip
        cwd = with_store(tmp_path)
        planned = run_here(*command, "dry_run=true", cwd=cwd)
        assert planned.returncode == 0 and not endpoint.words, "a plan asks nothing"
        run_here(*command, cwd=cwd)
    assert endpoint.words == {"a": 1, "b": 1}


@pytest.mark.slow
def test_who_has_nothing_left_to_say_is_not_asked_for_a_word(tmp_path: Path) -> None:
    cwd = with_store(tmp_path)
    with Endpoint() as endpoint:
        command = (*GAMES, endpoint.roster("a", "b"))
        assert run_here(*command, cwd=cwd).returncode == 0
        (last_run(cwd, "games") / "results.json").unlink()
        asked = endpoint.asked.total()
        assert run_here(*command, cwd=cwd).returncode == 0
    assert endpoint.words == {"a": 1, "b": 1} and endpoint.asked.total() == asked
