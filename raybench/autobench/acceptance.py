"""Whether a task passes: its weighted mean and median both have to exceed their thresholds.

Before an iteration's turn its judges' weights are not known, but they are bounded: a running mean
moves by no more than the iterations in between can move it. Where a task passes, or fails, by all
weights within the bounds, that is known beforehand.
"""

import math
from collections.abc import Mapping

from raybench.autobench.settings import Settings
from raybench.autobench.standing import (
    SCALE,
    Ratings,
    Standing,
    half,
    weighted_mean,
    weighted_median,
)

_ROUNDING = 1e-9
"""A mean that exceeds a threshold by less is equal to it, but for rounding."""

Bounds = Mapping[str, tuple[float, float]]
"""Between what each judge's weight lies, in a unit that all share."""


def accepted(ratings: Ratings, weights: Mapping[str, float], settings: Settings) -> bool:
    """Tell whether a task passes by the judges' weights."""
    mean, median = weighted_mean(ratings, weights), weighted_median(ratings, weights)
    if mean is None or median is None:
        return False
    return mean - settings.mean_threshold > _ROUNDING and median > settings.median_threshold


def bounds(standing: Standing, settings: Settings, ahead: int) -> Bounds:
    """Return between what the weights lie after so many iterations more, whatever these bring."""
    if settings.weights == "uniform":
        return dict.fromkeys(settings.panel, (1.0, 1.0))
    found: dict[str, tuple[float, float]] = {}
    for judge in settings.panel:
        score, scored = standing.scores.get(judge), standing.scored.get(judge, 0)
        if score is not None:
            total = scored + ahead
            found[judge] = (
                (scored * score + ahead * SCALE[0]) / total,
                (scored * score + ahead * SCALE[1]) / total,
            )
    if not found and not any(judge in standing.scores for judge in settings.panel):
        return dict.fromkeys(settings.panel, (1.0, 1.0))  # outsiders all, who never get a score
    # Who has no score yet may get any, or weigh as the average of those who have.
    return {judge: found.get(judge, SCALE) for judge in settings.panel}


def foreseen(ratings: Ratings, within: Bounds, settings: Settings) -> bool | None:
    """Tell whether a task passes by all weights within the bounds; None where it depends."""
    given = [(rating, *within[judge]) for judge, rating in ratings.items() if rating is not None]
    if not given:
        return False
    mean, median = _mean_exceeds(given, settings), _median_exceeds(given, settings)
    if mean is False or median is False:
        return False
    return True if mean and median else None


def _mean_exceeds(given: list[tuple[int, float, float]], settings: Settings) -> bool | None:
    # The mean exceeds the threshold where the weighted distances from it are positive in sum.
    above = [(rating - settings.mean_threshold, low, high) for rating, low, high in given]
    least = math.fsum(by * (low if by > 0 else high) for by, low, high in above)
    most = math.fsum(by * (high if by > 0 else low) for by, low, high in above)
    if least / math.fsum(high for _, _, high in above) > 2 * _ROUNDING:
        return True
    if most / math.fsum(low for _, low, _ in above) < _ROUNDING / 2:
        return False
    return None


def _median_exceeds(given: list[tuple[int, float, float]], settings: Settings) -> bool | None:
    # It does where more than half of the weight lies above the threshold.
    up = [(low, high) for rating, low, high in given if rating > settings.median_threshold]
    down = [(low, high) for rating, low, high in given if rating <= settings.median_threshold]
    if not up or not down:
        return bool(up)
    most_below = math.fsum(high for _, high in down)
    least_above = math.fsum(low for low, _ in up)
    if least_above > most_below and not half(most_below, least_above + most_below):
        return True
    least_below = math.fsum(low for low, _ in down)
    most_above = math.fsum(high for _, high in up)
    if least_below > most_above and not half(most_above, least_below + most_above):
        return False
    return None
