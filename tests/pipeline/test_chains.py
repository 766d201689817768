"""Questions that follow others: asked one after the other, chains beside each other."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest
import scicode_steps
from pipeline import generating

from raybench import benchmarks
from raybench.config import DataConf
from raybench.engines.base import Placed
from raybench.fleet import resolved
from raybench.pipeline import datasets, stages
from raybench.pipeline.chains import heard
from raybench.pipeline.datasets import Dataset, Selection
from raybench.pipeline.generation import Generate
from raybench.pipeline.responses import Responses
from raybench.pipeline.stages import Asking, Unit, put, response
from raybench.pipeline.units import Job, unit_id
from raybench.types import Completion, ModelSpec, Request

MODEL = ModelSpec("m", "simulated", "")
NONE: Any = stages.ordered([])


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return prepared(tmp_path)


def prepared(folder: Path, **chosen: Any) -> Dataset:
    """Prepare the first three of the shipped problems, of three steps each."""
    lines = (scicode_steps.SAMPLES / "scicode.jsonl").read_text().splitlines(keepends=True)
    (folder / "scicode.jsonl").write_text("".join(lines[:3]))
    asked = [benchmarks.load("scicode")]
    conf = DataConf(dir=str(folder))
    (found,) = datasets.prepare(asked, conf, Selection(**chosen), folder / "shards")
    return found


def job(data: Dataset, repeats: int = 1) -> Job:
    (shard,) = data.shards
    return Job("m", "scicode", str(shard), 0, data.questions, repeats)


class Fleet(generating.NoQueue):
    """Replies with a function that tells which call it came of; notes what was asked."""

    def __init__(self, broken: Sequence[str] = ()) -> None:
        self.asked: list[str] = []
        self.prompts: dict[str, str] = {}
        self.most = self.now = 0
        self._broken = broken

    async def stream(self, model: str, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        (request,) = requests
        prompt = request.messages[0].content
        gold = request.gold or ""
        name = gold.partition("def ")[2].partition("(")[0]
        self.asked.append(name)
        self.prompts[name] = prompt
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        if name in self._broken:
            yield 0, Completion.failed("gone")
        else:
            yield 0, Completion(f"```python\n{name} = 'of the model'\n```", "stop")


async def generated(units: list[Unit], fleet: Fleet, asking: Asking) -> dict[str, Unit]:
    link: Any = None
    found = await generating.generated(Generate(link, asking), units, fleet)
    return {unit["key"]: unit for unit in found}


ASKING = Asking({"m": MODEL}, 0)


async def test_a_step_is_asked_when_those_before_it_are_answered(data: Dataset) -> None:
    fleet = Fleet()
    units = put(job(data), ASKING, NONE)
    assert sum("request" in unit for unit in units) == 3
    found = await generated(units, fleet, ASKING)
    assert all(unit["finish"] == "stop" for unit in found.values())
    assert fleet.asked.index("advance") > fleet.asked.index("second_difference")
    assert fleet.asked.index("cool") > fleet.asked.index("advance")
    assert "second_difference = 'of" in fleet.prompts["cool"]
    assert "advance = 'of" in fleet.prompts["cool"]
    assert "padded" not in fleet.prompts["cool"]  # the solution's
    assert found["901.3"]["row"]["previous"]["901.1"].startswith("second_difference")


async def test_chains_do_not_wait_for_each_other(data: Dataset) -> None:
    fleet = Fleet()
    await generated(put(job(data, 2), ASKING, NONE), fleet, ASKING)
    assert len(fleet.asked) == 18
    assert fleet.most == 6  # three problems, two repeats


async def test_what_follows_a_step_without_a_reply_gets_none(data: Dataset) -> None:
    fleet = Fleet(broken=["transitions"])
    found = await generated(put(job(data), ASKING, NONE), fleet, ASKING)
    assert found["902.1"]["error"] == "gone"
    for key in ("902.2", "902.3"):
        assert found[key]["finish"] == "error"
        assert "it follows 902.1" in found[key]["error"]
    assert found["901.3"]["finish"] == found["903.3"]["finish"] == "stop"


async def test_a_resumed_run_goes_on_from_the_journals_replies(data: Dataset) -> None:
    first = await generated(put(job(data), ASKING, NONE), Fleet(), ASKING)
    kept = [first[key] for key in ("901.1", "901.2", "902.1", "903.1", "903.2", "903.3")]
    done = stages.ordered([unit_id(unit) for unit in kept])
    journal = [json.loads(json.dumps({**unit, "row": None})) for unit in kept]
    again = Fleet()
    units = put(job(data), ASKING, done, heard(journal))
    found = await generated(units, again, ASKING)
    assert sorted(found) == ["901.3", "902.2", "902.3"]
    assert sorted(again.asked) == ["cool", "ranking", "stationary"]
    for key, unit in found.items():
        assert unit["row"] == first[key]["row"]
        assert unit["seconds"] >= 0


async def test_a_done_step_that_has_no_reply_ends_its_chain(data: Dataset) -> None:
    units = {unit["key"]: unit for unit in put(job(data), ASKING, NONE)}
    broken = {**units["901.1"], "finish": "error", "response": ""}
    done = stages.ordered([unit_id(broken)])
    again = {unit["key"]: unit for unit in put(job(data), ASKING, done, heard([broken]))}
    assert again["901.2"]["finish"] == again["901.3"]["finish"] == "error"
    assert "it follows 901.1" in again["901.2"]["error"]


async def test_replies_of_earlier_runs_are_taken_as_far_as_a_chain_goes(
    data: Dataset, tmp_path: Path
) -> None:
    cache = Responses(tmp_path / "responses.db", {"m": "weights"})
    cache.prepare()
    asking = Asking({"m": MODEL}, 0, cache)
    first = await generated(put(job(data), asking, NONE), Fleet(), asking)
    assert all(unit["address"] for unit in first.values())
    cache.put({first[key]["address"]: response(first[key]) for key in ("901.1", "901.2", "902.2")})
    units = {unit["key"]: unit for unit in put(job(data), asking, NONE)}
    assert [key for key, unit in units.items() if unit["reused"]] == ["901.1", "901.2"]
    assert "request" in units["901.3"]
    again = Fleet()
    found = await generated(list(units.values()), again, asking)
    assert len(again.asked) == 7
    addresses = {key: unit["address"] for key, unit in first.items()}
    assert {key: unit["address"] for key, unit in found.items()} == addresses
    assert put(job(data), asking, stages.ordered([unit_id(it) for it in found.values()])) == []


def test_a_prompt_in_a_chain_has_the_address_of_what_was_asked(data: Dataset) -> None:
    (first, *_) = put(job(data), ASKING, NONE)
    told = heard([{**first, "finish": "stop", "response": scicode_steps.block("A = 1")}])
    done = stages.ordered([unit_id(first)])
    unit = next(it for it in put(job(data), ASKING, done, told) if it["key"] == "901.2")
    messages = resolved(stages.request_of(unit), MODEL).messages
    assert "A = 1" in messages[0].content


def test_a_limit_takes_whole_problems(tmp_path: Path) -> None:
    few = prepared(tmp_path, limit=1)
    assert few.questions == 3
    assert len({row["problem_id"] for row in few.rows()}) == 1
    assert prepared(tmp_path, limit=4).questions == 6
