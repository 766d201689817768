"""How many swaps does the scheduler save, with real engines that take turns on one slot?

    python perf/swaps_real.py [--requests 200] [--naive 6] [--tokens 16]

Two sets of weights, of which one fits: on CPUs the embedded model and one made of its first half;
on a GPU two models with the shapes of Qwen2.5 7B and 14B, with random weights and the embedded
model's tokenizer and vocabulary, made on the spot. Requests go to both in turn. The trace is sent
twice through the same fleet:

    raybench  all requests at once: one swap serves all requests that have gathered for an engine
    naive     the first few (--naive) of them, each awaited before the next: a server that loads on
              demand for a client that asks one thing at a time

Prints swaps, seconds and requests per second of both as measured, then what naive would take for
the whole trace: extrapolated, at its measured seconds per request (each costs a swap, so that the
trace's length does not matter to it).

On a GPU it first measures, for each of the two models alone, how long sleeping and waking take at
levels 1 (weights in host memory) and 2 (weights dropped), and the memory that sleeping frees. A
wake includes the check that the model is still the same. With random weights there is no file to
read them back from: level 2's wake is without that, and the check fails.
"""

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench.config import FleetConf
from raybench.fleet import Fleet, embedded, group_engines, open_fleet
from raybench.fleet.devices import GIB, on_gpu
from raybench.fleet.serve_backend import handle
from raybench.types import Message, ModelSpec, Request

# What the config.json files of Qwen2.5 7B and 14B say.
_SHAPES: dict[str, dict[str, Any]] = {
    "7B": {
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
    },
    "14B": {
        "hidden_size": 5120,
        "intermediate_size": 13824,
        "num_hidden_layers": 48,
        "num_attention_heads": 40,
        "num_key_value_heads": 8,
    },
}
_COMMON: dict[str, Any] = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_act": "silu",
    "max_position_embeddings": 32768,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1e6,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
_HEARD_S = 3.0
"""The account gets the number of swaps every two seconds."""


@dataclass
class Measured:
    """What one way of sending took."""

    requests: int
    seconds: float
    swaps: int

    def __str__(self) -> str:
        return (
            f"{self.requests:4} requests, {self.swaps:3} swaps, {self.seconds:7.1f} s, "
            f"{self.requests / self.seconds:7.3f} requests/s"
        )


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--naive", type=int, default=6)
    parser.add_argument("--tokens", type=int, default=16)
    arguments = parser.parse_args()
    gpu = on_gpu(FleetConf())
    with tempfile.TemporaryDirectory() as folder:
        models = dummies(Path(folder)) if gpu else halves(Path(folder))
        if gpu:
            for model in models:
                await nap(model)
        # Weights that are no files count as all that a GPU holds: level 1 needs to be allowed that.
        conf = FleetConf(slots=1, sleep_gib=1000.0, kv_cache_gib=0.5)
        async with open_fleet(models, conf, say) as fleet:
            trace = [
                (models[number % 2].name, request(number, arguments.tokens))
                for number in range(arguments.requests)
            ]
            at_once = await measure(fleet, trace, at_once=True)
            naive = await measure(fleet, trace[: arguments.naive], at_once=False)
    print(f"raybench  measured      {at_once}")
    print(f"naive     measured      {naive}")
    whole = naive.seconds / naive.requests * at_once.requests
    swaps = naive.swaps / naive.requests * at_once.requests
    print(
        f"naive     extrapolated  {at_once.requests:4} requests, {swaps:3.0f} swaps, {whole:7.0f} s"
    )
    print(
        f"raybench is {whole / at_once.seconds:.0f} times as fast (extrapolated), with "
        f"{swaps / max(at_once.swaps, 1):.0f} times fewer swaps"
    )


async def measure(fleet: Fleet, trace: Sequence[tuple[str, Request]], *, at_once: bool) -> Measured:
    """Send the trace; a request without a reply ends the script."""

    async def one(model: str, request: Request) -> None:
        (completion,) = await fleet.complete(model, [request])
        if completion.finish == "error":
            raise SystemExit(f"{model}: {completion.error}")

    await asyncio.sleep(_HEARD_S)
    before, begun = fleet.account.swaps.count, time.monotonic()
    if at_once:
        await asyncio.gather(*(one(model, request) for model, request in trace))
    else:
        for model, request in trace:
            await one(model, request)
    seconds = time.monotonic() - begun
    await asyncio.sleep(_HEARD_S)
    return Measured(len(trace), seconds, fleet.account.swaps.count - before)


async def nap(model: ModelSpec) -> None:
    """Print how long this model's engine takes to fall asleep and wake, and what that frees."""
    async with open_fleet([model], FleetConf(device="gpu"), say) as fleet:
        replica = handle(f"{group_engines([model])[0].name}-r0")
        await fleet.complete(model.name, [request(0, 8)])
        for level in (1, 2):
            await replica.drain.remote(cut_waiting=False)
            awake, begun = used_gib(), time.monotonic()
            await replica.put_to_sleep.remote(level)
            asleep, slept = used_gib(), time.monotonic()
            is_same = await replica.wake_and_compare.remote()
            woken = time.monotonic()
            if not is_same:
                print(f"{model.name} level {level}: awake in {woken - slept:.2f} s without weights")
                return
            await fleet.complete(model.name, [request(level, 1)])
            print(
                f"{model.name} level {level}: asleep in {slept - begun:.2f} s, awake in "
                f"{woken - slept:.2f} s, first token after {time.monotonic() - woken:.2f} s; frees "
                f"{awake - asleep:.1f} of {awake:.1f} GiB"
            )


def used_gib() -> float:
    """Return the memory in use on this machine's first GPU."""
    import pynvml

    pynvml.nvmlInit()
    try:
        first = pynvml.nvmlDeviceGetHandleByIndex(0)
        return float(pynvml.nvmlDeviceGetMemoryInfo(first).used / GIB)
    finally:
        pynvml.nvmlShutdown()


def halves(folder: Path) -> list[ModelSpec]:
    """Return the embedded model, and a model made of its first half."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from helpers import half_depth

    half = half_depth(folder / "half")
    return [ModelSpec("whole", "vllm", embedded.NAME), ModelSpec("half", "vllm", half)]


def dummies(folder: Path) -> list[ModelSpec]:
    """Make checkpoints of a 7B and a 14B model without weights."""
    source, models = embedded.prepare(), []
    words = json.loads((source / "config.json").read_text())
    vocabulary = {
        key: words[key] for key in ("vocab_size", "bos_token_id", "eos_token_id") if key in words
    }
    for name, shape in _SHAPES.items():
        checkpoint = folder / name
        shutil.copytree(source, checkpoint, ignore=shutil.ignore_patterns("*.safetensors"))
        config = _COMMON | shape | vocabulary
        (checkpoint / "config.json").write_text(json.dumps(config))
        options = {"load_format": "dummy", "max_model_len": 4096, "enable_sleep_mode": True}
        models.append(ModelSpec(name, "vllm", str(checkpoint), options=options))
    return models


def request(number: int, tokens: int) -> Request:
    """Return a request of the trace."""
    return Request((Message("user", f"Count to {number}."),), seed=number, max_tokens=tokens)


def say(text: str) -> None:
    """Print progress."""
    print(text, file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main())
