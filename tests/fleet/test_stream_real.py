"""Streams and the prefix cache of a real vLLM that has little memory for keys.

The short forms are in test_host_real.py, whose engine holds all prompts in its cache.
"""

import random
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from helpers import NEEDS_MODEL, engines_of_tests, wait_for_silence

from raybench.config import FleetConf
from raybench.fleet import Fleet, open_fleet
from raybench.types import Completion, Message, ModelSpec, Request

pytestmark = [
    pytest.mark.engine,
    pytest.mark.timeout(900),
    pytest.mark.asyncio(loop_scope="module"),
    NEEDS_MODEL,
]

# The model's own, but for system messages, which it refuses, as Gemma's does.
TEMPLATE = """\
{% for message in messages %}{% if message['role'] == 'system' %}\
{{ raise_exception('System role not supported') }}{% endif %}\
{% if loop.first %}<|im_start|>system
You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>
{% endif %}<|im_start|>{{ message['role'] }}
{{ message['content'] }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
# Room for some 1,500 tokens.
SMALL = ModelSpec(
    "small",
    "vllm",
    "embedded",
    options={
        "dtype": "float32",  # in half of it a token may turn on what else is in the batch
        "kv_cache_memory_bytes": 64 * 2**20,
        "max_model_len": 1024,
        "max_num_seqs": 4,
        "chat_template": TEMPLATE,
    },
)


def ask(text: str, seed: int = 0, max_tokens: int = 4) -> Request:
    return Request((Message("user", text),), seed=seed, max_tokens=max_tokens)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet() -> AsyncIterator[Fleet]:
    async with open_fleet([SMALL], FleetConf(), lambda _: None) as fleet:
        yield fleet
    assert not wait_for_silence()


def hit_rate(completions: Sequence[Completion]) -> float:
    assert {completion.error for completion in completions} == {None}
    cached = sum(completion.cached_tokens or 0 for completion in completions)
    return cached / sum(completion.prompt_tokens for completion in completions)


@pytest.mark.long(
    short="tests/fleet/test_host_real.py::test_models_of_one_engine_keep_their_own_system_prompt"
)
async def test_a_template_that_refuses_system_messages_has_their_text_with_the_users(
    fleet: Fleet,
) -> None:
    told = (Message("system", "Answer in one word."), Message("user", "What is red?"))
    folded = (Message("user", "Answer in one word.\n\nWhat is red?"),)
    apart, together, less = [
        (await fleet.complete("small", [Request(asked, seed=0, max_tokens=12)]))[0]
        for asked in (told, folded, told[1:])
    ]
    assert apart.finish in ("stop", "length"), apart.error
    assert (apart.text, apart.prompt_tokens) == (together.text, together.prompt_tokens)
    assert less.prompt_tokens < apart.prompt_tokens


@pytest.mark.long(
    short="tests/fleet/test_host_real.py::test_a_repeat_comes_from_the_cache_and_says_so"
)
async def test_a_batch_in_the_order_of_its_prefixes_hits_the_cache(fleet: Fleet) -> None:
    def shuffled(name: str) -> list[Request]:
        """What has 16 beginnings, of which the cache holds some, with three ends each."""
        found = [
            ask(f"{name} {stem}: " + f"word{stem} and " * 60 + f"What is {end}?", max_tokens=1)
            for stem in range(16)
            for end in range(3)
        ]
        return random.Random(0).sample(found, len(found))

    # Sent one after the other, nobody can order them.
    as_they_came = hit_rate(
        [(await fleet.complete("small", [one]))[0] for one in shuffled("apart")]
    )
    together = await fleet.complete("small", shuffled("together"))
    ordered = hit_rate(together)
    print(f"prefix hit rate: {as_they_came:.3f} as they came, {ordered:.3f} ordered")
    # Two of three could be hits, but for their last, partial blocks.
    assert ordered > 0.5
    assert as_they_came < ordered / 1.3


@pytest.mark.long(
    short="tests/fleet/test_host_real.py::test_batches_and_streams_outlive_the_engine_under_them"
)
async def test_a_stream_outlives_its_replica_and_nothing_comes_twice(fleet: Fleet) -> None:
    requests = [ask(f"Tell me about the number {n}.", max_tokens=32) for n in range(16)]
    before = fleet.account.total.requests
    arrived: list[tuple[int, Completion]] = []
    async for placed in fleet.stream("small", requests):
        arrived.append(placed)
        if len(arrived) == 5:
            (replica,) = engines_of_tests("ray::ServeReplica")
            replica.kill()
    assert sorted(place for place, _ in arrived) == list(range(16))
    assert {completion.error for _, completion in arrived} == {None}
    assert fleet.account.total.requests == before + 16
    (new,) = engines_of_tests("ray::ServeReplica")
    assert new.pid != replica.pid
