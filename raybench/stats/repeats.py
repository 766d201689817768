"""Accuracy over questions that may be asked several times, and what asking again would change.

A score is uncertain in two ways. The questions are a sample of those that could have been asked,
and a model that draws its tokens may answer the same question rightly once and wrongly the next
time. Repeats help against the second only.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from raybench.statements import Statement
from raybench.stats import clusters
from raybench.stats.asked import Asked
from raybench.stats.clusters import Scores
from raybench.stats.intervals import Z, refuse_empty, share, student, wilson
from raybench.types import Estimate, Interval

BOUNDED = "Wilson interval, adjusted for clustering"
"""How `bounded` makes an interval: Wilson's at the effective number of sources, with one extreme
source added and Student's quantile."""
Over = Literal["re-runs", "questions"]
"""What an interval is over: the same questions asked anew, or other questions of the same kind."""


def accuracy(asked: Asked, *, over: str = "questions") -> Estimate:
    """Mean over questions of the share of right answers, with an interval inside 0 and 1.

    Where each question was asked once, that is a share with Wilson's interval. Where repeats were
    averaged, or questions share sources, the same interval is made for the effective number of
    questions: that of independent single answers which would have the standard error found.
    Student's quantile allows for an error that was itself estimated. Near 0 and 1 Student's own
    interval would reach beyond them, and cover far too little.
    """
    asked = asked.dropped()
    if asked.n == 0:
        return refuse_empty(over)
    if asked.plain and asked.once:
        return share(int(asked.right.sum()), asked.n, over=over)
    found = clusters.mean(asked.scores(), asked.sources)
    method = Statement(
        "method.averaged",
        "{averaged}; {bounded}",
        averaged=_averaged(asked, over),
        bounded=BOUNDED,
        sources=found.sources,
    )
    interval = bounded(found, int(asked.times.sum()))
    return Estimate(found.value, found.stderr, interval, asked.n, method)


def bounded(found: clusters.Mean, most: float) -> Interval:
    """Return a 95 % interval inside 0 and 1 around a mean of scores between them.

    No more independent answers are taken for granted than `most`.
    """
    estimated = found.stderr is not None and 0 < found.value < 1
    z = student(found.sources - 1) if estimated else Z
    return wilson(found.value, min(_effective(found), most), z=z)


def _effective(found: clusters.Mean) -> float:
    """Return how many independent single answers are as uncertain as the mean: p(1−p)/SE².

    As if one more source had answered all right or all wrong, which is the most that scores can
    vary: few sources may agree by chance, and a single one, or all at 0 or 1, shows no spread to
    judge by. Those count as one answer each.
    """
    p, stderr, sources = found
    if stderr is None or not 0 < p < 1:
        return sources
    design = sources * stderr**2 / (p * (1 - p))
    return sources**2 / ((sources - 1) * design + 1)


def _averaged(asked: Asked, over: str) -> str:
    parts = [f"mean over {over}"]
    if not asked.once:
        parts.append("repeats averaged first")
    if len(asked.times) > 1:
        parts.append(f"{len(asked.times)} languages weighed the same")
    if not asked.plain:
        parts.append("clustered by source")
    return ", ".join(parts)


def rerun_noise(asked: Asked) -> Estimate:
    """Return the standard deviation of the score if the same questions were asked anew."""
    asked = asked.dropped()
    if asked.n == 0:
        return refuse_empty("questions")
    if asked.once:
        why = Statement(
            "refused.asked_once", "not computed: asked once; noise shows from the second repeat on"
        )
        return Estimate(None, None, None, asked.n, why)
    return noise(Spread.of(asked), asked.n, "√(Σ p(1−p)/(K−1))/n over questions")


def noise(spread: "Spread", n: int, method: str) -> Estimate:
    """Return the standard deviation over re-runs with the repeats there were."""
    return Estimate(
        math.sqrt(spread.now), None, None, n, f"{method}; no interval: it is itself an error"
    )


@dataclass(frozen=True, slots=True)
class Spread:
    """The variance of a score, split by where it comes from."""

    questions: float
    """From the draw of the questions, however often each is asked."""
    replies: float
    """From the replies, were each question asked once; K repeats divide it by K."""
    now: float
    """From the replies, with the repeats there were."""
    bounded: tuple[str, ...] = ()
    """What was asked once, or answered alike throughout: its noise is bounded, not measured."""

    @classmethod
    def of(cls, asked: Asked, *, name: str = "this") -> "Spread":
        """Split the variance of `accuracy`. What was asked once is told by its name."""
        asked = asked.dropped()
        scores = asked.scores()
        p, stderr, _ = clusters.mean(scores, asked.sources)
        # From a single source: the most that scores between 0 and 1 can vary.
        total = p * (1 - p) if stderr is None else stderr**2
        if asked.once or stderr == 0:
            # Replies that all agree do not measure their noise either: there may be some, and other
            # questions may differ.
            now, repeats = _most(asked), float(asked.times[asked.times > 0].mean())
            total = total or _widest(p, asked.n)
            return cls(max(0.0, total - now), now * repeats, now, (name,))
        noise = _noise(asked, scores)
        squares = np.square(clusters.weights(scores))
        replies = clusters.total(squares * noise)
        now = clusters.total(squares * noise / np.maximum(asked.times, 1))
        return cls(max(0.0, total - now), replies, now)

    @classmethod
    def combined(cls, spreads: Mapping[str, "Spread"], weights: Mapping[str, Fraction]) -> "Spread":
        """Return the spread of a weighted sum of scores that share no questions."""
        squares = {name: float(weights[name]) ** 2 for name in spreads}
        return cls(
            math.fsum(squares[name] * spread.questions for name, spread in spreads.items()),
            math.fsum(squares[name] * spread.replies for name, spread in spreads.items()),
            math.fsum(squares[name] * spread.now for name, spread in spreads.items()),
            tuple(sorted(name for spread in spreads.values() for name in spread.bounded)),
        )

    def half_width(self, repeats: float | None = None, *, over: Over = "re-runs") -> float:
        """Return how far a 95 % interval reaches to either side, by default with the repeats now.

        math.inf repeats leave what the draw of the questions leaves.
        """
        replies = self.now if repeats is None else self.replies / repeats
        return Z * math.sqrt(replies + (self.questions if over == "questions" else 0.0))

    def repeats_for(self, half_width: float, *, over: Over = "re-runs") -> int | None:
        """Return from how many repeats of every question on the interval is that narrow.

        None where no number of repeats does it, because the questions are too few.
        """
        allowed = (half_width / Z) ** 2 - (self.questions if over == "questions" else 0.0)
        if allowed <= 0:
            return None
        return max(1, math.ceil(self.replies / allowed))


def _noise(asked: Asked, scores: Scores) -> Scores:
    """Return each question's unbiased variance of one reply: p(1−p)·K/(K−1)."""
    repeated = asked.times > 1
    with np.errstate(invalid="ignore", divide="ignore"):
        noise = scores * (1 - scores) * asked.times / (asked.times - 1)
    # A question with one reply left says nothing of its own noise: it is taken for an average one.
    return np.where(repeated, noise, clusters.total(noise[repeated]) / repeated.sum())


def _most(asked: Asked) -> float:
    """Return the most that replies can add to the variance of the score, where none measures it.

    A question's noise p(1−p) is concave in p: it is greatest where all questions are equally hard.
    That p is taken where its own interval comes nearest to one half.
    """
    parts = len(asked.times)
    most = 0.0
    for right, times in zip(asked.right, asked.times, strict=True):
        n = int(times.sum())
        most += _widest(int(right.sum()) / n, n) / parts**2
    return most


def _widest(share: float, n: int) -> float:
    """Return the variance of a share at the end of its interval that is nearest to one half."""
    low, high = wilson(share, n)
    p = min(max(0.5, low), high)
    return p * (1 - p) / n
