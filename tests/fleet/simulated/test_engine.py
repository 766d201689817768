import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.autobench import prompts
from raybench.fleet.simulated import SimulatedEngine
from raybench.types import Completion, Message, ModelSpec, Request

MANY = 400
TASK = prompts.task("difficult", "a difficult", "math")
ANSWER = prompts.answer("What is of quality 0.111?")


def model(name: str = "sim", **options: Any) -> ModelSpec:
    return ModelSpec(name, "simulated", "", options=options)


async def ask(
    model: ModelSpec, prompt: str = ANSWER, seeds: Sequence[int] = (0,), **kwargs: Any
) -> list[Completion]:
    requests = [Request((Message("user", prompt),), seed, **kwargs) for seed in seeds]
    return await SimulatedEngine().complete(model, requests)


async def qualities(model: ModelSpec, prompt: str) -> list[float]:
    texts = [reply.text for reply in await ask(model, prompt, range(MANY))]
    return [float(found[1]) for text in texts if (found := re.search(r"quality ([\d.]{5})", text))]


async def ratings(model: ModelSpec, quality: float, **kwargs: Any) -> list[int | None]:
    """What a judge says of an answer of this quality, to a question of another."""
    prompt = prompts.rate_answer(
        "A question of quality 0.999?", f"Simulated answer of quality {quality:.3f}."
    )
    replies = await ask(model, prompt, range(MANY), **kwargs)
    return [prompts.parse_rank(reply.text) for reply in replies]


async def test_the_same_seed_gives_the_same_reply() -> None:
    once, twice = await ask(model(), seeds=range(20)), await ask(model(), seeds=range(20))
    assert once == twice
    assert len({reply.text for reply in once}) > 10


async def test_a_reply_does_not_depend_on_the_batch_it_comes_in() -> None:
    batch = await ask(model(), seeds=range(20))
    (alone,) = await ask(model(), seeds=[13])
    assert batch[13] == alone


async def test_a_stream_brings_what_a_batch_brings() -> None:
    requests = [Request((Message("user", ANSWER),), seed) for seed in range(5)]
    engine = SimulatedEngine()
    placed = [found async for found in engine.stream(model(), requests)]
    assert [reply for _, reply in sorted(placed)] == await engine.complete(model(), requests)


async def test_it_tells_nothing_of_a_cache_it_does_not_have() -> None:
    (reply,) = await ask(model())
    assert reply.cached_tokens is None


async def test_models_of_equal_ability_reply_differently() -> None:
    assert await ask(model("one"), seeds=range(5)) != await ask(model("two"), seeds=range(5))


async def test_a_reply_says_what_it_took() -> None:
    (reply,) = await ask(model())
    assert reply.finish == "stop"
    assert reply.output_tokens == len(reply.text.split())
    assert reply.prompt_tokens == len(ANSWER.split())


@pytest.mark.parametrize("prompt", [TASK, ANSWER])
async def test_abler_models_write_better(prompt: str) -> None:
    means = [
        statistics.fmean(await qualities(model(ability=ability), prompt))
        for ability in (0.2, 0.5, 0.8)
    ]
    # The standard error is 0.1 / sqrt(400) = 0.005.
    assert means == pytest.approx([0.2, 0.5, 0.8], abs=0.02)


async def test_the_spread_is_that_of_the_options() -> None:
    narrow = await qualities(model(spread=0.01), ANSWER)
    wide = await qualities(model(spread=0.15), ANSWER)
    assert statistics.stdev(narrow) == pytest.approx(0.01, rel=0.2)
    assert statistics.stdev(wide) == pytest.approx(0.15, rel=0.2)
    assert all(0 <= quality <= 1 for quality in await qualities(model(spread=5.0), ANSWER))


async def test_abler_models_know_more() -> None:
    async def right(ability: float) -> int:
        asked = model(ability=ability, spread=0.0)
        replies = await ask(asked, "Which?", range(MANY), gold="Answer: B")
        assert {reply.text for reply in replies} <= {f"Answer: {letter}" for letter in "ABCD"}
        return sum(reply.text == "Answer: B" for reply in replies)

    assert await right(1.0) == MANY
    assert await right(0.0) == 0
    assert 0.4 * MANY < await right(0.5) < 0.6 * MANY


@pytest.mark.parametrize("gold", ["\\boxed{\\frac{3}{4}}", "18", "答案: 1,234", "\\boxed{x + y}"])
async def test_who_does_not_know_says_something_else(gold: str) -> None:
    replies = await ask(model(ability=0.0, spread=0.0), "How many?", range(20), gold=gold)
    assert all(reply.text != gold for reply in replies)


@pytest.mark.parametrize(
    ("gold", "spoilt"),
    [
        ("def f(x):\n    return x + 1  # 2", "def f(x):\n    return None"),
        ("print(2 * int(input()))", "raise NotImplementedError\nprint(2 * int(input()))"),
    ],
)
async def test_whose_program_is_not_right_gives_nothing(gold: str, spoilt: str) -> None:
    asked = model(ability=0.0, spread=0.0)
    (reply,) = await ask(asked, "How?", range(1), gold=f"```python\n{gold}\n```")
    assert reply.text == f"```python\n{spoilt}\n```"


async def test_it_checks_whether_expressions_are_the_same() -> None:
    asked = "YOUR TASK\n\n\n    Expression 1: {}\n    Expression 2: {}\n"
    (same,) = await ask(model(), asked.format("x + 1", " x  + 1"))
    (other,) = await ask(model(), asked.format("x + 1", "x + 2"))
    assert (same.text, other.text) == ("Yes", "No")


@pytest.mark.parametrize(("quality", "truth"), [(0.0, 1), (0.3, 2), (0.5, 3), (0.75, 4), (1.0, 5)])
async def test_a_perfect_judge_tells_the_truth(quality: float, truth: int) -> None:
    assert set(await ratings(model(ability=1.0), quality)) == {truth}


async def test_abler_models_judge_truer() -> None:
    errors = []
    for ability in (0.1, 0.5, 0.9):
        given = await ratings(model(ability=ability), 0.5)
        errors.append(statistics.fmean(abs((rating or 0) - 3) for rating in given))
    assert errors[0] > errors[1] + 0.1
    assert errors[1] > errors[2] + 0.1


async def test_a_judge_reads_the_answer_and_not_the_question() -> None:
    # `ratings` puts both before it; only the answer's quality differs.
    judge = model(ability=0.9)
    low, high = await ratings(judge, 0.1), await ratings(judge, 0.9)
    assert max(rating or 0 for rating in low) < min(rating or 0 for rating in high)


async def test_a_random_judge_rates_without_reading() -> None:
    judge = model(ability=0.9, judge="random")
    low, high = await ratings(judge, 0.1), await ratings(judge, 0.9)
    assert low == high  # the same draws, whatever is judged
    for rating in range(1, 6):
        assert low.count(rating) / MANY == pytest.approx(0.2, abs=0.08)  # four standard errors


async def test_a_constrained_rating_matches_its_regex() -> None:
    prompt = prompts.rate_task("A question of quality 0.500?", "difficult", "math")
    # Also from a judge that without the constraint would rather not say.
    replies = await ask(model(unparsed=1.0), prompt, range(50), regex=prompts.RANK_REGEX)
    assert all(re.fullmatch(prompts.RANK_REGEX, reply.text) for reply in replies)


async def test_a_regex_it_cannot_match_is_an_error_and_not_a_reply() -> None:
    (reply,) = await ask(model(), regex="[0-9]+")
    assert reply.finish == "error"
    assert reply.text == ""
    assert "[0-9]+" in (reply.error or "")


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
async def test_unparsed_ratings_come_as_often_as_said(share: float) -> None:
    given = await ratings(model(unparsed=share), 0.5)
    assert given.count(None) / MANY == pytest.approx(share, abs=0.09)
    # Only ratings are left unsaid.
    assert len(await qualities(model(unparsed=share), ANSWER)) == MANY


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
async def test_infrastructure_fails_as_often_as_said(share: float) -> None:
    replies = await ask(model(infra_error=share), seeds=range(MANY))
    failed = [reply for reply in replies if reply.finish == "error"]
    assert len(failed) / MANY == pytest.approx(share, abs=0.09)
    assert all(reply.error and not reply.text for reply in failed)
    assert all(reply.text and not reply.error for reply in replies if reply not in failed)


def numbers(kind: str, bounds: tuple[int, int], given: set[str]) -> dict[str, Any]:
    bounded = {"minimum": min(bounds), "maximum": max(bounds)}
    return {"type": kind} | {name: bounded[name] for name in given}


def arrays(items: dict[str, Any], least: int, room: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "maxItems": least + room}


def objects(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


integers = st.integers(-1000, 1000)
schemas = st.recursive(
    st.one_of(
        st.sampled_from(["string", "boolean", "null", "array", "object"]).map(
            lambda kind: {"type": kind}
        ),
        st.builds(
            numbers,
            st.sampled_from(["integer", "number"]),
            st.tuples(integers, integers),
            st.sets(st.sampled_from(["minimum", "maximum"])),
        ),
        st.lists(st.text() | integers, min_size=1, max_size=4).map(lambda values: {"enum": values}),
        (st.text() | integers).map(lambda value: {"const": value}),
    ),
    lambda inner: st.one_of(
        st.builds(arrays, inner, st.integers(0, 3), st.integers(0, 3)),
        st.dictionaries(st.text(), inner, max_size=3).map(objects),
    ),
    max_leaves=6,
)
"""The kinds of schema that experiments use."""


@given(schemas, st.integers(0, 2**31))
async def test_json_fits_its_schema(schema: Mapping[str, Any], seed: int) -> None:
    (reply,) = await ask(model(), seeds=[seed], json_schema=schema)
    assert reply.finish == "stop"
    jsonschema.validate(json.loads(reply.text), schema)


async def test_a_schema_beside_a_regex_is_for_engines_that_take_none() -> None:
    gold = json.dumps({"good": "Move: e4", "any": "Move: e4"})
    schema = {"type": "object", "properties": {"move": {"const": "e4"}}}
    (reply,) = await ask(model(), gold=gold, regex="Move: (e4)", json_schema=schema)
    assert (reply.text, reply.finish) == ("Move: e4", "stop")


async def test_it_reports_as_many_tokens_as_it_is_told_and_says_the_same() -> None:
    plain = await ask(model(), seeds=range(MANY))
    told = await ask(model(tokens=5000), seeds=range(MANY))
    assert [reply.text for reply in told] == [reply.text for reply in plain]
    logs = [math.log(reply.output_tokens) for reply in told]
    # Standard errors of 0.05 and 0.035.
    assert statistics.fmean(logs) == pytest.approx(math.log(5000), abs=0.2)
    assert statistics.stdev(logs) == pytest.approx(1.0, abs=0.14)
    assert min(reply.output_tokens for reply in await ask(model(tokens=1), seeds=range(MANY))) == 1


async def test_a_stand_in_that_is_too_slow_is_late() -> None:
    slow = model(latency_s=30.0)
    (late,) = await ask(slow, deadline_s=0.05)
    assert (late.finish, late.text, late.own_seconds) == ("late", "", 0.05)
    (in_time,) = await ask(model(latency_s=0.01), deadline_s=30.0)
    assert (in_time.finish, in_time.own_seconds) == ("stop", 0.01)
