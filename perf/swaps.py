"""How many swaps does a roster need that does not fit into memory at once? By simulation.

    python -m perf.swaps            the traces below
    python -m perf.swaps --waves    the first one, by iterations and how many are at once

Three traces, each as requests that wait for one another, on one slot (a GPU of 80 GiB that holds
one awake engine, with 128 GiB of host memory for the weights of sleeping ones):

- `peers`: the AutoBench paper's setting, its twelve models and 50 iterations, all at once: the
  experiment's own course decides what is asked when, with made-up replies (3 tasks in 10 are
  rejected). One model writes a task, all rate it, and it is tried again where it is rejected
  (three tries of a generator, then another); then all answer, and all rate all answers.
- `hle`: eight models answer HLE's 2,158 questions without images, a ninth judges every answer. The
  client of each model keeps 512 questions under way, as Ray Data does.
- `games`: eight models play every other one eight times on each side, turn by turn, 448 matches.

Policies:

- `paper`: one step of one iteration after the other, each loading the models that it needs. Counted
  only where the model changes, though the paper loads at every step.
- `lru`: what servers that load on demand do: a request for a model that is not there makes the
  least recently used one (here: the only one) leave as soon as its running requests are done.
- `raybench`: `raybench.engines.scheduler`.
- `bound`: no schedule can do with less. One slot holds one engine, so work of another engine that
  waits for the resident's results costs a swap. A step that all n engines take part in, and that
  the next one waits for, brings in n engines; only the last of a step can start the next step
  without a swap. So a chain of k such steps takes n + (k - 1)(n - 1) loads; a step of one engine
  between two of them is done by the engine that is last in the one and first in the other, and
  costs nothing. `peers`: the chain of the iteration with the most tries; where not all iterations
  are at once, each starts at the end of the one that it had to wait for, and the longest of these
  chains counts. It leaves out that a task's acceptance may have to wait for the weights, and that
  generators come in to pose tasks. `hle`: every engine once. `games`: between two of its turns in a
  match an engine has made way for its opponent, so it comes in at least as often as it has turns in
  its longest match. The first load of all is no swap.

With `--waves`, `at once` iterations are under way; one more begins where the first of them ends.

Printed: swaps, their ratio to the bound, the share of time that swapping takes, the whole time, and
the longest time a request waited for its engine, for the default patience and for less, which costs
swaps (the bound knows no patience). Durations are assumptions (below), the same for all policies.
"""

import argparse
import itertools
import math
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from perf.simulated_engines import Scheduler
from perf.swaps_peers import Peers, play_in_order, swaps_needed
from perf.swaps_simulation import (
    AT_ONCE,
    GPU,
    LEAVE_S,
    LEVEL_1_S,
    LOAD_S,
    Listed,
    OnDemand,
    Outcome,
    Request,
    Work,
    simulate,
)
from raybench.autobench.settings import Settings
from raybench.engines.scheduler import EngineScheduler
from raybench.engines.scheduler.messages import EngineNeed, MemoryBudget, Node, Rules

HOST_GIB = 128.0
PATIENCE_S = Rules().patience_s
_SIDE_BY_SIDE = (1, 8, 32, None)
_ITERATIONS = (50, 100, 200, 400)

# Billions of parameters, from the models' names, at two bytes each (gpt-oss: four bits).
PAPER = {
    "smollm2-1.7b": 3.4,
    "llama-3.2-1b": 2.5,
    "llama-3.2-3b": 6.4,
    "qwen2.5-3b": 6.2,
    "qwen2.5-7b": 15.2,
    "qwen2.5-14b": 29.5,
    "llama-3-8b": 16.1,
    "gemma-7b": 17.1,
    "mistral-small-24b": 48.0,
    "gpt-oss-20b": 13.8,
    "gemma-3-1b": 2.0,
    "phi-3-mini": 7.6,
}


@dataclass(frozen=True)
class Trace:
    """Requests, and what is known about them."""

    name: str
    needs: Sequence[EngineNeed]
    begin: Callable[[], Work]
    """Return the requests, from the beginning."""
    bound: int
    """Swaps that no schedule can do without."""
    steps: int | None = None
    """Changes of the model in the paper's order."""


def list_needs(weights: Mapping[str, float], referee: str = "") -> list[EngineNeed]:
    """Return what these engines need of a GPU that holds one of them awake."""
    return [
        EngineNeed(
            name,
            MemoryBudget(gib),
            share=0.8,
            can_sleep=frozenset({1, 2}),
            is_referee=name == referee,
            load_s=LOAD_S,
        )
        for name, gib in weights.items()
    ]


def peers(iterations: int = 50, at_once: int | None = None, models: int | None = None) -> Trace:
    """Return the paper's setting, or one of fewer of its models; None is all."""
    weights = dict(list(PAPER.items())[:models])
    settings = Settings(tuple(weights))
    in_order, side = play_in_order(settings, iterations), at_once or iterations
    return Trace(
        "peers",
        list_needs(weights),
        lambda: Peers(settings, iterations, side),
        swaps_needed(in_order.records, len(weights), side),
        in_order.changes,
    )


def hle(models: int = 8, questions: int = 2158, window: int = 512, seed: int = 0) -> Trace:
    """Return an exam whose answers another model judges."""
    draw = random.Random(seed)
    names = [f"model-{number}" for number in range(models)]
    requests: list[Request] = []
    for name in names:
        asked: list[int] = []
        for number in range(questions):
            after = (asked[number - window],) if number >= window else ()
            requests.append(Request(name, 30.0 * draw.uniform(0.5, 1.5), after))
            asked.append(len(requests) - 1)
            requests.append(Request("judge", 5.0 * draw.uniform(0.5, 1.5), (asked[number],)))
    weights = dict.fromkeys(names, 15.0) | {"judge": 30.0}
    return Trace("hle", list_needs(weights, "judge"), lambda: Listed(requests), models)


def games(models: int = 8, each: int = 8, seed: int = 0) -> Trace:
    """Return a round robin of matches, played turn by turn."""
    draw = random.Random(seed)
    names = [f"model-{number}" for number in range(models)]
    requests: list[Request] = []
    most = dict.fromkeys(names, 0)
    for pair in itertools.permutations(names, 2):
        for _ in range(each):
            turns = draw.randint(20, 80)
            for turn in range(turns):
                after = (len(requests) - 1,) if turn else ()
                requests.append(Request(pair[turn % 2], 3.0 * draw.uniform(0.5, 1.5), after))
            most[pair[0]] = max(most[pair[0]], (turns + 1) // 2)
            most[pair[1]] = max(most[pair[1]], turns // 2)
    swaps = sum(most.values()) - 1
    return Trace("games", list_needs(dict.fromkeys(names, 15.0)), lambda: Listed(requests), swaps)


def new_scheduler(trace: Trace, rules: Rules) -> EngineScheduler:
    """Return the scheduler of raybench for a trace."""
    return EngineScheduler([Node("node", (GPU,), HOST_GIB)], trace.needs, rules)


def play(trace: Trace, scheduler: Scheduler, at_once: int = AT_ONCE) -> Outcome:
    """Return what a scheduler makes of a trace.

    A server that loads on demand queues all that it is sent.
    """
    most = sys.maxsize if isinstance(scheduler, OnDemand) else None
    return simulate(trace.begin(), [each.engine for each in trace.needs], scheduler, at_once, most)


def rules_of(patience_s: float = PATIENCE_S) -> Rules:
    """Return the rules of a run whose moves take what is assumed here."""
    return Rules(patience_s, wake_s=LEVEL_1_S, leave_s=LEAVE_S)


def rows(traces: Sequence[Trace], rules: Rules) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    for trace in traces:
        if trace.steps is not None:
            ratio = f"{trace.steps / trace.bound:.2f}"
            yield trace.name, "paper", f"{trace.steps:,}", ratio, "", "", ""
        schedulers: dict[str, Scheduler] = {
            "lru": OnDemand(),
            "raybench": new_scheduler(trace, rules),
        }
        for policy, scheduler in schedulers.items():
            outcome = play(trace, scheduler)
            yield (
                trace.name,
                policy,
                f"{outcome.swaps:,}",
                f"{outcome.swaps / trace.bound:.2f}",
                f"{outcome.swapping:.1%}",
                f"{outcome.seconds / 60:,.0f} min",
                f"{outcome.longest_wait:,.0f} s",
            )
        yield trace.name, "bound", f"{trace.bound:,}", "1.00", "", "", ""


def waves() -> Iterator[tuple[str, ...]]:
    """Yield how swaps depend on the iterations, and on how many of them are at once."""
    for side, iterations in itertools.product(_SIDE_BY_SIDE, _ITERATIONS):
        trace = peers(iterations, side)
        outcome = play(trace, new_scheduler(trace, rules_of()))
        yield (
            f"{side or 'all'}",
            f"{iterations}",
            f"{outcome.swaps:,}",
            f"{trace.bound:,}",
            f"{outcome.swaps / iterations:.1f}",
            f"{outcome.swaps / math.ceil(iterations / (side or iterations)):.0f}",
            f"{outcome.seconds / 3600:,.1f} h",
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--waves", action="store_true", help="by iterations, and how many at once")
    if parser.parse_args().waves:
        head = ("at once", "iterations", "swaps", "bound", "/iteration", "/wave", "whole")
        for row in itertools.chain([head], waves()):
            print("{:8}{:>11}{:>10}{:>10}{:>12}{:>8}{:>10}".format(*row), flush=True)
        return
    traces = (peers(), hle(), games())
    head = ("trace", "policy", "swaps", "/bound", "swapping", "whole", "longest wait")
    for patience_s in (PATIENCE_S, 3600.0, 1800.0):
        print(f"patience {patience_s:g} s")
        for row in itertools.chain([head], rows(traces, rules_of(patience_s))):
            print("{:8}{:9}{:>10}{:>10}{:>10}{:>14}{:>14}".format(*row), flush=True)


if __name__ == "__main__":
    main()
