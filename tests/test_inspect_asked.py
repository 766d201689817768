"""What a run asked of an endpoint is, word for word, what its logs say it asked."""

import json
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import pytest
from helpers import raybench
from http_endpoint import Handler, HttpEndpoint

from raybench import inspect

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("on_lasting_ray")]


class Endpoint(HttpEndpoint):
    """Notes what it is asked, and says 'Answer: A' to all."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    def play(self, handler: Handler) -> None:
        with self.lock:
            self.asked[json.dumps(handler.body["messages"], sort_keys=True)] += 1
        message = {"message": {"content": "Answer: A"}, "finish_reason": "stop"}
        handler.send(200, {"choices": [message], "usage": {"prompt_tokens": 5}})


def test_the_messages_of_samples_are_those_that_were_sent(ready: Path) -> None:
    with Endpoint() as endpoint:
        model = (
            "{name: far, engine: openai, weights: far, system_prompt: 'Be brief.', "
            f"options: {{base_url: '{endpoint.url}'}}}}"
        )
        # gpqa_diamond shuffles its options anew each time it asks.
        done = raybench(
            "+experiment=index",
            "benchmarks=[mmlu_pro,gpqa_diamond,mgsm]",
            "data=samples",
            "limit=3",
            "cache=false",
            f"roster.models=[{model}]",
            cwd=ready,
        )
    assert done.returncode == 0, done.stderr
    (run,) = (ready / "runs" / "index").iterdir()
    inspect.main([str(run)])
    told: Counter[str] = Counter()
    for log in (run / "inspect").iterdir():
        with ZipFile(log) as file:
            for name in file.namelist():
                if name.startswith("samples/"):
                    sample = json.loads(file.read(name))
                    messages = [{x: it[x] for x in ("role", "content")} for it in sample["input"]]
                    told[json.dumps(messages, sort_keys=True)] += 1
                    assert sample["output"]["completion"] == "Answer: A"
    assert told == endpoint.asked
    assert told.total() == 3 + 3 * 5 + 3 * 8
