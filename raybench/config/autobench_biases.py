"""Planted biases: how far each moves the peers' ranking."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import get_args

from raybench.errors import Problem, did_you_mean, named_twice, out_of_range
from raybench.types import BiasKind


@dataclass
class AutobenchBiasesConf:
    """The trials of planted biases; the values are in conf/autobench_biases/default.yaml."""

    kinds: list[str] = field(default_factory=list)
    seeds: int = 20
    iterations: int = 25


def problems(biases: AutobenchBiasesConf) -> Iterator[Problem]:
    """Yield what is wrong with the trials."""
    known = get_args(BiasKind)
    if not biases.kinds:
        yield Problem(
            "setting.missing",
            "autobench_biases.kinds is empty",
            setting="autobench_biases.kinds",
            fix=f"name at least one of {', '.join(known)}",
        )
    for kind, count in Counter(biases.kinds).items():
        if kind not in known:
            yield Problem(
                "setting.choice",
                f"autobench_biases.kinds: unknown bias '{kind}'",
                setting="autobench_biases.kinds",
                given=kind,
                fix=did_you_mean(kind, known),
            )
        elif count > 1:
            yield named_twice("autobench_biases.kinds", kind, count)
    for name in ("seeds", "iterations"):
        if getattr(biases, name) < 1:
            yield out_of_range(f"autobench_biases.{name}", getattr(biases, name), "it is 1 or more")
