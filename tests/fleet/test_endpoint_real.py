"""The endpoint with real vLLM, called by OpenAI's own client.

That it ends by Ctrl-C and leaves nothing behind is checked where the shared one ends (served.py).
"""

import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from helpers import (
    NEEDS_MODEL,
    ON_GPU,
    ROOT,
    THINKER,
    engine_processes,
    start_raybench,
    wait_for_silence,
)
from openai import (
    APIConnectionError,
    APIStatusError,
    AuthenticationError,
    BadRequestError,
    NotFoundError,
    OpenAI,
)
from openai.types.chat import ChatCompletionContentPartParam, ChatCompletionMessageParam
from ports import free_port
from served import KEY_VARIABLE, Served
from vision import TEMPLATE, picture, seeing

from raybench.config import FleetConf
from raybench.fleet import open_fleet
from raybench.types import Completion, Message, ModelSpec, Request

pytestmark = [
    pytest.mark.engine,
    pytest.mark.timeout(900),
    NEEDS_MODEL,
]

HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Hello, who are you?"}]

UNCLEAN = "failed to shut down"
"""What Ray prints of processes that it has to kill."""


def shown(*images: str) -> list[ChatCompletionMessageParam]:
    """Return a question that comes with images."""
    question: list[ChatCompletionContentPartParam] = [{"type": "text", "text": "What is it?"}]
    question += [{"type": "image_url", "image_url": {"url": image}} for image in images]
    return [{"role": "user", "content": question}]


def client(port: int, key: str = "none") -> OpenAI:
    return OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=key, max_retries=0, timeout=240)


def wait(until: Callable[[], bool], what: str, seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, f"no {what} within {seconds:g} s"
        time.sleep(0.5)


def cores() -> list[int]:
    """Return the processes that compute for an engine of these tests."""
    return [pid for pid, line in engine_processes().items() if "EngineCore" in line]


@contextmanager
def ray_cluster(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A Ray of our own with a dashboard, which is what `serve deploy` speaks to.

    It has a token of its own too: whether Ray asks for one depends else on what the machine keeps.
    """
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    tools, dashboard = Path(sys.executable).parent, free_port()
    head = subprocess.Popen(
        [
            *(str(tools / "ray"), "start", "--head", "--block", f"--port={free_port()}"),
            *("--dashboard-host=127.0.0.1", f"--dashboard-port={dashboard}"),
            *("--disable-usage-stats", "--num-cpus=1"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        cwd=folder,
        start_new_session=True,
    )
    try:
        yield f"http://127.0.0.1:{dashboard}"
    finally:
        head.terminate()
        head.wait(60)


def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).parent / "serve"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def applications(dashboard: str) -> dict[str, Any] | None:
    """Return what `serve status` would say, which takes seconds of a processor to begin."""
    with suppress(requests.ConnectionError):
        told = requests.get(
            f"{dashboard}/api/serve/applications/",
            headers={"Authorization": f"Bearer {os.environ['RAY_AUTH_TOKEN']}"},
            timeout=30,
        )
        if told.ok:
            return dict(told.json()["applications"])
    return None


# --------------------------------------------------------- the engine that the session shares


@pytest.fixture
def there(served: Served) -> Iterator[OpenAI]:
    with client(served.port, served.key) as there:
        yield there


def check_thoughts_are_apart(there: OpenAI, model: str) -> None:
    """Check that a reply keeps to a regex, and that thoughts are in a field of their own."""
    reply = there.chat.completions.create(
        model=model,
        messages=HELLO,
        max_tokens=40,
        extra_body={"structured_outputs": {"regex": "<think>[a-z ]{4,9}</think>rank [1-5]"}},
    )
    message = reply.choices[0].message
    assert re.fullmatch("rank [1-5]", message.content or "")
    assert re.fullmatch("[a-z ]{4,9}", str(message.to_dict()["reasoning"]))


def leave_in_the_middle(there: OpenAI, model: str) -> None:
    """Begin to read an endless reply, and close the connection."""
    stream = there.chat.completions.create(
        model=model,
        messages=HELLO,
        stream=True,
        max_tokens=2000,
        extra_body={"ignore_eos": True},
    )
    next(stream)
    stream.close()


def test_only_who_brings_the_key_is_served(served: Served, there: OpenAI) -> None:
    assert [model.id for model in there.models.list()] == served.names
    assert there.models.retrieve("hot").id == "hot"
    with client(served.port, key="wrong") as stranger, pytest.raises(AuthenticationError):
        stranger.models.list()


def test_models_keep_their_names_samplings_and_system_prompts(there: OpenAI) -> None:
    texts, prompts = {}, {}
    for name in ("greedy", "hot", "pirate", "brief"):
        reply = there.chat.completions.create(
            model=name, messages=HELLO, max_completion_tokens=99 if name == "brief" else 16
        )
        assert reply.model == name
        assert reply.usage
        assert reply.usage.completion_tokens <= 16
        texts[name] = reply.choices[0].message.content
        prompts[name] = reply.usage.prompt_tokens
    assert texts["greedy"] == texts["brief"]
    assert len({texts["greedy"], texts["hot"], texts["pirate"]}) == 3
    assert prompts["greedy"] == prompts["hot"] < prompts["pirate"]


def test_a_stream_brings_the_same_text_in_chunks(there: OpenAI) -> None:
    whole = there.chat.completions.create(model="greedy", messages=HELLO, max_tokens=12)
    chunks = list(
        there.chat.completions.create(model="greedy", messages=HELLO, max_tokens=12, stream=True)
    )
    assert {chunk.model for chunk in chunks} == {"greedy"}
    assert len(chunks) > 3
    deltas = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(deltas).strip()
    assert "".join(deltas) == whole.choices[0].message.content


def test_a_wrong_name_is_not_found_and_images_are_refused(there: OpenAI) -> None:
    with pytest.raises(NotFoundError, match="'greedy'"):
        there.chat.completions.create(model="gredy", messages=HELLO)
    with pytest.raises(BadRequestError, match="not a multimodal"):
        there.chat.completions.create(model="greedy", messages=shown(picture("red")))


def test_thoughts_are_kept_apart_from_replies_that_keep_to_a_regex(there: OpenAI) -> None:
    check_thoughts_are_apart(there, "greedy")


def test_a_client_that_leaves_in_the_middle_holds_nobody_up(there: OpenAI) -> None:
    leave_in_the_middle(there, "pirate")
    assert there.chat.completions.create(model="brief", messages=HELLO).choices


# ------------------------------------------------------------------------ engines of the test's own


@pytest.mark.long(
    short="tests/fleet/test_deployment.py"
    "::test_a_configuration_of_serve_builds_the_endpoint_and_its_controller"
)
@pytest.mark.skipif(ON_GPU, reason="the vLLM that is installed is built for GPUs")
def test_serve_deploys_the_configuration_for_cpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = yaml.safe_load((ROOT / "serving" / "cpu.yaml").read_text())
    port = config["http_options"]["port"] = free_port()
    roster = yaml.safe_load((ROOT / "conf" / "roster" / "embedded.yaml").read_text())
    for model in roster["models"]:
        # In half of it a token may turn on what is in the prefix cache.
        model["options"] = {"dtype": "float32"}
    config["applications"][0]["args"]["roster"] = roster
    file = tmp_path / "cpu.yaml"
    file.write_text(yaml.safe_dump(config))
    with ray_cluster(tmp_path, monkeypatch) as dashboard:
        wait(lambda: applications(dashboard) is not None, "dashboard")
        deployed = serve("deploy", str(file), "-a", dashboard)
        assert deployed.returncode == 0, deployed.stderr

        def runs() -> bool:
            app = (applications(dashboard) or {}).get("raybench", {})
            assert app.get("status") not in ("DEPLOY_FAILED", "UNHEALTHY"), app
            return bool(app.get("status") == "RUNNING")

        wait(runs, "application that runs")
        told = yaml.safe_load(serve("status", "-a", dashboard).stdout)
        assert told["applications"]["raybench"]["status"] == "RUNNING"
        with client(port) as there:
            names = [model.id for model in there.models.list()]
            assert names == ["smollm2-greedy", "smollm2-cool", "smollm2-hot", "smollm2-boiling"]
            assert there.models.retrieve("smollm2-hot").id == "smollm2-hot"

            # Asked for before the engine is up: it waits. The two share one.
            texts = {}
            for name in ("smollm2-greedy", "smollm2-boiling"):
                reply = there.chat.completions.create(model=name, messages=HELLO, max_tokens=12)
                assert reply.model == name
                texts[name] = reply.choices[0].message.content
                assert reply.usage
                assert reply.usage.completion_tokens <= 12
            assert texts["smollm2-greedy"] != texts["smollm2-boiling"]

            chunks = list(
                there.chat.completions.create(
                    model="smollm2-greedy", messages=HELLO, max_tokens=12, stream=True
                )
            )
            assert {chunk.model for chunk in chunks} == {"smollm2-greedy"}
            assert len(chunks) > 3
            deltas = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
            assert "".join(deltas).strip()
            assert "".join(deltas) == texts["smollm2-greedy"]

            with pytest.raises(NotFoundError, match="'smollm2-greedy'"):
                there.chat.completions.create(model="smollm2-gredy", messages=HELLO)
            with pytest.raises(BadRequestError, match="smollm2-greedy is not"):
                there.chat.completions.create(
                    model="smollm2-greedy", messages=shown(picture("red"))
                )
        assert cores()
        assert serve("shutdown", "-y", "-a", dashboard).returncode == 0
        wait(lambda: not cores(), "engine that ends")
    assert not wait_for_silence()


@pytest.mark.long(
    short="tests/fleet/test_ingress.py"
    "::test_a_request_that_waits_is_refused_when_the_engines_are_stopped"
)
def test_models_take_turns_behind_it_until_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roster = {
        "name": "two",
        "models": [
            {"name": "pirate", "weights": "embedded", "system_prompt": "Talk like a pirate."},
            {"name": "plain", "weights": "embedded", "sampling": {"max_tokens": 16}},
            {
                "name": "thinker",
                "weights": seeing(tmp_path / "seeing"),
                "options": THINKER | {"chat_template": TEMPLATE},
            },
            {"name": "broken", "weights": "embedded", "options": {"max_model_len": 10**6}},
        ],
    }
    (tmp_path / "roster").mkdir()
    (tmp_path / "roster" / "two.yaml").write_text(yaml.safe_dump(roster))
    monkeypatch.setenv("ENDPOINT_TEST_KEY", "open sesame")
    monkeypatch.setenv("RAY_SERVE_MAX_PER_REPLICA_RETRY_COUNT", "1")  # what fails would fail again
    port = free_port()
    process = start_raybench(
        *("--config-dir", str(tmp_path), "+experiment=serve", "roster=two"),
        *("fleet.slots=1", "fleet.kv_cache_gib=0.5", "fleet.patience_s=5"),
        *(f"serve.port={port}", "serve.api_key_env=ENDPOINT_TEST_KEY"),
        cwd=tmp_path,
    )
    assert process.stdout
    told = ""
    while "Ctrl-C stops it" not in told:
        line = process.stdout.readline()
        assert line, told
        told += line
    assert "4 models" in told and f"http://127.0.0.1:{port}/v1" in told

    with client(port, key="wrong") as stranger, pytest.raises(AuthenticationError):
        stranger.models.list()
    with client(port, key="open sesame") as there:
        assert {model.id for model in there.models.list()} == {
            *("pirate", "plain", "thinker", "broken")
        }
        texts, prompts = {}, {}
        for name in ("pirate", "plain"):
            reply = there.chat.completions.create(
                model=name, messages=HELLO, max_completion_tokens=99 if name == "plain" else 16
            )
            assert reply.usage
            texts[name] = reply.choices[0].message.content
            prompts[name] = reply.usage.prompt_tokens
            assert reply.usage.completion_tokens <= 16
        assert texts["pirate"] != texts["plain"]
        assert prompts["pirate"] != prompts["plain"]

        # A client that goes away in the middle wants nothing any more: others get their turn.
        leave_in_the_middle(there, "pirate")

        check_thoughts_are_apart(there, "thinker")

        seen = [
            there.chat.completions.create(
                model="thinker", messages=shown(*images), max_tokens=12, temperature=0
            ).choices[0]
            for images in ([], [picture("red")], [picture("blue")], [picture("red")])
        ]
        blind, red, blue, again = (str(choice.message.content) for choice in seen)
        assert red == again
        assert len({blind, red, blue}) == 3

        assert cores()
        with pytest.raises(APIStatusError, match=r"broken .*max_model_len") as failed:
            there.chat.completions.create(model="broken", messages=HELLO)
        assert failed.value.status_code == 503

        # Who waits for an engine holds nobody up.
        with ThreadPoolExecutor() as pool:
            wait(lambda: not cores(), "end of the engine that was there")
            waits = pool.submit(there.chat.completions.create, model="thinker", messages=HELLO)
            wait(lambda: bool(cores()), "engine that comes up")
            os.killpg(process.pid, signal.SIGINT)
            with pytest.raises((APIStatusError, APIConnectionError)):
                waits.result()
    told += process.communicate(timeout=180)[0]
    assert process.returncode == 0, told
    assert "Traceback" not in told
    assert UNCLEAN not in told
    assert "open sesame" not in told
    assert not wait_for_silence()


async def test_a_limit_is_lowered_to_what_real_vllm_leaves_of_its_context(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sentences change between versions: this one has to be understood."""
    monkeypatch.setenv(KEY_VARIABLE, served.key)
    options = {"base_url": served.base_url, "api_key_env": KEY_VARIABLE}
    context = 4096

    async def asked(words: int, max_tokens: int) -> Completion:
        request = Request((Message("user", "word " * words),), seed=0, max_tokens=max_tokens)
        spec = ModelSpec("mine", "openai", "greedy", options=options)
        async with open_fleet([spec], FleetConf(), lambda _: None) as fleet:
            (completion,) = await fleet.complete("mine", [request])
        return completion

    for max_tokens in (context, 8192, 1000):
        found = await asked(3990, max_tokens)
        assert found.finish in ("stop", "length", "empty", "thinking"), found.error
        assert found.token_limit == context - found.prompt_tokens < 1000
    found = await asked(3990, 8)
    assert found.token_limit is None and found.output_tokens <= 8
    assert (await asked(5000, 1000)).finish == "overflow"
