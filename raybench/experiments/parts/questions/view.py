"""What the sections of the report look at."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from raybench import benchmarks
from raybench.benchmarks.parts.scores import Rules
from raybench.benchmarks.parts.tally import Tally
from raybench.stats import passing
from raybench.types import Estimate

LONG = 15
"""Tables of more rows are folded away."""


@dataclass(frozen=True, slots=True)
class View:
    """What came out of a run of benchmarks."""

    tally: Tally
    metrics: Mapping[str, Mapping[str, Estimate]]
    """Of every model."""
    rules: Rules
    asked: Sequence[str]
    """The benchmarks as they were asked for."""
    chances: Mapping[str, float | None]
    """What guessing would score in each benchmark, where it can be guessed."""

    @property
    def ranked(self) -> list[str]:
        """Return the models, best first by the metric that the leaderboard leads with."""
        return list(self.metrics)

    def ranked_by(self, key: str) -> "View":
        """Return the view with its models in the order of a metric, those without it last."""

        def place(model: str) -> float:
            value = self.metrics[model][key].value
            return math.inf if value is None else -value

        ordered = sorted(self.metrics, key=place)
        return replace(self, metrics={model: self.metrics[model] for model in ordered})

    def of(self, key: str) -> Iterator[Estimate | None]:
        """Yield every model's estimate of a metric."""
        return (self.metrics[model].get(key) for model in self.ranked)

    def there(self) -> list[str]:
        """Return the benchmarks that have units, in the order asked for."""
        return [name for name in self.asked if name in self.tally.benchmarks()]

    def partial(self, index: str) -> bool:
        """Tell whether an index is made of a part of its benchmarks or languages."""
        return any(it.method.startswith("partial") for it in self.of(f"index/{index}") if it)

    def others(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield a benchmark's other scores that were asked for, each with what it is called."""
        found = {f"{name}/pass_at_{k}": f"pass@{k}" for k in passing.KS}
        if whole := benchmarks.load(name).whole:
            found[f"{name}/{whole}"] = whole.replace("_", " ")
        yield from ((key, title) for key, title in found.items() if any(self.of(key)))

    def title(self, key: str) -> str:
        """Return what a metric is called."""
        first, _, last = key.partition("/")
        if first != "index":
            return benchmarks.load(first).title
        return f"{last.capitalize()} Index" + (" (partial)" if self.partial(last) else "")
