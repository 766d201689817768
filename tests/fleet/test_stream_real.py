"""What comes as it finishes, and from the prefix cache: real vLLM with little memory for keys."""

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from helpers import NEEDS_MODEL, wait_for_silence

from raybench.config import FleetConf
from raybench.fleet import Fleet, open_fleet
from raybench.types import Completion, Message, ModelSpec, Request

pytestmark = [
    pytest.mark.slow,
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


CANARY = "hf_canary3kq9Zt7Wb2Xv8Lp4"
SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY", "SOME_KEY")


def ask(text: str, seed: int = 0, max_tokens: int = 4) -> Request:
    return Request((Message("user", text),), seed=seed, max_tokens=max_tokens)


@pytest.fixture(scope="module")
def logs() -> Iterator[Path]:
    """Where Ray writes; a short path, because its sockets lie there too."""
    with tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(logs: Path) -> AsyncIterator[Fleet]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", str(logs))
        for name in SECRETS:
            patch.setenv(name, CANARY)
        async with open_fleet([SMALL], FleetConf(), lambda _: None) as fleet:
            yield fleet
    assert not wait_for_silence()


def hosting() -> list[psutil.Process]:
    """The replicas of this process's own Ray."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if process.name().startswith(("ray::ServeReplica", "VLLM::")):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def hit_rate(completions: Sequence[Completion]) -> float:
    assert {completion.error for completion in completions} == {None}
    cached = sum(completion.cached_tokens or 0 for completion in completions)
    return cached / sum(completion.prompt_tokens for completion in completions)


async def test_short_replies_do_not_wait_for_long_ones(fleet: Fleet) -> None:
    requests = [ask("Tell me a very long story.", max_tokens=60)]
    requests += [ask(f"Say the number {number}.") for number in range(5)]
    arrived = [(place, reply) async for place, reply in fleet.stream("small", requests)]
    assert sorted(place for place, _ in arrived) == list(range(6))
    assert arrived[-1][0] == 0
    assert all(reply.text and reply.error is None for _, reply in arrived)
    together = await fleet.complete("small", requests)
    assert [reply.text for _, reply in sorted(arrived, key=lambda placed: placed[0])] == [
        reply.text for reply in together
    ]


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


async def test_a_repeat_comes_from_the_cache_and_says_so(fleet: Fleet) -> None:
    question = ask("Who wrote this? " + "It was a dark and stormy night. " * 20)
    (first,) = await fleet.complete("small", [question])
    (again,) = await fleet.complete("small", [question])
    assert (first.cached_tokens, first.text) == (0, again.text)
    # All but the last block, at least one token of which has to be computed.
    assert first.prompt_tokens - 32 <= (again.cached_tokens or 0) < first.prompt_tokens


async def test_a_batch_in_the_order_of_its_prefixes_hits_the_cache(fleet: Fleet) -> None:
    def shuffled(name: str) -> list[Request]:
        """What has 16 beginnings, of which the cache holds some, with three ends each."""
        found = [
            ask(f"{name} {stem}: " + f"word{stem} and " * 60 + f"What is {end}?", max_tokens=1)
            for stem in range(16)
            for end in range(3)
        ]
        return random.Random(0).sample(found, len(found))

    # Sent one by one, nobody can order them.
    apart = await asyncio.gather(*(fleet.complete("small", [one]) for one in shuffled("apart")))
    as_they_came = hit_rate([completion for (completion,) in apart])
    before = fleet.account.total.cached_tokens or 0
    together = await fleet.complete("small", shuffled("together"))
    ordered = hit_rate(together)
    print(f"prefix hit rate: {as_they_came:.3f} as they came, {ordered:.3f} ordered")
    # Two of three could be hits, but for their last, partial blocks.
    assert ordered > 0.5
    assert as_they_came < ordered / 1.3
    told = sum(completion.cached_tokens or 0 for completion in together)
    assert fleet.account.total.cached_tokens == before + told


async def test_templates_and_tokens_do_not_hold_up_the_replica(fleet: Fleet) -> None:
    # Far beyond the context: they are templated, tokenised and refused, and nothing else.
    long = [ask(f"{number} " + "The quick brown fox jumps. " * 1500) for number in range(150)]
    waits = []

    async def knock() -> None:
        while True:
            begun = time.monotonic()
            await fleet.complete("small", [])
            waits.append(time.monotonic() - begun)

    knocking = asyncio.create_task(knock())
    begun = time.monotonic()
    refused = await fleet.complete("small", long)
    took = time.monotonic() - begun
    knocking.cancel()
    print(f"150 prompts in {took:.2f} s; the longest of {len(waits)} waits {max(waits):.3f} s")
    assert all("1024" in (completion.error or "") for completion in refused)
    assert len(waits) > 5
    assert max(waits) < took / 3


async def test_a_stream_outlives_its_replica_and_nothing_comes_twice(fleet: Fleet) -> None:
    requests = [ask(f"Tell me about the number {n}.", max_tokens=32) for n in range(16)]
    before = fleet.account.total.requests
    arrived: list[tuple[int, Completion]] = []
    async for placed in fleet.stream("small", requests):
        arrived.append(placed)
        if len(arrived) == 5:
            (replica,) = [p for p in hosting() if p.name().startswith("ray::ServeReplica")]
            replica.kill()
    assert sorted(place for place, _ in arrived) == list(range(16))
    assert {completion.error for _, completion in arrived} == {None}
    assert fleet.account.total.requests == before + 16
    (new,) = [p for p in hosting() if p.name().startswith("ray::ServeReplica")]
    assert new.pid != replica.pid


async def test_secrets_reach_the_engine_but_none_of_rays_logs(fleet: Fleet, logs: Path) -> None:
    # Last: all that the others made Ray write is searched.
    for process in hosting():
        assert process.environ()["HF_TOKEN"] == CANARY  # gated weights can be had
    files = [path for path in logs.rglob("*") if path.is_file()]
    assert any(path.name == "runtime_env_agent.log" for path in files)
    assert [path.name for path in files if CANARY.encode() in path.read_bytes()] == []
