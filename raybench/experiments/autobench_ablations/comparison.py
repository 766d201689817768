"""The variants side by side, in numbers: the paper's Table 1, and what each of them took."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from raybench.autobench import summary
from raybench.autobench.analysis import estimates
from raybench.autobench.analysis.beside import Assessment, Beside, beside
from raybench.autobench.analysis.external import Compared
from raybench.autobench.analysis.tables import Table
from raybench.autobench.analysis.variants import NO_SELF as REPLAYED_NO_SELF
from raybench.autobench.analysis.variants import SINGLE as REPLAYED_SINGLE
from raybench.autobench.analysis.variants import UNIFORM as REPLAYED_UNIFORM
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing
from raybench.config.autobench_ablations import NO_SELF, SINGLE, UNIFORM, WORDS
from raybench.experiments.autobench.reuse import Kept
from raybench.stats import intervals
from raybench.types import Estimate

_TOOK = ("calls", "discarded", "shared", "reused")


@dataclass(frozen=True)
class Played:
    """A variant that is over."""

    name: str
    judge: str
    """The single one; '' under every other variant."""
    settings: Settings
    records: Sequence[Record]
    standing: Standing
    kept: Kept

    @property
    def label(self) -> str:
        """What people read: 'single judge: NAME'."""
        return f"{WORDS[self.name]}: {self.judge}" if self.judge else WORDS[self.name]

    @property
    def replayed(self) -> str:
        """What it is called where the full protocol's ratings are replayed by its rule, or ''."""
        called = {
            SINGLE: REPLAYED_SINGLE + self.judge,
            NO_SELF: REPLAYED_NO_SELF,
            UNIFORM: REPLAYED_UNIFORM,
        }
        return called.get(self.name, "")

    @cached_property
    def found(self) -> Estimate:
        """The share of iterations that found a task."""
        held = sum(record["task"] is not None for record in self.records)
        return intervals.share(held, len(self.records), over="iterations")

    @cached_property
    def parsed(self) -> Estimate:
        """The share of ratings that could be read, of all judges."""
        return summary.parse_rate(self.records, self.settings)

    @property
    def took(self) -> dict[str, int]:
        """Return how many calls it was, and why not all of them were made anew."""
        took = {name: self.kept.total(name) for name in _TOOK}
        return took | {"asked": took["calls"] - took["shared"] - took["reused"]}


class Comparison:
    """Variants beside each other and beside tables from elsewhere; the full protocol is first."""

    def __init__(self, played: Sequence[Played], tables: Sequence[Table]) -> None:
        self.played = tuple(played)
        self.tables = tuple(tables)
        self.found: Beside = beside(
            [Assessment(it.name, it.records, it.settings) for it in played],
            tables,
            [it.replayed for it in played if it.replayed],
            seed=played[0].settings.seed,
        )
        self._external = {(it.variant, it.table): it for it in self.found.external}
        self._order = {it.variant: it for it in self.found.order}

    def external(self, played: Played, table: Table) -> Compared:
        """Return how far a variant, as played, agrees with a table."""
        return self._external[played.name, table.name]

    def replayed(self, played: Played, table: Table) -> Compared | None:
        """Return the same of its counterpart replayed from the full protocol's ratings."""
        return self._external.get((played.replayed, table.name))

    def order(self, played: Played) -> Compared | None:
        """Return how far a variant agrees with the full protocol; None for that itself."""
        return self._order.get(played.name)

    def scores(self, played: Played) -> dict[str, Estimate]:
        """Return the contestants' scores under a variant."""
        found = self.found.played[self.played.index(played)].found
        # The protocol's own values: the replicates' may differ in the last bit.
        return {
            model: replace(score, value=played.standing.scores[model])
            for model, score in estimates.scores(found).items()
        }

    def to_json(self, played: Played) -> dict[str, Any]:
        """Return everything that is known of a variant, but for its scores."""
        order = self.order(played)
        return {
            "variant": played.name,
            "judges": list(played.settings.panel),
            "iterations": len(played.records),
            "found_a_task": played.found.to_json(),
            "parse_rate": played.parsed.to_json(),
            "calls": played.took,
            "order": None if order is None else _json(order, added=False),
            "external": {
                table.name: {
                    "played": _json(self.external(played, table)),
                    "replayed": _json(again)
                    if (again := self.replayed(played, table)) is not None
                    else None,
                }
                for table in self.tables
            },
        }


def _json(found: Compared, *, added: bool = True) -> Mapping[str, Any]:
    """Return the correlations with their intervals over iterations, and what the full adds."""
    both = {"kendall": found.kendall, "spearman": found.spearman}
    return {name: it.iterations.to_json() for name, it in both.items()} | {
        f"{name}_added_by_full": it.ahead.to_json()
        for name, it in both.items()
        if added and it.ahead is not None
    }
