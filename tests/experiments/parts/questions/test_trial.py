"""Judges at endpoints, tried before anybody is asked anything: real HTTP, no Ray."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from http_endpoint import Handler, HttpEndpoint
from refusals import refused

from raybench import benchmarks
from raybench.config import DataConf, FleetConf
from raybench.errors import RunFailed
from raybench.experiments.parts.questions.trial import try_judges
from raybench.pipeline import datasets
from raybench.pipeline.datasets import Prepared, Selection
from raybench.pipeline.judges import Panel, as_judge
from raybench.types import ModelSpec

VERDICT = {
    "extracted_final_answer": "4",
    "reasoning": "So.",
    "correct": "yes",
    "confidence": 80,
}


def says(text: str, finish: str = "stop") -> tuple[int, Any]:
    choice = {"message": {"content": text}, "finish_reason": finish}
    return 200, {"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}


def refuses(status: int, words: str) -> tuple[int, Any]:
    return status, {"error": {"message": words}}


FULL = "maximum context length is 8 tokens. However, your messages resulted in 9 tokens."
JUDGES = says(json.dumps(VERDICT))


class Endpoint(HttpEndpoint):
    """Replies one after the other; the last reply goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.replies = [JUDGES]
        self.asked = 0

    def play(self, handler: Handler) -> None:
        with self.lock:
            self.asked += 1
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        handler.send(*reply)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        yield server


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    samples = DataConf(source="samples")
    folder = tmp_path_factory.mktemp("data")
    return datasets.prepare([benchmarks.load("hle")], samples, Selection(), folder)


async def tried(url: str, data: Prepared, *, needed: bool = True) -> None:
    judge = as_judge(ModelSpec("far", "openai", "judge", options={"base_url": url}))
    names = [judge.name] if needed else []
    await try_judges(Panel({"far": judge}, 0), data, names, FleetConf(), lambda _: None)


@pytest.mark.parametrize(
    ("replies", "asked"),
    [
        ([JUDGES], 1),
        ([says("correct: yes")], 1),
        # One question says little: it may be long, or one that the judge does not like.
        ([says("Well."), JUDGES], 2),
        ([says("corr", "length"), says("", "content_filter"), JUDGES], 3),
        ([refuses(400, FULL), JUDGES], 2),
        # There is patience for that when there is something to judge.
        ([refuses(429, "slow down")], 4),
    ],
)
async def test_who_can_judge_or_may_in_a_while_is_let_through(
    endpoint: Endpoint, data: Prepared, replies: list[Any], asked: int
) -> None:
    endpoint.replies = replies
    await tried(endpoint.url, data)
    assert endpoint.asked == asked


@pytest.mark.parametrize(
    ("reply", "why", "asked"),
    [
        (refuses(401, "bad key"), "^far, .*HTTP 401.*bad key", 1),
        (refuses(404, "no such model"), "^far, .*HTTP 404.*no such model", 1),
        (says("lorem ipsum"), r"^far, .*\('lorem ipsum', stop\)", 3),
    ],
)
async def test_who_cannot_stops_it_with_the_reason(
    endpoint: Endpoint, data: Prepared, reply: Any, why: str, asked: int
) -> None:
    endpoint.replies = [reply]
    with refused("model.unreachable", None, kind=RunFailed) as caught:
        await tried(endpoint.url, data)
    assert re.search(why, str(caught.value), re.DOTALL)
    assert endpoint.asked == asked


async def test_where_nobody_is_it_is_not_waited_for(data: Prepared) -> None:
    with refused("model.unreachable", None, kind=RunFailed) as caught:
        await tried("http://127.0.0.1:9/v1", data)
    assert re.search("^far, .*ConnectError.*4 times", str(caught.value))


async def test_who_has_nothing_to_judge_is_not_tried(endpoint: Endpoint, data: Prepared) -> None:
    await tried(endpoint.url, data, needed=False)
    assert endpoint.asked == 0
