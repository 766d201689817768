"""The index a second time: what models and checkers have said already, nobody is asked again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import raybench
from http_endpoint import Handler, HttpEndpoint

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("on_lasting_ray")]


class Endpoint(HttpEndpoint):
    """Answers everything alike, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def play(self, handler: Handler) -> None:
        if "messages" not in handler.body:
            return handler.send(404, {})
        prompt = handler.body["messages"][-1]["content"]
        with self.lock:
            self.asked.append(prompt)
        text = "No" if "Expression 1" in prompt else "Answer: A \\boxed{0}"
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        return handler.send(200, {"choices": [choice], "usage": usage})


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        yield server


def last_results(folder: Path) -> dict[str, Any]:
    *_, run = sorted((folder / "runs" / "index").iterdir())
    found: dict[str, Any] = json.loads((run / "results.json").read_text())
    return found


def test_more_questions_and_repeats_cost_what_is_new(endpoint: Endpoint, ready: Path) -> None:
    model = f"{{name: far, engine: openai, weights: far, revision: may, options: {{base_url: \
'{endpoint.url}'}}}}"
    environment = {"XDG_CACHE_HOME": str(ready / "cache")}

    def asked(*settings: str) -> tuple[int, dict[str, Any]]:
        endpoint.asked.clear()
        done = raybench(
            "+experiment=index", "data=samples", "benchmarks=[mmlu_pro,math_500]",
            f"roster.models=[{model}]", "checker=far", *settings,
            cwd=ready, environment=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return len(endpoint.asked), last_results(ready)["run"]

    first, run = asked("limit=2", "repeats=1")
    checks = first - run["units"]
    assert (run["units"], run["reused"]) == (4, 0)
    assert 0 < checks <= 2
    more, run = asked("limit=3", "repeats=2")
    # 6 questions twice, of which 4 have been asked once; at most one answer is new to the checker.
    assert (run["units"], run["reused"]) == (12, 4)
    assert 8 <= more <= 9
    anew, run = asked("limit=2", "repeats=1", "cache=false")
    assert (anew, run["units"], run["reused"]) == (first, 4, 0)
