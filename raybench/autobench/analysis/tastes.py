"""Which judges share a taste: clusters of those that err alike about the same answers.

Good judges agree because they see the same truth. So what one common factor explains of their
correlations is taken out first: it stands for that truth, and each judge's loading for how well the
judge follows it. (Taking out each answer's mean over judges instead makes clusters of good judges,
which all see more of the truth than the mean does, and of judges at random, which all see less.)
What is left between two judges is shared taste; more of it than chance makes is a cluster.

How severe a judge is at a task is taken out beforehand: it changes no order.

In simulation (6 and 12 judges; plain ones, ceilings, answers right or wrong, tastes of their own,
some that use the middle of the scale only, unlike severity, severity by topic) panels without
shared taste had no cluster in 79 to 100 % of cases after 6 iterations, 86 to 100 % after 20 to 60
(97 % on average), and all after 200. That 3 of 8 or 12 judges share a taste of 0.6 points was found
in 73 and 93 % after 20 iterations (often with one of them left out), in all after 60. Of 4 judges
few are ever found. Two caveats: a large cluster pulls the common factor towards itself, and may
show as a second cluster of the others, or, with half of the judges in it, as theirs alone. And two
judges that see nearly all of a truth of which the others see little share what nobody else saw: the
two ablest of twelve stand-ins, who hardly err, were a cluster in 2 of 12 runs of 30 iterations.
"""

import numpy as np
from numpy.typing import NDArray

from raybench.autobench.analysis.ballots import Ballots
from raybench.autobench.analysis.chances import chance, rounding
from raybench.autobench.analysis.shared import shared
from raybench.statements import Statement

FEWEST_JUDGES = 4
"""A common factor explains whatever three judges say."""
FEWEST_TASKS = 5
_SMALLEST = 0.15
"""Correlations below are no chamber, however sure: ratings end at 1 and 5 for all judges alike."""
_MOST = 200
"""Tasks that are looked at, evenly spread: chance is small there already, and more take long."""


def refusal(ballots: Ballots) -> str:
    """Return why these ratings show no clusters, or ''."""
    if len(ballots.judges) < FEWEST_JUDGES:
        return Statement(
            "refused.few_judges",
            "not computed: clusters take {least} judges, there are {judges}",
            least=FEWEST_JUDGES,
            judges=len(ballots.judges),
        )
    if ballots.distinct < FEWEST_TASKS:
        return Statement(
            "refused.few_tasks",
            "not computed: clusters take {least} iterations with a task, not {tasks}",
            least=FEWEST_TASKS,
            tasks=ballots.distinct,
        )
    return ""


def clusters(ballots: Ballots, *, seed: int = 0) -> tuple[tuple[str, ...], ...]:
    """Return the judges that share a taste, each cluster of two or more, the largest first.

    Clusters grow by average linkage while the mean correlation between them is above what chance
    makes of the closest pair in 19 of 20 panels without any shared taste. Such panels are made by
    shuffling: each judge's tastes keep what they are, per task and per contestant, and are put to
    other tasks and contestants than the others'. So that a judge which likes some models, itself
    for one, is not taken for another that likes other models, however often it says so. Nor may
    it be what rounding makes of panels of one truth, in which some judges are more severe.
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # slow to import, and no plan's business
    from scipy.spatial.distance import squareform

    ratings = _some(ballots.ratings).astype(np.float64)
    rng = np.random.default_rng(seed)
    least = max(_SMALLEST, chance(ratings, rng), rounding(ratings, rng))
    distances = 1 - shared(ratings)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average")
    labels = fcluster(tree, 1 - least, "distance")
    found: dict[int, list[str]] = {}
    for judge, label in zip(ballots.judges, labels.tolist(), strict=True):
        found.setdefault(label, []).append(judge)
    several = [tuple(judges) for judges in found.values() if len(judges) > 1]
    return tuple(sorted(several, key=lambda judges: -len(judges)))


def _some(ratings: NDArray[np.float32]) -> NDArray[np.float32]:
    if len(ratings) <= _MOST:
        return ratings
    return np.asarray(ratings[np.linspace(0, len(ratings) - 1, _MOST).astype(int)])
