"""What the endpoint serves, and what it makes of requests and replies."""

import json
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from statements import codes, values
from virtual_time import now

from raybench.config import FleetConf, ServeConf
from raybench.engines.controller import EngineStatus, Status
from raybench.engines.scheduler.move_costs import Swaps
from raybench.fleet import endpoint
from raybench.fleet.endpoint import (
    Endpoint,
    engines,
    filled,
    left_out,
    open_endpoint,
    prefix,
    renamed,
    served,
)
from raybench.types import ModelSpec, Sampling

PIRATE = ModelSpec(
    "pirate",
    "vllm",
    "embedded",
    sampling=Sampling(temperature=0.5, top_p=0.9, max_tokens=40),
    system_prompt="Talk like a pirate.",
)
PLAIN = ModelSpec("plain", "vllm", "embedded")
ELSEWHERE = ModelSpec("far", "openai", "x", options={"base_url": "http://far/v1"})
STAND_IN = ModelSpec("stand-in", "simulated", "")
USER: dict[str, Any] = {"role": "user", "content": "Hello"}


# ----------------------------------------------------------------------------------- what is served


def test_hosted_models_are_served_and_the_others_named() -> None:
    models = [PIRATE, ELSEWHERE, STAND_IN, PLAIN]
    assert served(models) == [PIRATE, PLAIN]
    assert [line.split()[0] for line in left_out(models)] == ["far", "stand-in"]
    assert "http://far/v1" in left_out(models)[0]


def test_a_roster_without_hosted_models_is_refused() -> None:
    with refused("setting.conflict", "roster.models"):
        served([ELSEWHERE, STAND_IN])


def test_models_of_the_same_weights_share_an_engine() -> None:
    (engine,) = engines([PIRATE, PLAIN], FleetConf(), "raybench")
    assert engine.models == (PIRATE, PLAIN)


def test_an_engines_name_belongs_to_its_endpoint_and_its_configuration() -> None:
    def name(conf: FleetConf, app: str) -> str:
        return engines([PLAIN], conf, app)[0].name

    names = {
        name(FleetConf(), "one"),
        name(FleetConf(), "two"),
        name(FleetConf(slots=1), "one"),
        engines([PIRATE], FleetConf(), "one")[0].name,
    }
    assert len(names) == 4
    assert name(FleetConf(), "my.app/1").startswith(prefix("my.app/1"))
    # Ray writes a deployment's name without these, and would not find it again.
    assert not set("./:#") & set(name(FleetConf(), "my.app/1"))


def test_the_checkpoints_own_sampling_is_left_out_unless_asked_for() -> None:
    (engine,) = engines([PLAIN], FleetConf(), "app")
    assert engine.options["generation_config"] == "vllm"
    own = ModelSpec("own", "vllm", "embedded", options={"generation_config": "auto"})
    assert engines([own], FleetConf(), "app")[0].options["generation_config"] == "auto"


# ----------------------------------------------------------------------------------------- requests


def test_what_a_request_leaves_out_is_the_models_own() -> None:
    assert filled(PIRATE, "engine", {"messages": [USER]}) == {
        "model": "engine",
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 40,
        "messages": [{"role": "system", "content": "Talk like a pirate."}, USER],
    }


def test_what_a_request_brings_stays() -> None:
    asked = {
        "messages": [{"role": "system", "content": "Be brief."}, USER],
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": 8,
    }
    assert asked | filled(PIRATE, "engine", asked) == asked | {"model": "engine"}


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_system_prompt_of_the_clients_own_replaces_the_models(role: str) -> None:
    asked = {"messages": [{"role": role, "content": "Be brief."}, USER]}
    assert "messages" not in filled(PIRATE, "engine", asked)


def test_images_go_through_untouched() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    message = {"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}
    assert filled(PIRATE, "engine", {"messages": [message]})["messages"][1] is message
    assert "messages" not in filled(PLAIN, "engine", {"messages": [message]})


@given(
    own=st.none() | st.integers(1, 100),
    old=st.none() | st.integers(1, 100),
    new=st.none() | st.integers(1, 100),
)
def test_the_tighter_bound_on_tokens_counts(
    own: int | None, old: int | None, new: int | None
) -> None:
    model = ModelSpec("m", "vllm", "embedded", sampling=Sampling(max_tokens=own))
    asked = {"max_tokens": old, "max_completion_tokens": new}
    fields = asked | filled(model, "engine", asked)
    # As vLLM reads the two.
    bound = fields["max_tokens"] if new is None else fields["max_completion_tokens"]
    theirs = old if new is None else new
    assert bound == min((b for b in (own, theirs) if b is not None), default=None)


def test_a_model_without_the_system_role_reads_it_in_the_users_turn() -> None:
    gemma = replace(PIRATE, system_role=False)
    theirs = {"role": "system", "content": "Be brief."}
    question = str(USER["content"])
    told = filled(gemma, "engine", {"messages": [USER]})["messages"]
    assert told == [{"role": "user", "content": f"Talk like a pirate.\n\n{question}"}]
    told = filled(gemma, "engine", {"messages": [theirs, USER]})["messages"]
    assert told == [{"role": "user", "content": f"Be brief.\n\n{question}"}]
    assert filled(gemma, "engine", {"messages": [theirs]})["messages"] == [
        {"role": "user", "content": "Be brief."}
    ]
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    asked = {"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}
    (turn,) = filled(gemma, "engine", {"messages": [theirs, asked]})["messages"]
    assert turn["content"] == [{"type": "text", "text": "Be brief."}, *asked["content"]]
    assert asked["content"][0] == {"type": "text", "text": "What is it?"}  # it is the client's
    plain = replace(PLAIN, system_role=False)
    assert filled(plain, "engine", {"messages": [USER]})["messages"] == [USER]


def test_a_prompt_without_messages_gets_no_system_prompt() -> None:
    assert "messages" not in filled(PIRATE, "engine", {"prompt": "Once upon a time"})


# ------------------------------------------------------------------------------------------ replies


@given(words=st.text(), name=st.text(min_size=1))
def test_a_streams_chunk_has_the_models_name_and_its_words_untouched(words: str, name: str) -> None:
    engine = "app-engine-12345678-embedded-1464ff41"
    for content in (words, f'{words}"model":"{engine}"'):
        chunk = {"id": "1", "model": engine, "choices": [{"delta": {"content": content}}]}
        text = "data: " + json.dumps(chunk, separators=(",", ":")) + "\n\n"
        (there,) = renamed([text], engine, name)
        assert json.loads(there.removeprefix("data: ")) == chunk | {"model": name}
    assert renamed("data: [DONE]\n\n", engine, name) == "data: [DONE]\n\n"


# --------------------------------------------------------------------------- before anything starts


async def opened(conf: ServeConf) -> None:
    async with open_endpoint([PLAIN], FleetConf(device="cpu"), conf, print):
        raise AssertionError("it came up")


async def test_a_port_in_use_is_told_before_ray_starts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with refused("endpoint.address", "serve.port"):
            await opened(ServeConf(port=port))
    assert "Ray" not in capsys.readouterr().out


async def test_a_key_that_is_not_set_is_told_before_ray_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with refused("environment.variable", "serve.api_key_env"):
        await opened(ServeConf(api_key_env="NO_SUCH_KEY"))


# ------------------------------------------------------------------------------------------- watch


class Silent:
    """A controller that is away for some polls, and leaves its watch when asked once too often."""

    def __init__(self, away: int, more: int, failures: Mapping[str, str]) -> None:
        self.polls = 0
        self.status = SimpleNamespace(remote=self._status)
        self._away, self._all, self._failures = away, away + more, failures

    async def _status(self) -> Status:
        self.polls += 1
        if self.polls <= self._away:
            raise ConnectionError("its node has died")
        if self.polls > self._all:
            raise KeyboardInterrupt
        return Status(
            {
                name: EngineStatus({}, models={}, failure=reason)
                for name, reason in self._failures.items()
            },
            Swaps(),
        )


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What Serve says in turn of whether the endpoint is gone; no more is that it is not."""
    told: list[bool] = []

    async def _gone() -> bool:
        return told.pop(0) if told else False

    monkeypatch.setattr(endpoint, "_gone", _gone)
    return told


@pytest.mark.virtual_time
async def test_an_endpoint_whose_controller_died_with_its_node_is_waited_for(
    gone: list[bool],
) -> None:
    said: list[str] = []
    controller = Silent(away=60, more=2, failures={"small": "no room"})
    with pytest.raises(KeyboardInterrupt):
        await Endpoint("http://here/v1", controller, 600.0).watch(said.append, now)
    assert codes(said) == ["endpoint.silent", "endpoint.answers", "endpoint.lacks"]
    assert values(said[2]) == {"reason": "no room"}


@pytest.mark.virtual_time
async def test_an_endpoint_that_stays_silent_is_given_up(gone: list[bool]) -> None:
    controller = Silent(away=10**6, more=0, failures={})
    with refused("engine.lost"):
        await Endpoint("http://here/v1", controller, 600.0).watch(lambda _: None, now)
    assert controller.polls > 2


@pytest.mark.virtual_time
async def test_an_endpoint_that_somebody_has_stopped_is_not_waited_for(gone: list[bool]) -> None:
    gone += [False, True]
    controller = Silent(away=10**6, more=0, failures={})
    with refused("engine.lost"):
        await Endpoint("http://here/v1", controller, 600.0).watch(lambda _: None, now)
    assert controller.polls == 2
