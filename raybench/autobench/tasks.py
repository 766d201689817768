"""What became of the tasks that models proposed, and why tasks were turned down."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from raybench.autobench.settings import Settings
from raybench.autobench.standing import SCALE
from raybench.stats import grouped, intervals
from raybench.types import Estimate

Fate = Literal["accepted", "too low", "faulty", "empty", "unrated", "no reply"]
FATES: Mapping[Fate, str] = {
    "accepted": "its ratings exceed both thresholds",
    "too low": "weighted mean or median of its ratings do not exceed their thresholds",
    "faulty": "turned down for what is wrong with it, however it was rated",
    "empty": "its generator wrote nothing, or declined",
    "unrated": "no judge's rating could be had and read, which is not its generator's doing",
    "no reply": "the call to its generator broke",
}

_DECIDED = "tasks decided upon"
_RATED = "rated tasks by iteration"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a task."""

    iteration: int
    generator: str
    topic: str
    difficulty: str
    text: str
    mean: float | None
    """The weighted mean of its ratings."""
    median: float | None
    faults: tuple[str, ...]
    fate: Fate
    why: str
    """What it was turned down for, in words; '' where it was accepted."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of some tries."""

    proposed: int
    """Tries whose call did not break."""
    fates: Mapping[Fate, int]
    faults: int
    """Tasks with a fault, turned down for it or not."""
    accepted: Estimate
    """Share of those that could be decided upon."""
    mean: Estimate
    """Mean of the weighted means of all that were rated."""


def attempts(records: Iterable[Mapping[str, Any]], settings: Settings) -> Iterator[Attempt]:
    """Yield every try, in order. Given tasks are not tried."""
    for record in records:
        for attempt in record["attempts"]:
            fate, why = _fate(attempt, settings)
            yield Attempt(
                record["iteration"],
                attempt["generator"],
                record["topic"],
                record["difficulty"],
                attempt["task"] or "",
                attempt["mean"],
                attempt["median"],
                tuple(attempt.get("faults", ())),  # older journals look for none
                fate,
                why,
            )


def tallies(
    found: Iterable[Attempt], of: Callable[[Attempt], str], names: Sequence[str] = ()
) -> dict[str, Tally]:
    """Return what became of the tries by what `of` says of each; `names` come first."""
    sorted_out: dict[str, list[Attempt]] = {name: [] for name in names}
    for attempt in found:
        sorted_out.setdefault(of(attempt), []).append(attempt)
    return {name: tally(those) for name, those in sorted_out.items()}


def tally(those: Sequence[Attempt]) -> Tally:
    """Count what became of these tries.

    Tries of one iteration share its topic and difficulty and often their generator, which tries
    again after a rejection: so they fail together, and iterations are what repeats.
    """
    fates = Counter(attempt.fate for attempt in those)
    decided = [it for it in those if it.fate not in ("no reply", "unrated")]
    hits = np.array([it.fate == "accepted" for it in decided], dtype=float)
    rated = [(it.mean, it.iteration) for it in those if it.mean is not None]
    means = np.array([mean for mean, _ in rated], dtype=float)
    return Tally(
        proposed=len(those) - fates["no reply"],
        fates={fate: fates[fate] for fate in FATES},
        faults=sum(bool(attempt.faults) for attempt in those),
        accepted=grouped.share(
            hits, _numbers([it.iteration for it in decided]), over=_DECIDED, by="iteration"
        ),
        mean=intervals.cut(
            grouped.mean(means, _numbers([at for _, at in rated]), over=_RATED), SCALE
        ),
    )


def _numbers(iterations: Sequence[int]) -> grouped.Groups:
    """Return the iterations numbered from 0."""
    return np.unique(np.array(iterations, dtype=np.int64), return_inverse=True)[1].reshape(-1)


def _fate(attempt: Mapping[str, Any], settings: Settings) -> tuple[Fate, str]:
    mean, median = attempt["mean"], attempt["median"]
    if attempt["accepted"]:
        return "accepted", ""
    if attempt["task"] is None:
        return "no reply", "its generator did not reply"
    if not attempt["task"].strip():
        return "empty", "its generator wrote nothing"
    if settings.faulty == "reject" and attempt.get("faults"):
        return "faulty", "; ".join(attempt["faults"])
    if mean is None or median is None:
        return "unrated", "nobody's rating could be had and read"
    low = [
        f"{name} {value:.2f} does not exceed {threshold:g}"
        for name, value, threshold in (
            ("weighted mean", mean, settings.mean_threshold),
            ("weighted median", median, settings.median_threshold),
        )
        if value <= threshold
    ]
    return "too low", " and ".join(low) or "by other thresholds than today's"
