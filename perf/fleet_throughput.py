"""What does the fleet cost over vLLM itself?

    python -m perf.fleet_throughput [--prompts 512] [--tokens 64] [--rounds 2] [--temperature 0]
        [--weights FOLDER] [--options '{"dtype": "float16"}'] [--fleet '{"max_num_seqs": 256}']

The same prompts, sampling and engine arguments go through

    offline    vllm.LLM.chat, in one call
    tuned      the same, with what else raybench does for engines on CPUs
               (raybench/fleet/on_cpu/core.py); on GPUs there is nothing, and no such arm
    fleet      fleet.complete, in one call
    endpoint   what +experiment=serve brings up, on the same engine, a request each with httpx

in turn, each in a process of its own whose engine stays up and idle while the others have their
turn. All arms use the same libraries and the same number of cores. Prints every round and the
medians of the ratios to offline, and to tuned where it is there. The prompts are real
questions where ../shared/datasets is there, else the task prompts of the peer protocol. They are
several times the KV cache, so that no round finds the last one's prompts in the prefix cache.
"""

import argparse
import asyncio
import itertools
import json
import logging
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from raybench.autobench import prompts, settings
from raybench.config import FleetConf, ServeConf
from raybench.fleet import embedded, open_fleet
from raybench.fleet.devices import on_gpu
from raybench.fleet.engines import group_engines
from raybench.fleet.gpus import engine_environment
from raybench.types import Message, ModelSpec, Request

_DATASETS = Path(__file__).parents[2] / "shared" / "datasets"
_ARMS = ("offline", "tuned", "fleet", "endpoint")
_BASES = ("offline", "tuned")
_PORT = 18_765
Turn = tuple[float, int]
"""Seconds and output tokens."""
Turns = Callable[[], Awaitable[int]]
"""Takes a turn and returns how many tokens came out."""
Arm = Callable[[argparse.Namespace], AbstractAsyncContextManager[Turns]]


def main() -> None:
    """Run the turns and print what came of them; or be one of the arms."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prompts", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--weights", default=embedded.NAME, help="a folder, or a name on the hub")
    parser.add_argument("--options", type=json.loads, default={}, help="of the engine, as JSON")
    parser.add_argument("--fleet", type=json.loads, default={}, help="its settings, as JSON")
    parser.add_argument("--arm", choices=_ARMS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.arm:
        asyncio.run(take_turns(_ARM[arguments.arm], arguments))
    else:
        compare(arguments)


def compare(arguments: argparse.Namespace) -> None:
    """Give each arm its turns and print the ratios."""
    print(f"{len(questions(arguments.prompts))} prompts, {arguments.tokens} tokens each at most")
    command = [sys.executable, "-m", "perf.fleet_throughput", *sys.argv[1:], "--arm"]
    arms = {}
    gpu = on_gpu(_conf(arguments))
    for arm in (it for it in _ARMS if not (gpu and it == "tuned")):
        arms[arm] = subprocess.Popen(
            [*command, arm], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        _read(arm, arms[arm])
        print(f"{arm} is up", file=sys.stderr)
    seen: dict[str, list[Turn]] = {arm: [] for arm in arms}
    for _, (arm, process) in itertools.product(range(arguments.rounds), arms.items()):
        print("go", file=process.stdin, flush=True)
        seconds, tokens = _read(arm, process)
        seen[arm].append((seconds, tokens))
        print(f"{arm:9} {seconds:7.1f} s  {tokens / seconds:6.0f} output tok/s", flush=True)
    for process in arms.values():
        if process.stdin:
            process.stdin.close()
        process.wait()
    for base, arm in itertools.product(_BASES, _ARMS[1:]):
        if arm == base or not {arm, base} <= {*seen}:
            continue
        ratios = [
            (tokens / seconds) / (base_tokens / base_seconds)
            for (seconds, tokens), (base_seconds, base_tokens) in zip(
                seen[arm], seen[base], strict=True
            )
        ]
        shown = ", ".join(f"{ratio:.3f}" for ratio in ratios)
        print(f"{arm} / {base}: median {statistics.median(ratios):.3f} ({shown})")


def questions(count: int) -> list[str]:
    """Return that many prompts, real ones where they are at hand."""
    files = [_DATASETS / f"{name}.jsonl" for name in ("gsm8k_test", "math500", "mmlu_test")]
    repeats = count // (len(settings.TOPICS) * len(settings.DIFFICULTIES)) + 1
    found = [
        json.loads(line)["question"]
        for file in files
        if file.exists()
        for line in file.read_bytes().splitlines()  # bytes: texts hold line ends of their own
    ] or [
        f"{prompts.task(label, phrase, topic)}\n(Question {number})"
        for number, topic, (label, phrase, _) in itertools.product(
            range(repeats), settings.TOPICS, settings.DIFFICULTIES
        )
    ]
    random.Random(0).shuffle(found)
    return found[:count]


def requests(arguments: argparse.Namespace) -> list[Request]:
    """Return the work of one turn."""
    return [
        Request(
            (Message("user", question),),
            seed=seed,
            max_tokens=arguments.tokens,
            temperature=arguments.temperature,
            top_p=1.0,
        )
        for seed, question in enumerate(questions(arguments.prompts))
    ]


async def take_turns(arm: Arm, arguments: argparse.Namespace) -> None:
    """Bring the arm up and take a turn for every line on stdin."""
    # Whatever libraries print goes to stderr: stdout is for the turns.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    async with arm(arguments) as turn:
        print("[0, 0]", file=out, flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            begun = time.perf_counter()
            tokens = await turn()
            print(json.dumps([time.perf_counter() - begun, tokens]), file=out, flush=True)


@asynccontextmanager
async def offline(arguments: argparse.Namespace, *, tuned: bool = False) -> AsyncIterator[Turns]:
    """Be vllm.LLM.chat."""
    config = _llm_config(arguments)
    os.environ.update(config["runtime_env"]["env_vars"], VLLM_LOGGING_LEVEL="WARNING")
    os.environ.update(engine_environment())  # as the fleet's engines have it
    from vllm import LLM
    from vllm.platforms import current_platform

    from perf.peers.raw import our_core
    from raybench.fleet.on_cpu.core import preload, take_cores
    from raybench.fleet.replica import sampling

    if current_platform.is_cpu():
        preload()
        take_cores()
    with our_core() if tuned else nullcontext():
        llm = LLM(config["model_loading_config"]["model_source"], **config["engine_kwargs"])
    asked = requests(arguments)
    messages: Any = [_messages(request) for request in asked]

    async def turn() -> int:
        outputs = llm.chat(messages, [sampling(request) for request in asked], use_tqdm=False)
        return sum(len(output.outputs[0].token_ids) for output in outputs)

    yield turn


@asynccontextmanager
async def fleet(arguments: argparse.Namespace) -> AsyncIterator[Turns]:
    """Be fleet.complete."""
    model = _model(arguments)
    async with open_fleet([model], _conf(arguments), lambda _: None) as fleet:

        async def turn() -> int:
            completions = await fleet.complete(model.name, requests(arguments))
            return sum(completion.output_tokens for completion in completions)

        yield turn


@asynccontextmanager
async def endpoint(arguments: argparse.Namespace) -> AsyncIterator[Turns]:
    """Be our OpenAI endpoint, asked as raybench asks other people's."""
    from raybench.fleet.endpoint import open_endpoint
    from raybench.fleet.remote import RemoteEngine

    conf, watched = ServeConf(port=_PORT), replace(_conf(arguments), engine_metrics=True)
    hosted = _model(arguments)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # Ray would have it tell every request
    async with open_endpoint([hosted], watched, conf, lambda _: None) as there:
        options = {"base_url": there.base_url, "concurrency": arguments.prompts}
        model = ModelSpec(hosted.name, "openai", hosted.name, options=options)
        engine = RemoteEngine(options, FleetConf(), print)

        async def turn() -> int:
            completions = await engine.complete(model, requests(arguments))
            failed = [completion.error for completion in completions if completion.error]
            if failed:
                raise RuntimeError(f"{len(failed)} requests failed: {failed[0]}")
            return sum(completion.output_tokens for completion in completions)

        yield turn
        await engine.close()


def _read(arm: str, process: subprocess.Popen[str]) -> Turn:
    """Return the arm's next turn."""
    for line in process.stdout or ():
        seconds, tokens = json.loads(line)
        return seconds, tokens
    raise SystemExit(f"{arm} ended with code {process.wait()}; its reason stands above")


def _model(arguments: argparse.Namespace) -> ModelSpec:
    return ModelSpec("model", "vllm", arguments.weights, options=arguments.options)


def _conf(arguments: argparse.Namespace) -> FleetConf:
    return FleetConf(**arguments.fleet)


def _llm_config(arguments: argparse.Namespace) -> dict[str, Any]:
    from raybench.fleet.llm_config import llm_config

    (spec,) = group_engines([_model(arguments)])
    conf = _conf(arguments)
    return llm_config(spec, conf, gpu=on_gpu(conf))


def _messages(request: Request) -> Sequence[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in request.messages]


_ARM: Mapping[str, Arm] = {
    "offline": offline,
    "tuned": partial(offline, tuned=True),
    "fleet": fleet,
    "endpoint": endpoint,
}

if __name__ == "__main__":
    main()
