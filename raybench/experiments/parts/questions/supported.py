"""Which orders of models the same questions support."""

from raybench.benchmarks.parts import summary
from raybench.experiments.parts import supported
from raybench.experiments.parts.questions.view import View
from raybench.stats import paired

_LEVEL = 0.05
_HOLM = (
    "paired test over the same questions at 5 %, Holm-corrected for all pairs of this score, not "
    "for other scores"
)
_EACH = "95 % interval of the paired difference excludes 0; not corrected for many tests"


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
