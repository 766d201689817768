import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from refusals import refused

from raybench.arena.assessment import assess
from raybench.arena.decoding import Decoding
from raybench.autobench import prompts
from raybench.autobench.protocol import Record, replay
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing
from raybench.autobench.steps import Kind
from raybench.autobench.summary import counts
from raybench.errors import RunFailed
from raybench.fleet import Engine, Fleet, group_engines
from raybench.fleet.simulated import SimulatedEngine
from raybench.fleet.simulated.engine import INFRA_ERROR
from raybench.types import Completion, Counts, Finish, ModelSpec, Request, Sampling

KINDS: list[Kind] = ["task", "task_rating", "answer", "answer_rating"]  # in their order
TOKENS = dict(zip(KINDS, (100, 11, 200, 22), strict=True))
DECODING = Decoding(TOKENS)
FIELDS = {
    "iteration", "generator", "topic", "difficulty", "attempts", "task", "answers", "judgments",
    "scores", "cumulative", "weights", "truncated", "errors", "unanswered", "tokens",
    "seconds", "ended_ms",
}  # fmt: skip
CLOCK = ("seconds", "ended_ms")

Change = Callable[[ModelSpec, Request, Completion], Completion]


class Bent(SimulatedEngine):
    """The simulated engine with its replies changed, and a memory of what it was asked."""

    def __init__(self, change: Change = lambda model, request, completion: completion) -> None:
        super().__init__()
        self._change = change
        self.calls: list[tuple[str, Sequence[Request]]] = []
        self.busy = self.busiest = 0

    @property
    def requests(self) -> list[tuple[str, Request]]:
        return [(model, request) for model, requests in self.calls for request in requests]

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        self.calls.append((model.name, requests))
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        completions = await super().complete(model, requests)
        await asyncio.sleep(0.001)
        self.busy -= 1
        return [
            self._change(model, request, completion)
            for request, completion in zip(requests, completions, strict=True)
        ]


def fail(model: ModelSpec, request: Request, completion: Completion) -> Completion:
    return Completion.failed("the line is dead")


def kind(request: Request) -> Kind:
    """What a request asks for, by its prompt."""
    prompt = request.messages[-1].content
    if "<rank>" in prompt:
        return "answer_rating" if "Answer: " in prompt else "task_rating"
    return "task" if prompt.startswith("Generate ") else "answer"


def roster(**options: dict[str, Any]) -> list[ModelSpec]:
    return [ModelSpec(name, "simulated", "", options=given) for name, given in options.items()]


ABLE = roster(a={"ability": 0.9}, b={"ability": 0.6}, c={"ability": 0.4})


def fleet_of(models: Sequence[ModelSpec], engine: Engine | None = None) -> Fleet:
    (spec,) = group_engines(models)
    return Fleet([spec], {spec.name: engine or SimulatedEngine()})


def settings_of(models: Sequence[ModelSpec], **kwargs: Any) -> Settings:
    return Settings(tuple(model.name for model in models), **kwargs)


async def play(
    models: Sequence[ModelSpec] = ABLE,
    engine: Engine | None = None,
    *,
    index: int = 1,
    decoding: Decoding = DECODING,
    **kwargs: Any,
) -> Record:
    """Play one iteration from the start."""
    settings = settings_of(models, **kwargs)
    standing = replace(Standing.start(settings), iteration=index - 1)
    fleet = fleet_of(models, engine)
    (record,) = await assess(settings, fleet, decoding, index, standing=standing)
    return record


def timeless(record: Record) -> Record:
    return {name: value for name, value in record.items() if name not in CLOCK}


async def test_the_record_is_complete() -> None:
    before = time.time()
    record = await play()
    assert set(record) == FIELDS
    assert json.loads(json.dumps(record)) == record
    assert (record["iteration"], record["truncated"]) == (1, [])
    assert (record["errors"], record["unanswered"]) == ([], [])
    assert re.match(r"Simulated question of quality", record["task"])
    assert [attempt["accepted"] for attempt in record["attempts"]][-1] is True
    assert record["attempts"][-1]["task"] == record["task"]
    assert all(text.startswith("Simulated answer") for text in record["answers"].values())
    for row in (record["answers"], record["judgments"], record["scores"], record["weights"]):
        assert list(row) == ["a", "b", "c"]
    ratings = [rating for row in record["judgments"].values() for rating in row.values()]
    assert len(ratings) == 9
    assert set(ratings) <= {1, 2, 3, 4, 5}
    assert all(prompt > 0 and output > 0 for prompt, output in record["tokens"].values())
    assert before - 1 <= record["ended_ms"] / 1000 <= time.time() + 1
    assert 0 <= record["seconds"] < 60


async def test_tokens_are_counted_by_model() -> None:
    engine = Bent(
        lambda model, request, completion: replace(
            completion, prompt_tokens=1, output_tokens={"a": 10, "b": 20, "c": 30}[model.name]
        )
    )
    record = await play(engine=engine)
    asked = [model for model, _ in engine.requests]
    assert record["tokens"] == {
        "a": [asked.count("a"), 10 * asked.count("a")],
        "b": [asked.count("b"), 20 * asked.count("b")],
        "c": [asked.count("c"), 30 * asked.count("c")],
    }


async def test_iterations_build_on_one_another_and_replay_to_the_same() -> None:
    settings = settings_of(ABLE)
    records = await assess(settings, fleet_of(ABLE), DECODING, 8)
    assert [record["iteration"] for record in records] == [*range(1, 9)]
    as_read = [json.loads(json.dumps(record)) for record in records]
    for number, record in enumerate(records, start=1):
        assert replay(as_read[:number], settings).weights == record["weights"]
    weights = records[-1]["weights"]
    assert weights["a"] > weights["b"] > weights["c"]


async def test_the_same_seed_gives_the_same_record_and_another_another() -> None:
    assert timeless(await play(seed=4)) == timeless(await play(seed=4))
    assert (await play(seed=4))["answers"] != (await play(seed=5))["answers"]
    assert (await play(index=1))["answers"] != (await play(index=2))["answers"]


async def test_it_does_not_matter_who_answers_first() -> None:
    def with_latency(*seconds: float) -> list[ModelSpec]:
        return [
            replace(model, options={**model.options, "latency_s": wait})
            for model, wait in zip(ABLE, seconds, strict=True)
        ]

    one = await play(with_latency(0.0, 0.01, 0.02))
    assert timeless(one) == timeless(await play(with_latency(0.02, 0.01, 0.0)))


async def test_every_request_has_a_seed_of_its_own_that_does_not_change() -> None:
    first, second = Bent(), Bent()
    await play(engine=first, seed=3)
    await play(list(reversed(ABLE)), engine=second, seed=3)

    def answer_seeds(engine: Bent) -> dict[str, int]:
        return {
            model: request.seed for model, request in engine.requests if kind(request) == "answer"
        }

    seeds = [request.seed for _, request in first.requests]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)
    # The same question at another place in another batch: the same seed.
    assert answer_seeds(first) == answer_seeds(second)
    other = Bent()
    await play(engine=other, seed=4)
    assert not set(seeds) & {request.seed for _, request in other.requests}


async def test_models_are_asked_side_by_side_each_with_all_its_questions_at_once() -> None:
    engine = Bent()
    record = await play(engine=engine)
    assert engine.busiest == 3
    # A task and its ratings for every attempt; then answers; then each judge's three ratings.
    assert len(engine.calls) == len(record["attempts"]) * (1 + 3) + 3 + 3
    assert [len(requests) for _, requests in engine.calls[-3:]] == [3, 3, 3]


@pytest.mark.parametrize("constrained", [True, False])
async def test_every_kind_of_reply_has_its_bound_and_only_ratings_a_form(constrained: bool) -> None:
    engine = Bent()
    await play(engine=engine, decoding=Decoding(TOKENS, constrained_ratings=constrained))
    bounds = set()
    for _, request in engine.requests:
        assert request.max_tokens == TOKENS[kind(request)]
        formed = constrained and kind(request).endswith("rating")
        assert request.regex == (prompts.RANK_REGEX if formed else None)
        bounds.add(request.max_tokens)
    assert bounds == set(TOKENS.values())


@pytest.mark.parametrize("temperature", [None, 0.0, 0.4])
async def test_only_ratings_take_the_judges_temperature(temperature: float | None) -> None:
    own = {"a": 0.3, "b": 0.6, "c": 0.9}
    models = [replace(model, sampling=Sampling(own[model.name])) for model in ABLE]
    engine = Bent()
    await play(models, engine, decoding=Decoding(TOKENS, rating_temperature=temperature))
    for model, request in engine.requests:
        judges = temperature is not None and kind(request).endswith("rating")
        assert request.temperature == (temperature if judges else own[model])


async def test_cut_answers_are_noted_and_still_judged() -> None:
    def cut(model: ModelSpec, request: Request, completion: Completion) -> Completion:
        cut = model.name == "b" and kind(request) == "answer"
        return replace(completion, finish="length") if cut else completion

    record = await play(engine=Bent(cut))
    assert record["truncated"] == ["b"]
    assert record["errors"] == []
    assert record["scores"]["b"] is not None


@pytest.mark.parametrize("finish", ["thinking", "empty", "refusal", "overflow", "unsupported"])
async def test_a_model_without_an_answer_scores_the_floor_and_nothing_broke(finish: Finish) -> None:
    def without(model: ModelSpec, request: Request, completion: Completion) -> Completion:
        if model.name != "b" or kind(request) == "task":
            return completion
        return Completion("I would", finish, error="so it is")  # a filter leaves half an answer

    record = json.loads(json.dumps(await play(engine=Bent(without))))
    assert record["errors"] == []
    assert {(call["model"], call["finish"], call["why"]) for call in record["unanswered"]} == {
        ("b", finish, "so it is")
    }
    keys = [call["key"] for call in record["unanswered"]]
    assert {"1/answer", "1/answer_rating/a", "1/answer_rating/c", "1/1/task_rating"} <= set(keys)
    assert record["truncated"] == (["b"] if finish == "thinking" else [])
    assert (record["answers"]["b"], record["scores"]["b"]) == ("", 1.0)
    assert set(record["judgments"]["b"].values()) == {None}  # as a judge it has no say
    assert record["scores"]["a"] is not None
    standing = replay([record], settings_of(ABLE))
    assert (standing.scores, standing.weights) == (record["cumulative"], record["weights"])
    counted = counts([record], ("a", "b", "c"))
    column = "truncated" if finish == "thinking" else "unparsed"
    assert counted["b"] == replace(Counts(), **{column: len(keys)})
    assert counted["a"].infra_error == counted["c"].infra_error == 0


async def test_nobody_having_an_answer_is_no_outage() -> None:
    def refuse(model: ModelSpec, request: Request, completion: Completion) -> Completion:
        return Completion.failed("I will not.", finish="refusal")

    record = await play(engine=Bent(refuse), restarts=0)
    assert record["task"] is None
    assert [call["key"] for call in record["unanswered"]] == ["1/1/task", "1/2/task", "1/3/task"]
    assert record["errors"] == []


async def test_a_model_that_does_not_answer_is_journalled_and_not_scored() -> None:
    record = await play([*ABLE, *roster(dead={"infra_error": 1.0})])
    assert record["task"] is not None
    assert {error["model"] for error in record["errors"]} == {"dead"}
    assert all(error["error"] == INFRA_ERROR for error in record["errors"])
    keys = [error["key"] for error in record["errors"]]
    assert len(keys) == len(set(keys))
    assert {"1/answer", "1/answer_rating/a", "1/answer_rating/b", "1/answer_rating/c"} <= set(keys)
    assert f"1/{len(record['attempts'])}/task_rating" in keys
    # An error is no zero, neither for the contestant nor by the judge.
    assert record["answers"]["dead"] is None
    assert record["scores"]["dead"] is None
    assert set(record["judgments"]["dead"].values()) == {None}
    for model in ("a", "b", "c"):
        assert record["judgments"][model]["dead"] is None
        assert record["scores"][model] == pytest.approx(
            sum(record["judgments"][judge][model] for judge in ("a", "b", "c")) / 3
        )


async def test_a_reason_that_is_missing_is_said_to_be() -> None:
    def silent(model: ModelSpec, request: Request, completion: Completion) -> Completion:
        return Completion("", "error") if model.name == "b" else completion

    record = await play(engine=Bent(silent))
    assert {error["error"] for error in record["errors"]} == {"unknown"}


async def test_an_outage_from_the_beginning_fails_the_run() -> None:
    engine = Bent(fail)
    with refused("model.unreachable", kind=RunFailed) as caught:
        await play(engine=engine, index=7, restarts=0)
    assert "iteration 7:" in str(caught.value) and "dead" in str(caught.value)
    # The generator is asked once, since it cannot be reached; then everybody is.
    assert sorted(Counter(model for model, _ in engine.calls).values()) == [1, 1, 2]


@pytest.mark.parametrize("last", ["task", "task_rating", "answer"])
async def test_an_outage_on_the_way_fails_the_run(last: Kind) -> None:
    served = KINDS[: KINDS.index(last) + 1]

    def fail_later(model: ModelSpec, request: Request, completion: Completion) -> Completion:
        return completion if kind(request) in served else fail(model, request, completion)

    with refused("model.unreachable", kind=RunFailed) as caught:
        await play(engine=Bent(fail_later))
    assert "iteration 1:" in str(caught.value) and "dead" in str(caught.value)


async def test_a_silent_generator_is_no_outage_while_another_model_answers() -> None:
    models = roster(dead={"infra_error": 1.0}, alive={"ability": 0.9})
    records = [await play(models, index=index, restarts=0) for index in range(1, 13)]
    silent = [record for record in records if record["generator"] == "dead"]
    assert 0 < len(silent) < len(records)
    for record in silent:
        assert record["task"] is None
        assert record["scores"] == {}
        assert [error["model"] for error in record["errors"]] == ["dead"]
        assert record["weights"] == {"dead": 0.5, "alive": 0.5}
