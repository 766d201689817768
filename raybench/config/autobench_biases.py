"""Planted biases: how far each moves the peers' ranking."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import get_args

from raybench.errors import did_you_mean
from raybench.types import BiasKind


@dataclass
class AutobenchBiasesConf:
    """The trials of planted biases; the values are in conf/autobench_biases/default.yaml."""

    kinds: list[str] = field(default_factory=list)
    seeds: int = 20
    iterations: int = 25


def problems(biases: AutobenchBiasesConf) -> Iterator[str]:
    """Yield what is wrong with the trials."""
    known = get_args(BiasKind)
    if not biases.kinds:
        yield f"autobench_biases.kinds is empty: name at least one of {', '.join(known)}"
    for kind, count in Counter(biases.kinds).items():
        if kind not in known:
            yield f"autobench_biases.kinds: unknown bias '{kind}'." + did_you_mean(kind, known)
        elif count > 1:
            yield f"autobench_biases.kinds names '{kind}' {count} times: once is enough"
    for name in ("seeds", "iterations"):
        if getattr(biases, name) < 1:
            yield f"autobench_biases.{name} is {getattr(biases, name)}: it is 1 or more"
