"""The index a second time: what models and checkers have said already, nobody is asked again."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import own_cache, raybench
from http_endpoint import Handler, HttpEndpoint

from raybench import benchmarks

pytestmark = pytest.mark.slow


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
    environment = own_cache(ready)

    def asked(*settings: str) -> tuple[int, dict[str, Any]]:
        endpoint.asked.clear()
        done = raybench(
            "+experiment=index", "data=samples", "benchmarks=[mmlu_pro,math_500]",
            f"roster.models=[{model}]", "checker=far", *settings,
            cwd=ready, environment=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return len(endpoint.asked), last_results(ready)["run"]

    first, run = asked("limit=4", "repeats=1")
    checks = first - run["units"]
    assert (run["units"], run["reused"]) == (8, 0)
    assert 0 < checks <= 4
    more, run = asked("limit=6", "repeats=2")
    # 12 questions twice, of which 8 have been asked once; at most 2 answers are new to the checker.
    assert (run["units"], run["reused"]) == (24, 8)
    assert 16 <= more <= 18
    again, run = asked("limit=6", "repeats=2", "resume=false")
    assert (again, run["units"], run["reused"]) == (0, 24, 24)
    anew, run = asked("limit=4", "repeats=1", "cache=false")
    assert (anew, run["units"], run["reused"]) == (first, 8, 0)


def questions(folder: Path) -> Path:
    """Files of questions, some of which the embedded model answers in a box, as it mostly fails to.

    The answers are wrong: the checker has something to look at.
    """
    boxed = [f'Say "The answer is \\boxed{{{number}}}".' for number in (12, 7, 30)]
    boxed += [
        f"Translate into English: Die Antwort ist \\boxed{{{number}}}." for number in (7, 5, 12)
    ]
    folder.mkdir()
    with (folder / "math_500.jsonl").open("w") as file:
        for number, text in enumerate(boxed):
            row = {"id": number, "question": text, "answer": "8", "subject": "copying"}
            file.write(json.dumps(row) + "\n")
    shutil.copy(Path(benchmarks.__file__).parent / "samples" / "mgsm.jsonl", folder)
    return folder


def test_an_engine_whose_replies_are_all_there_is_not_started(ready: Path) -> None:
    """The real path: the embedded model in vLLM, asked in two languages and as its own checker."""
    environment = own_cache(ready)
    data = questions(ready / "data")

    def run() -> dict[str, Any]:
        done = raybench(
            "+experiment=index", f"data.dir={data}", "benchmarks=[math_500,mgsm]",
            "languages=[en,de]", "roster.models=[{name: small, weights: embedded}]", "limit=6",
            "repeats=1", "max_tokens=96", "temperature=0", "checker=small",
            cwd=ready, environment=environment, timeout=400,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return last_results(ready)

    first = run()
    assert first["run"]["units"] == 18
    assert sum(first["counts"]["small"][kind] for kind in ("infra_error", "judge_error")) == 0
    *_, journal = sorted(ready.glob("runs/index/*/journal/units.jsonl"))
    units = [json.loads(line) for line in journal.read_text().splitlines()]
    checked = {unit["answer"] for unit in units if unit.get("checker")}
    assert checked
    asked = first["fleet"]["this_session"]["models"]["small"]
    assert asked["requests"] == 18 + len(checked)  # the truth is the same, and asked about once
    again = run()
    assert again["run"]["reused"] == 18
    assert again["fleet"]["this_session"]["models"] == {}  # no engine came up
    names = ("mgsm/accuracy", "mgsm/accuracy/de", "mgsm/output_tokens")
    for name in names:
        assert again["models"]["small"][name] == first["models"]["small"][name]
