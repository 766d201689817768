"""The exam from the command line where an endpoint answers and an endpoint judges."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import raybench, results_of, units_of
from http_endpoint import Handler, HttpEndpoint

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("on_lasting_ray")]

DRAWS = ("temperature", "top_p", "max_tokens")
VERDICT = '{"extracted_final_answer": "it", "reasoning": "So.", "correct": "%s", "confidence": 70}'


class Endpoint(HttpEndpoint):
    """One model that answers 'yes', and a judge as OpenAI's that reason: it takes no sampling."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.judged: list[dict[str, object]] = []

    def play(self, handler: Handler) -> None:
        body = handler.body
        if body["model"] == "answers":
            self.asked.append(body["messages"][-1]["content"])
            return self.say(handler, "Explanation: So.\nExact Answer: yes\nConfidence: 70%")
        if refused := [name for name in DRAWS if name in body]:
            words = f"Unsupported parameter: '{refused[0]}' is not supported with this model."
            if refused[0] == "max_tokens":
                words += " Use 'max_completion_tokens' instead."
            return handler.send(400, {"error": {"message": words, "param": refused[0]}})
        self.judged.append(body)
        prompt = body["messages"][-1]["content"]
        right = re.search(r"^\[correct_answer\]: (.*)$", prompt, re.MULTILINE)
        answer = re.search(r"Answer: (.*)$", prompt, re.MULTILINE)
        assert right and answer
        return self.say(handler, VERDICT % ("yes" if right[1] == answer[1] else "no"))

    def say(self, handler: Handler, text: str) -> None:
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        handler.send(200, {"choices": [choice], "usage": usage})


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        yield server


def command(endpoint: Endpoint, **judge: str) -> list[str]:
    url = f"base_url: '{endpoint.url}'"
    draws = "extra_body: {temperature: null, top_p: null}"
    options = f"{{{url}, {judge.get('extra', draws)}}}"
    return [
        "+experiment=hle",
        "data=samples",
        "images=false",
        "limit=9",
        f"roster.models=[{{name: far, engine: openai, weights: answers, options: {{{url}}}}}]",
        f"roster.judges=[{{name: o3, engine: openai, weights: judges, options: {options}}}]",
        "judges=[o3]",
    ]


def test_an_endpoint_judges_as_the_published_judge_does(endpoint: Endpoint, ready: Path) -> None:
    done = raybench(*command(endpoint), cwd=ready)
    assert done.returncode == 0, done.stderr
    units = units_of(ready, "hle")
    assert len(units) == len(endpoint.asked) == 9
    for unit in units:
        assert unit["by"] == "judge"
        assert unit["correct"] is (unit["truth"] == "yes")
    assert len(endpoint.judged) == 10  # one to see whether it can be asked
    for body in endpoint.judged:
        assert [turn["role"] for turn in body["messages"]] == ["system"]  # type: ignore[attr-defined]
        assert body["max_completion_tokens"] == 4096
        form = body["response_format"]["json_schema"]  # type: ignore[index]
        assert form["strict"]
        assert form["schema"]["properties"]["correct"]["enum"] == ["yes", "no"]
    results = results_of(ready, "hle")
    assert results["models"]["far"]["hle/accuracy"]["n"] == 9
    assert results["fleet"]["this_session"]["models"]["o3 (judge)"]["requests"] == 9
    assert not results["simulated"]


def test_a_judge_that_cannot_be_asked_is_told_before_anybody_is(
    endpoint: Endpoint, ready: Path
) -> None:
    done = raybench(*command(endpoint, extra="concurrency: 4"), cwd=ready)
    assert done.returncode == 1
    assert "raybench: o3, " in done.stderr and "HTTP 400" in done.stderr
    assert "options: {extra_body: {temperature: null}}" in done.stderr
    assert "0 of 9 units" in done.stderr
    assert "Traceback" not in done.stderr
    assert endpoint.asked == []
