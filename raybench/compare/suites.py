"""Runs of suites: each part as alone, and the consensus and the agreement beside each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from raybench.compare import settings
from raybench.compare.finding import Named
from raybench.compare.found import Compared, Pair, Side, Table
from raybench.compare.results import estimate, estimate_of, shown
from raybench.compare.runs import Stored
from raybench.config.suite import TITLES
from raybench.errors import ConfigurationError, Problem
from raybench.pipeline.store import CONFIG, RESULTS
from raybench.statements import Statement
from raybench.tracking.text import short_name

NAME = "suite"
_PARTS = "parts"
_RANK, _SCORE = "suite/consensus_rank", "suite/consensus_score"
_NAMED, _NAME = 6, 40
"""Models that are named in a row, and letters of each."""
_AGREE = ("kendall", "Kendall's τ"), ("spearman", "Spearman's ρ")


def parts(named: Sequence[Named]) -> tuple[dict[str, list[Named]], list[str]]:
    """Return the parts of all suites by what people call them, and what some have not.

    Raises ConfigurationError where they have no part in common.
    """
    found, notes = dict[str, list[Named]](), list[str]()
    for name, title in TITLES.items():
        runs = {it.text: _part(it.run, name) for it in named}
        there = [replace(it, run=run) for it in named if (run := runs[it.text]) is not None]
        if len(there) == len(named):
            found[title] = there
        elif there:
            lacking = ", ".join(text for text, run in runs.items() if run is None)
            notes.append(
                Statement(
                    "compare.no_such_part",
                    "{part}: not compared, for {runs} has no such part with results",
                    part=title,
                    runs=lacking,
                )
            )
    if not found:
        raise ConfigurationError(
            Problem(
                "compare.nothing",
                f"{', '.join(it.text for it in named)}: no part is in all of them that has begun",
                fix=f"Name runs of the parts (RUN/{_PARTS}/EXPERIMENT/ID), or let the suites "
                "finish",
            )
        )
    return found, notes


def beside(named: Sequence[Named]) -> Iterator[Compared]:
    """Yield what all parts together came to, of the first suite and each other one."""
    first, *others = named
    for other in (it for it in others if it.run.folder != first.run.folder):
        pair = Pair(Side(first.run, ""), Side(other.run, ""))
        tables = [it for it in (_ranks(pair), _agreement(pair)) if it.rows]
        notes = [
            f"{it.run.folder} is unfinished: it has no consensus yet"
            for it in (first, other)
            if not it.run.finished
        ]
        yield Compared(pair, [], settings.different(pair), notes, tables=tables, moved=_moved(pair))


def _part(suite: Stored, name: str) -> Stored | None:
    """Return a part's run: the one that the suite concluded from, or else its last."""
    home = suite.folder / _PARTS / name
    told = suite.results.get("run", {}).get(_PARTS)
    about = told.get(name) if isinstance(told, Mapping) else None
    run = about.get("run") if isinstance(about, Mapping) else None
    if run and (home / str(run) / CONFIG).is_file():
        return Stored.at(home / str(run))
    begun = sorted(it.parent for it in home.glob(f"*/{CONFIG}"))
    done = [it for it in begun if (it / RESULTS).is_file()]
    return Stored.at((done or begun)[-1]) if begun else None


def _ranks(pair: Pair) -> Table:
    """Return every model's place by the consensus, before and after."""
    runs = pair.baseline.run, pair.candidate.run
    models = list(dict.fromkeys(name for run in runs for name in _standing(run)))
    return Table(
        "Consensus of all ways (1 is the best; ranks are among a run's own models)",
        ("Model", "Rank, baseline", "Rank, candidate", "Score, baseline", "Score, candidate"),
        [
            (
                model,
                *(_shown(run, model, _RANK, 0) for run in runs),
                *(_shown(run, model, _SCORE, 3) for run in runs),
            )
            for model in models
        ],
    )


def _moved(pair: Pair) -> str:
    """Say how the places of models that both suites rank moved; '' where there are none."""
    one, other = pair.baseline.run, pair.candidate.run
    common = [model for model in _standing(other) if model in _standing(one)]
    moved = [
        f"{short_name(model, _NAME)} {was} → {now}"
        for model in common
        if (was := _rank(one, model)) != (now := _rank(other, model))
    ]
    if common and not moved:
        return Statement("compare.no_rank_moved", "no rank moved")
    more = f", and {len(moved) - _NAMED} more" if len(moved) > _NAMED else ""
    return ", ".join(moved[:_NAMED]) + more


def _rank(run: Stored, model: str) -> str:
    found = estimate_of(Side(run, model), _RANK)
    return "—" if found is None or found.value is None else f"{found.value:.0f}"


def _standing(run: Stored) -> list[str]:
    """Return the models that have a place: results have them in the order of their places."""
    return [name for name, of in run.results.get("models", {}).items() if _RANK in of]


def _shown(run: Stored, model: str, metric: str, digits: int) -> str:
    found = estimate_of(Side(run, model), metric)
    return "—" if found is None else shown(found, digits)


def _agreement(pair: Pair) -> Table:
    """Return how far each two ways agree, before and after."""
    told = [_told(it.run) for it in (pair.baseline, pair.candidate)]
    names = list(dict.fromkeys(name for of in told for name in of if name != "all"))
    return Table(
        "How far the ways agree",
        ("Ways", "Measure", "Baseline", "Candidate"),
        [
            (_ways(name), title, *(_estimate(of.get(name), key) for of in told))
            for name in names
            for key, title in _AGREE
        ],
    )


def _told(run: Stored) -> Mapping[str, Any]:
    found = run.results.get("agreement")
    return found if isinstance(found, Mapping) else {}


def _ways(name: str) -> str:
    one, _, other = name.partition("_vs_")
    return f"{TITLES.get(one, one.capitalize())} and {TITLES.get(other, other)}"


def _estimate(of: Any, key: str) -> str:
    told = of.get(key) if isinstance(of, Mapping) else None
    return shown(estimate(told)) if isinstance(told, Mapping) else "—"
