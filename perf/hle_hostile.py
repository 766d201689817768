"""Is a judge of HLE deceived by responses that are wrong and try to be called right?

    python -m perf.hle_hostile [--weights embedded]

Has a model judge each of `hostile_responses.py` beside its twins: as wrong and nothing else, and
right. Prints for every kind of attack how many of the verdicts can be read (all of them, or the
decoding is at fault), the shares that are called right, with Wilson's 95 % intervals, and how much
more often a response is called right for its attack, paired by question. A judge that cannot judge
shows in its twins: where right ones are called right no more often than wrong ones, the difference
says nothing of its resistance.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from perf.hostile_responses import Hostile, responses
from raybench import benchmarks
from raybench.benchmarks.parts.judged import Judged
from raybench.config import FleetConf
from raybench.fleet import open_fleet
from raybench.pipeline.judges import Panel, as_judge, decided
from raybench.stats import intervals, paired
from raybench.stats.asked import Asked
from raybench.types import Completion, Estimate, ModelSpec

HLE = cast(Judged, benchmarks.load("hle"))
TWINS = ("response", "benign", "right")
Verdicts = Mapping[str, Sequence[bool | None]]
"""Of the hostile responses and their twins; None where there is no verdict."""


def main() -> None:
    """Print what came of every kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--weights", default="embedded")
    judge = ModelSpec("judge", "vllm", parser.parse_args().weights)
    every = list(responses())
    begun = time.monotonic()
    found = asyncio.run(judged(judge, every))
    count = sum(map(len, found.values()))
    print(f"{count} judgements by {judge.weights}, {time.monotonic() - begun:.0f} s with the start")
    kinds = list(dict.fromkeys(it.kind for it in every))
    for kind in [*kinds, None]:
        places = [place for place, it in enumerate(every) if kind in (None, it.kind)]
        print(told(kind or "all", {twin: [of[at] for at in places] for twin, of in found.items()}))


async def judged(judge: ModelSpec, every: Sequence[Hostile]) -> Verdicts:
    """Return the verdicts of a model on everything."""
    units = [unit(it, getattr(it, twin)) for twin in TWINS for it in every]
    judge = as_judge(judge)
    requests = Panel({judge.name: judge}, 0, longest=350).requests(judge, units)
    async with open_fleet([judge], FleetConf(), lambda it: print(it, file=sys.stderr)) as fleet:
        replies = await fleet.complete(judge.name, list(requests.values()))
    said = dict(zip(requests, replies, strict=True))
    verdicts = [verdict(judge, units[place], said[place]) for place in range(len(units))]
    return {
        twin: verdicts[number * len(every) : (number + 1) * len(every)]
        for number, twin in enumerate(TWINS)
    }


def unit(hostile: Hostile, response: str) -> dict[str, Any]:
    """Return a response as judges get it."""
    return {
        "model": "contestant",
        "benchmark": "hle",
        "key": hostile.name,
        "language": "en",
        "repeat": 0,
        "row": hostile.row,
        "response": response,
        "finish": "stop",
        "error": None,
        "judge_error": None,
    }


def verdict(judge: ModelSpec, asked: dict[str, Any], reply: Completion) -> bool | None:
    """Return whether a response is right by a judge's reply."""
    found = decided(asked, HLE, {judge.name: reply})
    if found["judge_error"] is not None:
        print(f"{asked['key']}: {found['judge_error']}", file=sys.stderr)
        return None
    return bool(found["correct"])


def told(kind: str, found: Verdicts) -> str:
    """Return a line on a kind."""
    read = sum(it is not None for of in found.values() for it in of)
    asked = sum(map(len, found.values()))
    named = zip(("hostile", "benign", "right"), found.values(), strict=True)
    shares = "  ".join(f"{twin} {_share(of)}" for twin, of in named)
    pairs = [
        (hostile, benign)
        for hostile, benign in zip(found["response"], found["benign"], strict=True)
        if hostile is not None and benign is not None
    ]
    apart = paired.compare(
        Asked.of([(int(hostile), 1) for hostile, _ in pairs]),
        Asked.of([(int(benign), 1) for _, benign in pairs]),
    ).difference
    return f"{kind:15} read {read}/{asked}  {shares}  hostile − benign {_number(apart, '+')}"


def _share(verdicts: Sequence[bool | None]) -> str:
    there = [it for it in verdicts if it is not None]
    return _number(intervals.share(sum(there), len(there), over="verdicts"))


def _number(found: Estimate, sign: str = "") -> str:
    if found.value is None:
        return f"none ({found.method})"
    text = f"{found.value:{sign}.2f}"
    return f"{text} [{found.ci95[0]:{sign}.2f}, {found.ci95[1]:{sign}.2f}]" if found.ci95 else text


if __name__ == "__main__":
    main()
