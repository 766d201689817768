"""A worker of the acceptance test: it opens engines as runs do, and measures steps on them.

    python -m perf.gpu_check.measurements SETTING STEP …

SETTING is a `Setting` as JSON. Each step prints a line of JSON with its values, or with an error.
"""

import argparse
import asyncio
import json
import math
import os
import random
import subprocess
import sys
import time
import traceback
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import psutil

from perf import fleet_throughput
from perf.gpu_check.claims import STEPS, Measured
from raybench.config import FleetConf
from raybench.engines.controller import Status
from raybench.engines.scheduler.messages import ReplicaState
from raybench.fleet import Fleet, open_fleet
from raybench.fleet.devices import GIB, OWN
from raybench.fleet.engines import weights_gib
from raybench.fleet.gpus import nvcc
from raybench.fleet.reasons import last_line
from raybench.fleet.serve_backend import ServeReplica, handle
from raybench.types import Completion, Message, ModelSpec, Request

_MEMORY_SHARE = 0.45
"""Of a GPU: next to the fleet's engine there is that of plain vLLM."""
_KV_CACHE_GIB = 1.0
_CONTEXT = 4096
_ROUNDS = 2
_WAVES = 4
"""Full batches of the arm with a barrier."""
_SPREAD, _LONGEST = 0.8, 4
"""Of the lognormal lengths of replies; the longest are as many times their median."""
_FEWEST_BATCHES, _MOST_BATCHES = 2, 20
_FIRST, _SECOND = "first", "second"
_QUESTIONS = 2048
_SAMPLES = 2 * 2 * 6
"""Of two models in the index, below."""
_SUITE = (
    "+experiment=suite", "suite.parts=[index,hle]", "data=samples", "tracking=none",
    "index.benchmarks=[mmlu_pro,gpqa_diamond]", "index.limit=6", "index.repeats=1",
    "index.judges=[]", "index.checker=null", "index.cache=false",
    f"hle.judges=[{_FIRST}]", "hle.judge_chars=100", "hle.limit=6", "hle.review=0",
    "hle.cache=false",
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """On what is measured, and how much."""

    device: Literal["gpu", "cpu", "rig"]
    """rig: the Ray of virtual GPUs that RAY_ADDRESS names (tests/rig/nodes.py)."""
    gpu: str
    """The first GPU, as NVML knows it; its memory is measured."""
    weights: str
    folder: str
    """Where the suite leaves its run."""
    batch: int = 256
    """Requests that an engine works on at once."""
    tokens: int = 128
    """Of a reply."""
    round_s: float = 6.0
    """About how long a round of batches takes."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of all engines."""
    nodes: Mapping[str, str] = field(default_factory=dict)
    """Labels of the nodes to use, of a rig."""

    def fleet_conf(self, **own: Any) -> FleetConf:
        """Return the settings of a fleet."""
        if self.device != "rig":
            own |= {"address": OWN, "device": self.device}
        if self.device == "cpu":
            own.setdefault("kv_cache_gib", 0.25)
        return FleetConf(
            max_model_len=_CONTEXT, max_num_seqs=self.batch, nodes=dict(self.nodes), **own
        )

    def used_gib(self) -> float:
        """Return what is used of the GPU's memory; without one, of the machine's."""
        if self.device == "cpu":
            return _used_host_gib()
        with nvml() as library:
            device = device_of(library, self.gpu)
            return float(library.nvmlDeviceGetMemoryInfo(device).used / GIB)


@contextmanager
def nvml() -> Iterator[Any]:
    """Yield NVIDIA's library, ready to use."""
    import pynvml

    pynvml.nvmlInit()
    try:
        yield pynvml
    finally:
        pynvml.nvmlShutdown()


def device_of(library: Any, gpu: str) -> Any:
    """Return NVML's handle of a GPU, by its index or UUID."""
    if gpu.isdigit():
        return library.nvmlDeviceGetHandleByIndex(int(gpu))
    return library.nvmlDeviceGetHandleByUUID(gpu)


@dataclass(frozen=True)
class Bench:
    """What a step measures on."""

    setting: Setting
    fleet: Fleet
    up_s: float
    """How long its engines took to come up, with Ray."""
    before_gib: float
    """Memory of the GPU that was used before."""

    async def ask(self, model: str, requests: Sequence[Request]) -> tuple[float, int]:
        """Ask all at once; return tokens a second and the number of failures."""
        began = time.perf_counter()
        completions = await self.fleet.complete(model, requests)
        tokens = sum(completion.output_tokens for completion in completions)
        return tokens / (time.perf_counter() - began), _count_failures(completions)

    async def count_batches(self) -> int:
        """Return how many full batches take about as long as a round."""
        began = time.perf_counter()
        await self.fleet.complete(_FIRST, self.make_requests(self.setting.batch))
        count = round(self.setting.round_s / (time.perf_counter() - began))
        return max(_FEWEST_BATCHES, min(count, _MOST_BATCHES))

    def make_requests(self, count: int, start: int = 0) -> list[Request]:
        """Return requests, all others than those before `start`."""
        questions = fleet_throughput.questions(_QUESTIONS)
        texts = (f"{seed}. {questions[seed % _QUESTIONS]}" for seed in range(start, start + count))
        return [
            Request((Message("user", text),), seed, self.setting.tokens, temperature=0.0)
            for seed, text in enumerate(texts, start)
        ]

    async def read_status(self) -> Status:
        """Return how the engines stand."""
        status: Status = await self.fleet.controller.status.remote()
        return status

    async def list_open_replicas(self) -> list[str]:
        """Return the replicas that take requests."""
        engines = (await self.read_status()).engines.values()
        states = [item for engine in engines for item in engine.states.items()]
        return [name for name, state in states if state is ReplicaState.OPEN]


async def measure_start(bench: Bench) -> Measured:
    """Ask an engine that has just started."""
    completions = await bench.fleet.complete(_FIRST, bench.make_requests(8))
    failed = _count_failures(completions)
    replies = len(completions) - failed
    return {"nvcc": nvcc() is not None, "up_s": bench.up_s, "replies": replies, "failed": failed}


async def measure_throughput(bench: Bench) -> Measured:
    """Let the fleet and plain vLLM take turns on one GPU, each idle while the other works."""
    setting = bench.setting
    count = setting.batch * await bench.count_batches()
    conf = asdict(setting.fleet_conf(memory_share=_MEMORY_SHARE))
    prompts = argparse.Namespace(prompts=count, tokens=setting.tokens, temperature=0.0)
    command = [
        sys.executable, "-m", "perf.fleet_throughput", "--arm", "offline",
        "--weights", setting.weights, "--options", json.dumps(setting.options),
        "--fleet", json.dumps(conf),
        "--prompts", str(count), "--tokens", str(setting.tokens),
    ]  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    rates: dict[str, list[float]] = {"fleet": [], "offline": []}
    failures = 0
    try:
        await _read_turn(process.stdout)  # it is up
        for _ in range(_ROUNDS):
            rate, failed = await bench.ask(_FIRST, fleet_throughput.requests(prompts))
            rates["fleet"].append(rate)
            failures += failed
            process.stdin.write(b"go\n")
            seconds, tokens = await _read_turn(process.stdout)
            rates["offline"].append(tokens / seconds)
        process.stdin.close()
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    return {**rates, "requests": count, "failed": failures}


async def _read_turn(lines: asyncio.StreamReader) -> tuple[float, int]:
    """Return the seconds and tokens of the next turn of plain vLLM."""
    line = await lines.readline()
    if not line:
        raise RuntimeError("plain vllm.LLM ended; the log says why")
    seconds, tokens = json.loads(line)
    return seconds, tokens


async def measure_refill(bench: Bench) -> Measured:
    """Ask for replies of lognormal lengths, with a barrier after each full batch and without."""
    setting = bench.setting
    count = _WAVES * setting.batch
    draw, median = random.Random(0), setting.tokens / 2
    lengths = [
        max(1, math.ceil(median * min(draw.lognormvariate(0.0, _SPREAD), _LONGEST)))
        for _ in range(2 * count)
    ]
    requests = [
        replace(request, max_tokens=length)
        for request, length in zip(bench.make_requests(2 * count), lengths[:count] * 2, strict=True)
    ]
    failed, seconds = 0, []
    for batch, asked in ((count, requests[:count]), (setting.batch, requests[count:])):
        began = time.perf_counter()
        for first in range(0, count, batch):
            completions = await bench.fleet.complete(_FIRST, asked[first : first + batch])
            failed += _count_failures(completions)
        seconds.append(time.perf_counter() - began)
    return {"refill_s": seconds[0], "barrier_s": seconds[1], "requests": count, "failed": failed}


async def measure_sleep_1(bench: Bench) -> Measured:
    """Put the engine to sleep with its weights in host memory."""
    return await _measure_sleep(bench, 1)


async def measure_sleep_2(bench: Bench) -> Measured:
    """Put the engine to sleep without its weights."""
    return await _measure_sleep(bench, 2)


async def _measure_sleep(bench: Bench, level: int) -> Measured:
    """Put the engine to sleep and wake it, with the calls that the controller makes."""
    (name,) = await bench.list_open_replicas()
    replica, setting = handle(name), bench.setting
    await replica.drain.remote(cut_waiting=False)
    host_gib, began = _used_host_gib(), time.perf_counter()
    await replica.put_to_sleep.remote(level)
    sleep_s = time.perf_counter() - began
    asleep_gib, host_gib = setting.used_gib(), _used_host_gib() - host_gib
    began = time.perf_counter()
    same = bool(await replica.wake_and_compare.remote())
    wake_s, awake_gib = time.perf_counter() - began, setting.used_gib()
    # It takes no requests where it is another model.
    requests = bench.make_requests(1 if same else 0)
    return {
        "level": level,
        "same": same,
        "before_gib": bench.before_gib,
        "asleep_gib": asleep_gib,
        "awake_gib": awake_gib,
        "host_gib": host_gib,
        "weights_gib": weights_gib(setting.weights),
        "sleep_s": sleep_s,
        "wake_s": wake_s,
        "failed": _count_failures(await bench.fleet.complete(_FIRST, requests)),
    }


async def measure_side_by_side(bench: Bench) -> Measured:
    """Ask two engines at once."""
    requests = bench.make_requests(bench.setting.batch)
    found = await asyncio.gather(
        *(bench.fleet.complete(name, requests) for name in (_FIRST, _SECOND))
    )
    completions = [completion for each in found for completion in each]
    failed, swaps = _count_failures(completions), (await bench.read_status()).swaps
    return {
        "awake": len(await bench.list_open_replicas()),
        "loads": swaps.loads,
        "swaps": swaps.count,
        "used_gib": bench.setting.used_gib() - bench.before_gib,
        "replies": len(completions) - failed,
        "failed": failed,
    }


async def measure_replicas(bench: Bench) -> Measured:
    """Ask one of two replicas, then the engine. The second one comes while there is work."""
    while len(names := await bench.list_open_replicas()) < 2:
        await bench.ask(_FIRST, bench.make_requests(bench.setting.batch))
    one, _ = names
    count = bench.setting.batch * 2 * await bench.count_batches()
    requests = bench.make_requests(2 * count)
    began, found = time.perf_counter(), []
    async with aclosing(ServeReplica(one).stream(requests[:count])) as events:
        async for event in events:
            if isinstance(event, tuple):
                found.append(event[1])
    one_s = time.perf_counter() - began
    began = time.perf_counter()
    completions = await bench.fleet.complete(_FIRST, requests[count:])
    two_s = time.perf_counter() - began
    failed = _count_failures([*found, *completions]) + count - len(found)
    return {"one_s": one_s, "two_s": two_s, "requests": count, "failed": failed}


async def measure_suite(setting: Setting) -> Measured:
    """Run a suite as a user does, and read what it left."""
    folder = Path(setting.folder) / f"suite-{time.strftime('%H%M%S')}"
    folder.mkdir(parents=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "raybench", *_make_suite_settings(setting),
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr,
    )  # fmt: skip
    code = await process.wait()
    results, samples = [], []
    for part in folder.glob("runs/suite/*/parts/*/*"):
        results.append(json.loads((part / "results.json").read_text()))
        if part.parent.name == "index":
            journal = (part / "journal" / "units.jsonl").read_text()
            samples = [json.loads(line) for line in journal.splitlines()]
    return {
        "code": code,
        "parts": len(results),
        "samples": len(samples),
        "distinct": len({(it["model"], it["benchmark"], it["key"]) for it in samples}),
        "expected": _SAMPLES,
        "swaps": sum(it["fleet"]["this_session"]["total"]["swaps"] for it in results),
        "failed": sum(
            counts.get("infra_error", 0) for it in results for counts in it["counts"].values()
        ),
    }


def _make_suite_settings(setting: Setting) -> list[str]:
    """Return the arguments of a suite on two models, one of which is awake at a time."""
    tokens = min(setting.tokens, 64)
    roster = ", ".join(
        f"{{name: {model.name}, engine: vllm, weights: '{model.weights}', "
        f"options: {_format_mapping(model.options)}, sampling: {{max_tokens: {tokens}}}}}"
        for model in _make_models(2, setting)
    )
    usual, own = asdict(FleetConf()), asdict(setting.fleet_conf(slots=1))
    nodes = _format_mapping(own.pop("nodes"))
    return [
        *_SUITE,
        f"roster.models=[{roster}]",
        *(f"fleet.{name}={value}" for name, value in own.items() if value != usual[name]),
        f"fleet.nodes={nodes}",
    ]


def _format_mapping(items: Mapping[str, Any]) -> str:
    """Return a mapping as the command line takes it."""
    return f"{{{', '.join(f'{name}: {value}' for name, value in items.items())}}}"


def _make_models(count: int, setting: Setting) -> list[ModelSpec]:
    """Return models of the same weights, each with its own engine."""
    names = (_FIRST, _SECOND)[:count]
    return [
        ModelSpec(name, "vllm", setting.weights, options={**setting.options, "seed": seed})
        for seed, name in enumerate(names)
    ]


def _count_failures(completions: Sequence[Completion]) -> int:
    return sum(completion.error is not None for completion in completions)


def _used_host_gib() -> float:
    """Return what is used of the machine's memory, pinned blocks included."""
    memory = psutil.virtual_memory()
    return float((memory.total - memory.available) / GIB)


_FLEETS: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "alone": (1, {"memory_share": _MEMORY_SHARE}),
    "pair": (2, {"kv_cache_gib": _KV_CACHE_GIB}),
    "replicas": (1, {"memory_share": _MEMORY_SHARE, "replicas": 2}),
}
"""For each worker with a fleet the number of models, and settings."""
_MEASURE: Mapping[str, Callable[[Bench], Awaitable[Measured]]] = {
    "start": measure_start,
    "throughput": measure_throughput,
    "refill": measure_refill,
    "sleep_1": measure_sleep_1,
    "sleep_2": measure_sleep_2,
    "side_by_side": measure_side_by_side,
    "replicas": measure_replicas,
}


@asynccontextmanager
async def _open_bench(worker: str, setting: Setting) -> AsyncIterator[Bench]:
    """Open the fleet of a worker, as runs do."""
    before_gib, began = setting.used_gib(), time.perf_counter()
    count, own = _FLEETS[worker]
    conf = setting.fleet_conf(**own)
    async with open_fleet(_make_models(count, setting), conf, _say) as fleet:
        yield Bench(setting, fleet, time.perf_counter() - began, before_gib)


async def _measure_steps(setting: Setting, names: Sequence[str]) -> AsyncGenerator[dict[str, Any]]:
    """Yield what each step of one worker measured, or why it did not."""
    steps = [step for step in STEPS if step.name in names]
    (worker,) = {step.worker for step in steps}
    async with AsyncExitStack() as stack:
        bench: Bench | None = None
        for step in steps:
            try:
                if worker not in _FLEETS:
                    values = await measure_suite(setting)
                else:
                    if bench is None:
                        bench = await stack.enter_async_context(_open_bench(worker, setting))
                    values = await _MEASURE[step.name](bench)
            except Exception as error:  # whatever it is: the next step may do
                traceback.print_exc()
                yield {"step": step.name, "error": last_line(str(error)) or type(error).__name__}
            else:
                yield {"step": step.name, "values": values}


async def _main() -> None:
    # Whatever libraries print goes to stderr: stdout is for the measurements.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    async with aclosing(
        _measure_steps(Setting(**json.loads(sys.argv[1])), sys.argv[2:])
    ) as answers:
        async for answer in answers:
            print(json.dumps(answer), file=out, flush=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(_main())
