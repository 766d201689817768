from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from raybench.config import FleetConf
from raybench.fleet import Fleet, group_engines, open_fleet
from raybench.fleet.chat import NO_IMAGES
from raybench.fleet.simulated import SimulatedEngine
from raybench.types import Completion, Message, ModelSpec, Request, Sampling


class Recorder(SimulatedEngine):
    """An engine that keeps what it was asked and repeats the last message."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, Request]] = []

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        self.asked += [(model.name, request) for request in requests]
        return [Completion(request.messages[-1].content, "stop") for request in requests]

    async def stream(
        self, model: ModelSpec, requests: Sequence[Request]
    ) -> AsyncGenerator[tuple[int, Completion]]:
        # The last first: whoever takes places for the order of arrival is found out.
        for placed in reversed([*enumerate(await self.complete(model, requests))]):
            yield placed


def opened(*models: ModelSpec) -> tuple[Fleet, dict[str, Recorder]]:
    specs = group_engines(models)
    engines = {spec.name: Recorder() for spec in specs}
    return Fleet(specs, engines), engines


async def asked(model: ModelSpec, request: Request) -> Request:
    """What reaches the engine of a request to a model."""
    fleet, engines = opened(model)
    await fleet.complete(model.name, [request])
    (engine,) = engines.values()
    ((name, seen),) = engine.asked
    assert name == model.name
    return seen


def model(name: str = "m", **kwargs: Any) -> ModelSpec:
    return ModelSpec(name, "vllm", kwargs.pop("weights", "org/weights"), **kwargs)


HELLO = (Message("user", "hello"),)


async def test_what_a_request_leaves_open_comes_from_the_model() -> None:
    seen = await asked(
        model(sampling=Sampling(0.7, 0.9, 100), system_prompt="Be brief."), Request(HELLO, seed=5)
    )
    assert seen == Request(
        (Message("system", "Be brief."), *HELLO),
        seed=5,
        max_tokens=100,
        temperature=0.7,
        top_p=0.9,
    )


async def test_what_a_request_says_stands() -> None:
    # Also where it says 0, which is a temperature.
    request = Request(
        HELLO,
        seed=5,
        max_tokens=7,
        temperature=0.0,
        top_p=0.5,
        regex="[0-9]",
        json_schema={"type": "integer"},
    )
    assert await asked(model(sampling=Sampling(0.7, 0.9)), request) == request


@pytest.mark.parametrize(
    ("asked_for", "allowed", "bound"),
    [(10, 20, 10), (20, 10, 10), (10, None, 10), (None, 10, 10), (None, None, None)],
)
async def test_the_smaller_bound_of_tokens_holds(
    asked_for: int | None, allowed: int | None, bound: int | None
) -> None:
    request = Request(HELLO, seed=0, max_tokens=asked_for)
    seen = await asked(model(sampling=Sampling(max_tokens=allowed)), request)
    assert seen.max_tokens == bound


async def test_a_models_own_system_prompt_and_a_requests_are_one_message() -> None:
    request = Request((Message("system", "Answer in a line."), *HELLO), seed=5)
    seen = await asked(model(system_prompt="Be kind."), request)
    assert seen.messages == (Message("system", "Be kind.\n\nAnswer in a line."), *HELLO)


async def test_a_model_without_the_system_role_reads_it_all_in_the_users_turn() -> None:
    request = Request((Message("system", "Answer in a line."), *HELLO), seed=5)
    seen = await asked(model(system_prompt="Be kind.", system_role=False), request)
    assert seen.messages == (Message("user", "Be kind.\n\nAnswer in a line.\n\nhello"),)
    for knows in (True, None):
        assert (await asked(model(system_role=knows), request)).messages == request.messages


SHOWN = Request((Message("user", "What is it?", ("data:,",)),), seed=1)


async def test_a_model_that_takes_no_images_is_sent_none() -> None:
    fleet, engines = opened(model(images=False))
    (engine,) = engines.values()
    batch = [SHOWN, Request(HELLO, seed=1), SHOWN, Request(HELLO, seed=2)]
    replies = await fleet.complete("m", batch)
    streamed = dict([placed async for placed in fleet.stream("m", batch)])
    for found in (replies, [streamed[place] for place in range(4)]):
        assert [reply.finish for reply in found] == ["unsupported", "stop", "unsupported", "stop"]
        assert found[0].error == NO_IMAGES
    assert [request.seed for _, request in engine.asked] == [1, 2, 1, 2]
    assert not any(message.images for _, request in engine.asked for message in request.messages)
    assert fleet.account.total.requests == 8


async def test_an_engine_of_which_nothing_is_left_to_ask_is_not_asked() -> None:
    fleet, engines = opened(model(images=False))
    (engine,) = engines.values()
    engine.complete = engine.stream = None  # type: ignore[assignment,method-assign]
    assert [reply.finish for reply in await fleet.complete("m", [SHOWN])] == ["unsupported"]
    assert [place async for place, _ in fleet.stream("m", [SHOWN])] == [0]


@pytest.mark.parametrize("images", [True, None])
async def test_images_go_to_models_that_may_take_them(images: bool | None) -> None:
    assert (await asked(model(images=images), SHOWN)).messages == SHOWN.messages
    stand_in = ModelSpec("sim", "simulated", "", images=images)
    async with open_fleet([stand_in], FleetConf(), lambda _: None) as fleet:
        assert [reply.finish for reply in await fleet.complete("sim", [SHOWN])] == ["stop"]


async def test_models_of_one_engine_keep_their_own_settings() -> None:
    fleet, engines = opened(
        model("cold"),
        model("hot", sampling=Sampling(2.0)),
        model("other", weights="org/other"),
    )
    assert len(engines) == 2
    for name in ("hot", "cold", "other"):
        await fleet.complete(name, [Request(HELLO, seed=1)])
    shared, other = engines.values()
    assert [(name, request.temperature) for name, request in shared.asked] == [
        ("hot", 2.0),
        ("cold", 0.0),
    ]
    assert [name for name, _ in other.asked] == ["other"]


async def test_completions_come_in_the_order_of_their_requests() -> None:
    fleet, _ = opened(model())
    requests = [Request((Message("user", str(number)),), seed=number) for number in range(20)]
    replies = await fleet.complete("m", requests)
    assert [reply.text for reply in replies] == [str(number) for number in range(20)]
    assert await fleet.complete("m", []) == []


SHUFFLED = ["banana split", "apple pie", "banana", "apple tart", "banana", "apple pie"]


async def test_a_batch_reaches_the_engine_with_shared_prefixes_side_by_side() -> None:
    fleet, engines = opened(model())
    requests = [Request((Message("user", text),), seed=seed) for seed, text in enumerate(SHUFFLED)]
    replies = await fleet.complete("m", requests)
    assert [reply.text for reply in replies] == SHUFFLED
    (engine,) = engines.values()
    assert [request.messages[-1].content for _, request in engine.asked] == sorted(SHUFFLED)


async def test_a_stream_names_the_place_in_the_callers_own_order() -> None:
    fleet, engines = opened(model())
    requests = [Request((Message("user", text),), seed=seed) for seed, text in enumerate(SHUFFLED)]
    came = [(place, reply.text) async for place, reply in fleet.stream("m", requests)]
    assert sorted(came) == list(enumerate(SHUFFLED))
    # As the engine finished them, and not before it had them in the order of their prefixes.
    assert [text for _, text in came] == sorted(SHUFFLED, reverse=True)
    (engine,) = engines.values()
    assert [request.messages[-1].content for _, request in engine.asked] == sorted(SHUFFLED)
    assert [placed async for placed in fleet.stream("m", [])] == []


async def test_a_stream_fills_in_what_a_request_leaves_to_the_model() -> None:
    fleet, engines = opened(model(sampling=Sampling(0.7), system_prompt="Be brief."))
    assert len([_ async for _ in fleet.stream("m", [Request(HELLO, seed=1)])]) == 1
    (engine,) = engines.values()
    ((_, seen),) = engine.asked
    assert (seen.temperature, seen.messages[0]) == (0.7, Message("system", "Be brief."))


async def test_every_completion_is_counted_whichever_way_it_came() -> None:
    fleet, _ = opened(model("one"), model("two"))
    await fleet.complete("one", [Request(HELLO, seed=seed) for seed in range(3)])
    async for _ in fleet.stream("two", [Request(HELLO, seed=seed) for seed in range(4)]):
        pass
    counted = {name: tally.requests for name, tally in fleet.account.models.items()}
    assert counted == {"one": 3, "two": 4}
    assert fleet.account.total.requests == 7


async def test_of_a_stream_left_early_what_came_is_counted() -> None:
    fleet, _ = opened(model())
    async with aclosing(fleet.stream("m", [Request(HELLO, seed=s) for s in range(9)])) as replies:
        async for _ in replies:
            break
    assert fleet.account.total.requests == 1


async def test_open_fleet_brings_up_simulated_models() -> None:
    said: list[str] = []
    models = [ModelSpec(name, "simulated", "") for name in ("one", "two")]
    async with open_fleet(models, FleetConf(), said.append) as fleet:
        for name in ("one", "two"):
            (reply,) = await fleet.complete(name, [Request(HELLO, seed=1)])
            assert reply.finish == "stop"
            assert "quality" in reply.text
