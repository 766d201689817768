"""The tournaments of a run beside each other, in numbers."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from raybench.config import Config
from raybench.config.games_phrasings import AFTER, BEFORE
from raybench.experiments.games import ratings, standings
from raybench.experiments.games_phrasings.cells import Cell, cells, stages
from raybench.stats import intervals, steadiness
from raybench.stats.orders import Orders, changed, orders
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.scale import MEAN
from raybench.stats.steadiness import Parts
from raybench.tournament.records import Match
from raybench.tournament.side_by_side import Beside, beside
from raybench.types import Estimate


class Comparison:
    """What wording does to ratings, at each stage and from one to the next."""

    def __init__(self, config: Config, played: Mapping[str, Sequence[Match]]) -> None:
        """`played` are the matches of every tournament."""
        self.config = config
        self.cells = cells(config)
        self.stages = stages(config)
        self.models = [it.name for it in config.roster.models]
        self._results = [
            [it.result for it in sorted(played[cell.name], key=lambda it: it.number) if it.result]
            for cell in self.cells
        ]

    @cached_property
    def rated(self) -> dict[Cell, Ratings | None]:
        """The ratings of every tournament, as that of one is rated."""
        return {
            cell: ratings.by(self.config, results).overall
            for cell, results in zip(self.cells, self._results, strict=True)
        }

    @cached_property
    def beside(self) -> Beside:
        """The ratings of all tournaments, taken apart by groups of fixtures."""
        return beside(
            self._results, lambda it: ratings.alone(self.config, it), seed=self.config.seed
        )

    @property
    def before_and_after(self) -> bool:
        """Whether there are both stages."""
        return self.stages == [BEFORE, AFTER]

    def rating(self, cell: Cell, model: str) -> Estimate:
        """Return a model's rating in a tournament."""
        return standings.shown(self.rated[cell], model)

    def mean(self, stage: str, model: str) -> Estimate:
        """Return a model's rating over all wordings."""
        if (why := self._refused(model)) is not None:
            return why
        at = self._parts(stage, [model]).mean(axis=(1, 2)) + MEAN
        return intervals.mean(at.tolist(), over="parts of the rating by groups of fixtures")

    def spread(self, stage: str, model: str | None = None) -> Estimate:
        """Return how far wordings set a model's ratings apart, all models' where none is named."""
        why = self._refused(model)
        return steadiness.spread(self._parts(stage, self._of(model))).true if why is None else why

    def raw(self, stage: str, model: str | None = None) -> Estimate:
        """Return how far ratings lie apart, chance and all."""
        if (why := self._refused(model)) is not None:
            return why
        found = steadiness.spread(self._parts(stage, self._of(model))).raw
        return Estimate(found, None, None, self.beside.groups, "standard deviation, with chance")

    def change(self, model: str | None = None) -> Estimate:
        """Return by how many points the spread is another one after optimisation."""
        if (why := self._refused(model)) is not None:
            return why
        one, other = (self._parts(stage, self._of(model)) for stage in self.stages)
        return steadiness.change(one, other)

    @cached_property
    def orders(self) -> dict[str, Orders]:
        """How far the orders of models agree, by stage."""
        if (why := self._refused(None)) is not None:
            return dict.fromkeys(self.stages, Orders(why, why, why, why))
        models, seed = self.beside.models, self.config.seed
        return {stage: orders(self._parts(stage, models), seed) for stage in self.stages}

    @cached_property
    def orders_changed(self) -> Orders:
        """How far they agree better after optimisation."""
        if (why := self._refused(None)) is not None:
            return Orders(why, why, why, why)
        one, other = (self._parts(stage, self.beside.models) for stage in self.stages)
        return changed(one, other, self.config.seed)

    def _of(self, model: str | None) -> Sequence[str]:
        return self.beside.models if model is None else [model]

    def _parts(self, stage: str, models: Sequence[str]) -> Parts:
        tournaments = [at for at, cell in enumerate(self.cells) if cell.stage == stage]
        places = [self.beside.models.index(it) for it in models]
        return np.asarray(self.beside.of(tournaments)[:, :, places])

    def _refused(self, model: str | None) -> Estimate | None:
        """Return the refusal of what cannot be told; None where it can."""
        found = self.beside
        why = found.refused
        if not why and model is not None and model not in found.models:
            why = (
                "not computed: it cannot be compared with most others in every tournament, with "
                "any group of matches left out: nobody beat it, or it beat nobody"
            )
        return Estimate(None, None, None, found.fixtures, why) if why else None
