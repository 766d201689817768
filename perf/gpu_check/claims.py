"""What the acceptance test on GPUs claims, step by step, and what a measurement has to show for it.

Nothing here measures: `measurements.py` does, in processes that `step_runner.py` starts.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from perf.results import Table
from raybench.engines.scheduler.messages import Rules

Measured = Mapping[str, Any]
"""What a step has measured, by name: numbers, and lists of numbers."""
Outcome = Literal["pass", "fail", "skipped"]
LEAST_THROUGHPUT = 0.95
LEAST_REFILL = 1.5
LEAST_EFFICIENCY = 0.95
MOST_LEFT_GIB = Rules().left_gib
"""What the scheduler assumes of a sleeping engine before it was measured."""
MOST_HOST_SHARES = {1: 1.3, 2: 0.5}
"""By how much host memory grows in a sleep at a level, as a share of the weights."""


@dataclass(frozen=True, slots=True)
class Step:
    """One claim, and how it is decided."""

    name: str
    claim: str
    worker: str
    """Steps of one worker share its process and the engines in it."""
    decide: Callable[[Measured], tuple[bool, str]]
    """Returns whether the claim holds, and what was measured in words."""
    deadline_s: float
    """The time for its measurement; the first step of a worker also waits for the engines."""
    gpus: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a step."""

    step: str
    claim: str
    outcome: Outcome
    measured: str
    """In words; where nothing was measured, why not."""
    seconds: float = 0.0
    values: Measured = field(default_factory=dict)
    """Empty where nothing was measured."""

    def to_json(self) -> dict[str, Any]:
        """Return it as a line of steps.jsonl has it."""
        return {name: getattr(self, name) for name in self.__slots__}


def make_row(step: Step, values: Measured, seconds: float) -> Row:
    """Return the row of a step that has been measured. No claim holds if requests failed."""
    holds, words = step.decide(values)
    if failed := values["failed"]:
        holds, words = False, f"{words}, {failed} requests failed"
    return Row(step.name, step.claim, "pass" if holds else "fail", words, seconds, values)


def make_unmeasured_row(step: Step, outcome: Outcome, reason: str, seconds: float = 0.0) -> Row:
    """Return the row of a step that was not measured, for this reason."""
    return Row(step.name, step.claim, outcome, reason, seconds)


def make_table(rows: Sequence[Row]) -> Table:
    """Return a table of all steps."""
    return Table(
        ("claim", "measured", "", "s"),
        [(row.claim, row.measured, row.outcome, f"{row.seconds:.0f}") for row in rows],
        "Acceptance on GPUs",
    )


def _decide_start(values: Measured) -> tuple[bool, str]:
    holds = not values["nvcc"] and values["replies"] > 0
    compiler = "with nvcc" if values["nvcc"] else "no nvcc"
    return holds, f"{compiler}, up in {values['up_s']:.0f} s, {values['replies']} replies"


def _decide_throughput(values: Measured) -> tuple[bool, str]:
    ratio = statistics.median(
        fleet / offline for fleet, offline in zip(values["fleet"], values["offline"], strict=True)
    )
    fleet, offline = statistics.median(values["fleet"]), statistics.median(values["offline"])
    holds = ratio >= LEAST_THROUGHPUT
    return holds, f"{ratio:.3f} ({fleet:,.0f} of {offline:,.0f} tokens/s)"


def _decide_refill(values: Measured) -> tuple[bool, str]:
    ratio = values["barrier_s"] / values["refill_s"]
    words = f"{ratio:.2f} times as fast ({values['refill_s']:.1f} s, {values['barrier_s']:.1f} s)"
    return ratio >= LEAST_REFILL, words


def _decide_sleep(values: Measured) -> tuple[bool, str]:
    left_gib, weights_gib = values["asleep_gib"] - values["before_gib"], values["weights_gib"]
    most_host_gib = MOST_HOST_SHARES[values["level"]] * weights_gib
    holds = values["same"] and left_gib <= MOST_LEFT_GIB and values["host_gib"] <= most_host_gib
    return holds, (
        f"{'the same' if values['same'] else 'another'} model; "
        f"{values['awake_gib'] - values['before_gib']:.1f} GiB awake, {left_gib:.1f} asleep; "
        f"{values['host_gib']:+.1f} GiB of host memory, weights {weights_gib:.1f}; "
        f"{values['sleep_s']:.1f} and {values['wake_s']:.1f} s"
    )


def _decide_side_by_side(values: Measured) -> tuple[bool, str]:
    holds = values["awake"] == values["loads"] == 2 and not values["swaps"]
    return holds, (
        f"{values['awake']} awake at once, {values['loads']} loads, {values['swaps']} swaps, "
        f"{values['used_gib']:.1f} GiB together, {values['replies']} replies"
    )


def _decide_replicas(values: Measured) -> tuple[bool, str]:
    efficiency = values["one_s"] / (2 * values["two_s"])
    words = f"{efficiency:.3f} ({values['one_s']:.1f} s with one, {values['two_s']:.1f} s with two)"
    return efficiency >= LEAST_EFFICIENCY, words


def _decide_suite(values: Measured) -> tuple[bool, str]:
    holds = (
        values["code"] == 0
        and values["samples"] == values["expected"] == values["distinct"]
        and values["swaps"] > 0
    )
    return holds, (
        f"code {values['code']}, {values['distinct']} of {values['expected']} samples in "
        f"{values['samples']} lines, {values['swaps']} swaps"
    )


STEPS = (
    Step("start", "An engine starts without nvcc and replies", "alone", _decide_start, 240.0),
    Step(
        "throughput", f"The fleet makes >= {LEAST_THROUGHPUT} of the tokens/s of vllm.LLM",
        "alone", _decide_throughput, 180.0,
    ),
    Step(
        "refill", f"Refill by request is >= {LEAST_REFILL} times as fast as batches with a barrier",
        "alone", _decide_refill, 120.0,
    ),
    *(
        Step(
            f"sleep_{level}",
            f"After sleep {level} the same model; <= {MOST_LEFT_GIB} GiB stay on the GPU, host "
            f"memory grows by <= {share} x weights",
            "alone", _decide_sleep, 60.0,
        )
        for level, share in MOST_HOST_SHARES.items()
    ),
    Step(
        "side_by_side", "Two engines are awake on one GPU at once, each loaded once",
        "pair", _decide_side_by_side, 180.0,
    ),
    Step(
        "suite", "A suite on two models that take turns ends, with each sample once",
        "suite", _decide_suite, 240.0,
    ),
    Step(
        "replicas", f"Two replicas on two GPUs have an efficiency of >= {LEAST_EFFICIENCY}",
        "replicas", _decide_replicas, 180.0, gpus=2,
    ),
)  # fmt: skip
