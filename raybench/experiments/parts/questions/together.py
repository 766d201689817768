"""The headline of all models, and how their errors go together: they had the same questions."""

from collections.abc import Mapping
from fractions import Fraction

from raybench.benchmarks.parts.scores import Scores
from raybench.stats import composite
from raybench.stats.joint import Joint, of_questions
from raybench.types import Estimate


def together(
    scores: Scores, metrics: Mapping[str, Mapping[str, Estimate]], key: str
) -> Joint | None:
    """Return all models' scores in an index or a benchmark; None where nobody has one."""
    found = {model: of[key] for model, of in metrics.items() if key in of}
    there = [model for model, score in found.items() if score.value is not None]
    if not there:
        return None
    weights = _weights(scores, metrics[there[0]], key)
    asked = {name: [scores.asked(model, name) for model in found] for name in weights}
    return Joint.of(key, found, of_questions(asked, weights))


def _weights(scores: Scores, of: Mapping[str, Estimate], key: str) -> Mapping[str, Fraction]:
    """Return what each benchmark weighs in a metric."""
    first, _, last = key.partition("/")
    if first != "index":
        return {first: Fraction(1)}
    accuracies = {name: of[f"{name}/accuracy"] for name in scores.tally.benchmarks()}
    return composite.constituents(
        accuracies, scores.rules.weights[last], partial=scores.rules.partial
    )
