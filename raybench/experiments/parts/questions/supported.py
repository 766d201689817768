"""Which orders of models the same questions support."""

from raybench.benchmarks.parts import summary
from raybench.experiments.parts import supported
from raybench.experiments.parts.questions.view import View
from raybench.stats import paired

_LEVEL = 0.05
_HOLM = (
    "over the same questions, at 5 % by Holm's steps over all pairs, for this score alone: "
    "raybench.compare counts all the scores that it compares, and may say less"
)
_EACH = (
    "over the same questions, where the interval of the difference excludes 0: each at 5 %, so "
    "that of pairs that do not differ one in twenty seems to, and raybench.compare, which counts "
    "all its tests, may say less"
)


def orders(view: View, key: str) -> str:
    """Return, in words, which orders of two models by a metric hold."""
    ranked = [
        it for it in view.ranked if (of := view.metrics[it].get(key)) and of.value is not None
    ]
    found = {
        (it.first, it.second): it.found
        for it in summary.differences(view.tally, ranked, view.rules)
        if it.metric == key and it.found.difference.value
    }
    ps = {pair: it.p for pair, it in found.items() if it.p is not None}
    if len(ps) == len(found):
        held = {pair for pair, p in paired.holm(ps).items() if p < _LEVEL}
    else:
        held = {
            pair
            for pair, it in found.items()
            if (ends := it.difference.ci95) and (ends[0] > 0 or ends[1] < 0)
        }
    sure = {pair if (found[pair].difference.value or 0) > 0 else pair[::-1] for pair in held}
    return supported.orders(ranked, sure, _HOLM if len(ps) == len(found) else _EACH)
