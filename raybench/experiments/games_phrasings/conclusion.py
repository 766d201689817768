"""What comes out of a run: how far ratings hang on wording, before optimisation and after."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from raybench.config import Config
from raybench.errors import ConfigurationError
from raybench.experiments.games import asking, prompts
from raybench.experiments.games import setup as games
from raybench.experiments.games_phrasings import findings
from raybench.experiments.games_phrasings.cells import CELL, Cell, tournament
from raybench.experiments.games_phrasings.comparison import Comparison
from raybench.experiments.games_phrasings.ledger import Ended
from raybench.experiments.games_phrasings.report import sections
from raybench.experiments.games_phrasings.units import units as readable
from raybench.experiments.parts.outcome import Outcome
from raybench.stats.orders import Orders
from raybench.tournament import reliability
from raybench.tournament.records import Match
from raybench.tracking.leaderboard import Board, Column
from raybench.types import Estimate

_HERE = "games_phrasings"
CHANGE = f"{_HERE}/spread_change"
_CHANGED = "after_less_before"
_TAUS = {
    "between": "τ, two phrasings",
    "same": "halves: one phrasing",
    "other": "halves: two phrasings",
    "lost": "lost to phrasing",
}


def concluded(
    config: Config,
    played: Mapping[str, Sequence[Match]],
    studies: Sequence[Mapping[str, Any]],
    journal: Path,
    ended: Sequence[Ended],
    unfinished: str,
) -> Outcome:
    """Conclude from the matches of each tournament.

    `ended` is what was kept of the lines of their journal, which lies there.
    """
    comparison = Comparison(config, played)
    models, every = comparison.models, [it for some in played.values() for it in some]
    reliable = reliability.reliability(every, models)
    failures = [
        {CELL: name, **failure}
        for name, some in played.items()
        for failure in reliability.failures(some)
    ]
    return Outcome(
        metrics={model: measured(comparison, model) for model in models},
        counts=reliability.counts(reliable, every),
        failures=failures,
        replied=reliability.REPLIED,
        columns=[*_columns(comparison)],
        boards=[_board(comparison)],
        sections=list(sections(comparison)),
        units=readable(config, played, ended, journal),
        agreement=_agreement(comparison),
        inputs={
            f"{cell.name}/{name}": found
            for cell in comparison.cells
            for name, found in games.inputs(tournament(config, cell), played[cell.name]).items()
        },
        about={
            "cells": {cell.name: len(played[cell.name]) for cell in comparison.cells},
            "fixtures": comparison.beside.fixtures,
            "groups": comparison.beside.groups,
            "players": {
                f"{it['model']} {it['positions']} phrasing {it['phrasing']}": it["file"]
                for it in studies
            },
        },
        notes=findings.notes(comparison, every, studies),
        texts={
            name: parts
            for cell in comparison.cells
            for name, parts in _prompts(config, cell, journal).items()
        },
        unfinished=unfinished,
        heard=[model for model, of in reliable.items() if of.replies],
    )


def measured(comparison: Comparison, model: str) -> dict[str, Estimate]:
    """Return a model's metrics."""
    found: dict[str, Estimate] = {}
    for stage in comparison.stages:
        found[f"{_HERE}/{stage}/rating"] = comparison.mean(stage, model)
        found[f"{_HERE}/{stage}/spread"] = comparison.spread(stage, model)
        found[f"{_HERE}/{stage}/raw_spread"] = comparison.raw(stage, model)
    if comparison.before_and_after:
        found[CHANGE] = comparison.change(model)
    for cell in comparison.cells:
        found[f"{_HERE}/{cell.name}/rating"] = comparison.rating(cell, model)
    return found


def _columns(comparison: Comparison) -> Iterator[Column]:
    several = comparison.before_and_after
    for stage in comparison.stages:
        yield Column(f"{_HERE}/{stage}/rating", f"Rating {stage}" if several else "Rating", 0)
    for stage in comparison.stages:
        title = f"Spread {stage}" if several else "Spread"
        yield Column(f"{_HERE}/{stage}/spread", title, 0, higher_is_better=False)
    if several:
        yield Column(CHANGE, "Change of spread", 0, higher_is_better=False)


def _board(comparison: Comparison) -> Board:
    """Return the stages as lines: how far orders agree, and how far all ratings lie apart."""
    found = _agreement(comparison)
    lines = {f"{stage} optimisation": found[stage] for stage in comparison.stages}
    columns = [Column(key, title) for key, title in _TAUS.items()]
    columns.append(Column("spread", "Spread of all", 0))
    return Board("Agreement of orders (Kendall's τ) over phrasings", lines, columns, "stage")


def _agreement(comparison: Comparison) -> dict[str, dict[str, Estimate]]:
    """Return how far orders agree and all ratings lie apart, by stage, and what changed."""
    found = {
        stage: _taus(comparison.orders[stage]) | {"spread": comparison.spread(stage)}
        for stage in comparison.stages
    }
    if comparison.before_and_after:
        found[_CHANGED] = _taus(comparison.orders_changed) | {"spread": comparison.change()}
    return found


def _taus(of: Orders) -> dict[str, Estimate]:
    return {name: getattr(of, name) for name in _TAUS}


def _prompts(config: Config, cell: Cell, journal: Path) -> dict[str, Any]:
    """Return what models were asked in a tournament, where its players are still to be had."""
    of = tournament(config, cell)
    try:
        house = games.house(of)
    except ConfigurationError:  # nothing was compiled yet, or the files have gone since
        return {}
    own = {it.name: it.system_prompt for it in asking.asked(of)}
    played = [it.name for it in games.chosen(of)]
    name = f"prompts/{cell.name.replace('/', '_')}"
    return prompts.texts(
        journal, house, played, own, name=name, ending=f'"{CELL}": "{cell.name}"}}'
    )
