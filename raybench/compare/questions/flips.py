"""The questions on which two sides differ, with what both replied."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raybench import benchmarks
from raybench.compare.flips import Done, reply
from raybench.compare.found import Flip, Flips, Pair, Reply, Side
from raybench.compare.questions.scores import Common
from raybench.compare.questions.units import NAME, Units
from raybench.pipeline import datasets
from raybench.pipeline.units import unit_id
from raybench.stats.asked import Asked
from raybench.tracking import addresses

_SCREENING = "hle_screen"
_KEPT = ("response", "reasoning", "answer", "truth", "reason", "finish", "by", "judgements")
"""What is kept of a record."""


def flips(units: Units, pair: Pair, found: Common, most: int) -> Flips:
    """Return the questions that differ, those that differ most first, at most so many each way."""
    name, differences = found.benchmark, found.differences
    gained, lost = differences > 0, differences < 0
    title = benchmarks.load(name).title
    shown = [*_largest(differences, gained, most), *_largest(differences, lost, most)]
    withheld = any(_withheld(it, name) for it in (pair.baseline, pair.candidate))
    items = [_flip(units, pair, found, place, texts=not withheld) for place in shown]
    return Flips(name, title, int(gained.sum()), int(lost.sum()), items, withheld=withheld)


def _flip(units: Units, pair: Pair, found: Common, place: tuple[int, int], *, texts: bool) -> Flip:
    (row, slot), name = place, found.benchmark
    difference, language = float(found.differences[place]), found.languages[row]

    def replied(side: Side, asked: Asked, right: bool) -> Reply:
        return _reply(units, side, name, asked, place, language, right=right, texts=texts)

    key, subject = units.key(name, slot), units.subject(name, slot)
    return Flip(
        key=key,
        title=f"question {key} ({', '.join(filter(None, (language, subject)))})",
        difference=difference,
        baseline=replied(pair.baseline, found.baseline, difference < 0),
        candidate=replied(pair.candidate, found.candidate, difference > 0),
        language=language,
        subject=subject,
    )


def _largest(
    differences: NDArray[np.float64], which: NDArray[np.bool_], most: int
) -> list[tuple[int, int]]:
    rows, slots = np.nonzero(which)
    order = np.argsort(-np.abs(differences[rows, slots]), kind="stable")[:most]
    return [(int(rows[it]), int(slots[it])) for it in order]


def _withheld(side: Side, benchmark: str) -> bool:
    """Tell whether the questions are not to be published.

    Of candidates in a screening some are held out.
    """
    if side.run.experiment == _SCREENING:
        return True
    return datasets.withheld(benchmark, samples=side.run.samples(benchmark))


def _reply(
    units: Units,
    side: Side,
    benchmark: str,
    asked: Asked,
    place: tuple[int, int],
    language: str,
    *,
    right: bool,
    texts: bool,
) -> Reply:
    """Return the reply that shows the difference: the first right one, or the first wrong one."""
    places = units.places(side, benchmark)
    (here,) = np.nonzero(
        (places.column("slot") == place[1])
        & (places.column("language") == units.language(language))
    )
    of_kind = here[places.column("right")[here] == right]
    those = of_kind if len(of_kind) else here
    first = int(those[np.argmin(places.column("repeat")[those])])
    done = Done(float(right), places.line[first], places.offset[first])
    times = {"right": int(asked.right[place]), "times": int(asked.times[place])}
    which = {"language": language, "key": units.key(benchmark, place[1])}
    repeat = places.repeat[first]
    unit = unit_id({"model": side.model, "benchmark": benchmark, "repeat": repeat, **which})
    record: Mapping[str, Any] = {}
    if texts:
        whole = side.run.at_offset(NAME, done.line, done.offset)
        record = {name: whole[name] for name in _KEPT if name in whole}
    facts = {**times, "repeat": repeat}
    return reply(side, NAME, done, addresses.sample(unit), _said(**times), facts, record)


def _said(right: int, times: int) -> str:
    if times == 1:
        return "right" if right else "wrong"
    return f"{right} of {times} right"
