"""Equations 1 to 3: how ratings become scores, and scores the weights of the next iteration.

With w the weights at the start of iteration t, J the judgment matrix (judges by contestants):

    (1)  s_j = sum_i w_i J_ij               over the judges with a valid rating, w renormalised
    (2)  S_j = running mean of s_j          over the iterations in which j was scored
    (3)  w_i = S_i / sum_k S_k              the judging weights of iteration t + 1
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from raybench.autobench.settings import Settings

Ratings = Mapping[str, int | None]
"""What judges gave, None where a rating could not be had or read."""

SCALE = (1.0, 5.0)
"""Where ratings end."""
FLOOR = SCALE[0]
"""What an empty answer scores: the scale's 'Poor/off-topic'. Judges are not asked about nothing."""


@dataclass(frozen=True)
class Standing:
    """Where the assessment stands after some iterations."""

    iteration: int
    scores: Mapping[str, float | None]
    """S of equation 2; None for a model that nobody could score yet."""
    scored: Mapping[str, int]
    """In how many iterations each model was scored."""
    weights: Mapping[str, float]
    """w of equation 3: the judging weights of the next iteration."""

    @classmethod
    def start(cls, settings: Settings) -> "Standing":
        """Before the first iteration every judge weighs the same."""
        models = settings.models
        none: dict[str, float | None] = dict.fromkeys(models)
        return cls(0, none, dict.fromkeys(models, 0), judging_weights(none, settings))


def advance(standing: Standing, scores: Mapping[str, float | None], settings: Settings) -> Standing:
    """Equations 2 and 3: fold one iteration's scores into the standing."""
    totals: dict[str, float | None] = {}
    scored: dict[str, int] = {}
    for model, so_far in standing.scores.items():
        count = standing.scored[model]
        score = scores.get(model)
        if score is None:
            totals[model], scored[model] = so_far, count
        else:
            totals[model] = score if so_far is None else (count * so_far + score) / (count + 1)
            scored[model] = count + 1
    return Standing(standing.iteration + 1, totals, scored, judging_weights(totals, settings))


def judging_weights(scores: Mapping[str, float | None], settings: Settings) -> dict[str, float]:
    """Equation 3, over the judges.

    A judge without a score, yet or because it is no contestant, weighs as much as the average of
    the judges that have one; where none has, or weights are to be uniform, all weigh the same.
    """
    of = {judge: scores.get(judge) for judge in settings.panel}
    known = [score for score in of.values() if score is not None]
    if not known or settings.weights == "uniform":
        return dict.fromkeys(of, 1 / len(of))
    average = math.fsum(known) / len(known)
    filled = {judge: average if score is None else score for judge, score in of.items()}
    total = math.fsum(filled.values())
    return {judge: score / total for judge, score in filled.items()}


def contestant_scores(
    answers: Mapping[str, str | None],
    judgments: Mapping[str, Ratings],
    weights: Mapping[str, float],
) -> dict[str, float | None]:
    """Equation 1 for every contestant; None where no judge gave a valid rating."""
    return {
        model: FLOOR
        if is_empty(answer)
        else weighted_mean({judge: row.get(model) for judge, row in judgments.items()}, weights)
        for model, answer in answers.items()
    }


def is_empty(answer: str | None) -> bool:
    """Tell whether a model said nothing; one of which no reply came did not even do that."""
    return answer is not None and not answer.strip()


def weighted_mean(ratings: Ratings, weights: Mapping[str, float]) -> float | None:
    """Mean of the valid ratings, the judges' weights renormalised over those who gave one."""
    valid = [(weights[judge], rating) for judge, rating in ratings.items() if rating is not None]
    total = math.fsum(weight for weight, _ in valid)
    if not total:
        return None
    return math.fsum(weight * rating for weight, rating in valid) / total


def weighted_median(ratings: Ratings, weights: Mapping[str, float]) -> float | None:
    """The rating at which half of the judging weight is reached, going up.

    Where exactly half of the weight lies at or below a rating, the median is the middle between it
    and the next one, so that equal weights give the ordinary median.
    """
    valid = sorted(
        (rating, weights[judge]) for judge, rating in ratings.items() if rating is not None
    )
    total = math.fsum(weight for _, weight in valid)
    if not total:
        return None
    by_rating: dict[int, list[float]] = {}
    for rating, weight in valid:
        by_rating.setdefault(rating, []).append(weight)
    reached = 0.0
    steps = list(by_rating.items())
    for place, (rating, several) in enumerate(steps):
        reached += math.fsum(several)
        if half(reached, total) and place + 1 < len(steps):
            return (rating + steps[place + 1][0]) / 2
        if reached > total / 2:
            return float(rating)
    return float(steps[-1][0])


def half(weight: float, total: float) -> bool:
    """Tell whether a weight is half of the total, but for rounding."""
    return math.isclose(weight, total / 2, rel_tol=1e-9)
