"""Judges with planted biases see only the prompt, and add exactly what they are told to."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.autobench import prompts
from raybench.fleet.simulated import SimulatedEngine
from raybench.types import Message, ModelSpec, Request

QUESTION = prompts.answer("What?")
TASK = "Simulated question of quality 0.500, number 0.25?"


def model(name: str = "judge", **options: Any) -> ModelSpec:
    # It makes no errors: what differs from the quality is the bias.
    return ModelSpec(name, "simulated", "", options={"ability": 1.0, "spread": 0.0} | options)


async def said(asked: ModelSpec, prompt: str, seed: int = 0) -> str:
    (reply,) = await SimulatedEngine().complete(asked, [Request((Message("user", prompt),), seed)])
    return reply.text


async def answer(author: str, seed: int = 0, **options: Any) -> str:
    """Return an answer of quality 0.5, of which a fair judge thinks 3."""
    return await said(model(author, **{"ability": 0.5} | options), QUESTION, seed)


async def rating(judge: ModelSpec, written: str, task: str = TASK) -> int | None:
    return prompts.parse_rank(await said(judge, prompts.rate_answer(task, written)))


@pytest.mark.parametrize(("points", "rated"), [(0, 3), (1, 4), (2, 5), (4, 5), (-1, 2), (-4, 1)])
async def test_self_preference_goes_to_its_own_answers(points: float, rated: int) -> None:
    judge = model(self_preference=points)
    assert await rating(judge, await answer("judge")) == rated
    for other in ("judge2", "judg", "the judge"):
        assert await rating(judge, await answer(other)) == 3


async def test_favouritism_goes_to_the_family() -> None:
    judge = model(family="red", favouritism=1)
    assert await rating(judge, await answer("other", family="red")) == 4
    assert await rating(judge, await answer("judge", family="red")) == 4
    assert await rating(judge, await answer("other", family="bred")) == 3
    assert await rating(judge, await answer("other")) == 3
    both = model(family="red", favouritism=1, self_preference=1)
    assert await rating(both, await answer("judge", family="red")) == 5


@pytest.mark.parametrize(("words", "rated"), [(1, 3), (25, 3), (50, 4), (100, 5), (800, 5)])
async def test_verbosity_goes_by_doublings_of_the_usual_length(words: int, rated: int) -> None:
    written = await answer("other")
    written += " word" * (words - len(written.split()))
    assert await rating(model(verbosity=1), written) == rated
    assert await rating(model(), written) == 3


async def test_answers_are_about_as_long_as_their_author_is_told() -> None:
    lengths = [len((await answer("m", seed, words=120)).split()) for seed in range(200)]
    assert sorted(lengths)[100] == pytest.approx(120, rel=0.1)
    assert min(lengths) < 100 < 140 < max(lengths)
    assert len((await answer("m")).split()) == len((await answer("m", words=1)).split()) < 25


async def test_an_adversary_rates_to_win_and_tasks_fairly() -> None:
    judge = model(judge="adversary")
    assert await rating(judge, await answer("judge", ability=0.1)) == 5
    assert await rating(judge, await answer("other", ability=1.0)) == 1
    assert await rating(judge, "Whatever a real model may say.") == 1
    for quality, rank in (("0.000", 1), ("0.500", 3), ("1.000", 5)):
        task = f"Simulated question of quality {quality}, number 0.1?"
        prompt = prompts.rate_task(task, "difficult", "math")
        assert prompts.parse_rank(await said(judge, prompt)) == rank


async def test_a_quoted_manner_fools_nobody() -> None:
    own = await answer("judge", ability=1.0, family="red")
    judges = (
        model(self_preference=2, family="red", favouritism=2),
        model(judge="adversary", family="red"),
    )
    for judge, fair in zip(judges, (3, 1), strict=True):
        other = await answer("other")
        assert await rating(judge, other, task=f"What of this: {own}?") == fair
        assert await rating(judge, f"Not like '{own}': {other}") == fair
        # An answer that claims a manner, and has no quality of its own.
        assert (
            await rating(judge, f"{other} Not in the manner of judge, of the family red.") == fair
        )


@given(st.integers(0, 2**31), st.floats(-4, 4), st.floats(-4, 4), st.floats(-4, 4))
async def test_whatever_the_bias_ratings_are_ratings(
    seed: int, self_preference: float, favouritism: float, verbosity: float
) -> None:
    written = await answer("judge", seed, ability=0.7, spread=0.3, words=200, family="red")
    judge = model(
        ability=0.2,
        self_preference=self_preference,
        favouritism=favouritism,
        family="red",
        verbosity=verbosity,
    )
    text = await said(judge, prompts.rate_answer(TASK, written), seed)
    assert prompts.parse_rank(text) in range(1, 6)


@given(st.integers(0, 2**31))
async def test_a_bias_that_does_not_apply_changes_no_rating(seed: int) -> None:
    written = await answer("other", seed, spread=0.3)
    prompt = prompts.rate_answer(TASK, written)
    partial: dict[str, Any] = {
        "self_preference": 3,
        "family": "red",
        "favouritism": 3,
        "verbosity": 3,
    }
    fair, biased = model(ability=0.3), model(ability=0.3, **partial)
    assert await said(fair, prompt, seed) == await said(biased, prompt, seed)


async def test_fair_judges_rate_as_they_did_before_there_were_biases() -> None:
    prompt = prompts.rate_answer(
        "A question of quality 0.999?", "Simulated answer of quality 0.500."
    )
    judge = model("sim", ability=0.1)
    rated = [prompts.parse_rank(await said(judge, prompt, seed)) for seed in range(20)]
    assert rated == [4, 3, 2, 3, 3, 2, 2, 3, 4, 4, 2, 4, 3, 4, 3, 3, 3, 3, 3, 3]
