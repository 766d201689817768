"""The numbers of the index: what results and report say of a tally."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from raybench import benchmarks
from raybench.benchmarks.parts.scores import Rules, Scores, refuse_withheld
from raybench.benchmarks.parts.tally import Tally, safe
from raybench.statements import Statement
from raybench.stats import composite, paired, passing, repeats
from raybench.stats.repeats import Spread
from raybench.types import Estimate

TARGET = 0.01
"""Half of the width that the methodology claims for its Intelligence Index."""
_PERCENTILES = (50, 90, 99)

Metrics = Iterator[tuple[str, Estimate]]


def metrics(tally: Tally, models: Sequence[str], rules: Rules) -> dict[str, dict[str, Estimate]]:
    """Return every model's metrics: scores and their noise, breakdowns, tokens, indices."""
    scores = Scores(tally, rules)
    found = {}
    for model in models:
        found[model] = dict(_indices(scores, model))
        for benchmark in tally.benchmarks():
            found[model].update(_scores(scores, model, benchmark))
            found[model].update(_checker(scores, model, benchmark))
            found[model].update(_tokens(tally, model, benchmark))
    return found


def precision(tally: Tally, model: str, rules: Rules) -> dict[str, Spread]:
    """Return where the variance of a model's indices comes from, of those that are not refused."""
    scores = Scores(tally, rules)
    parts = _parts(scores, model)
    spreads = {
        index: _spread(scores, model, parts, weights) for index, weights in rules.weights.items()
    }
    return {index: spread for index, spread in spreads.items() if spread}


@dataclass(frozen=True, slots=True)
class Difference:
    """What one model has over another in one metric."""

    metric: str
    first: str
    second: str
    found: paired.Comparison
    p_holm: float | None
    """The comparison's p-value, raised for the number of benchmarks the two are compared in."""


def differences(tally: Tally, models: Sequence[str], rules: Rules) -> Iterator[Difference]:
    """Yield every pair of models in every benchmark and index, their questions paired."""
    scores = Scores(tally, rules)
    for first, second in itertools.combinations(models, 2):
        found = {name: _compare(scores, first, second, name) for name in scores.tally.benchmarks()}
        raised = paired.holm({name: it.p for name, it in found.items() if it.p is not None})
        for name, comparison in found.items():
            yield Difference(f"{name}/accuracy", first, second, comparison, raised.get(name))
        parts = scores.constituents(
            {name: it.difference for name, it in found.items()}, (first, second)
        )
        for index, weights in rules.weights.items():
            comparison = paired.Comparison(scores.index(parts, (first, second), weights))
            yield Difference(f"index/{index}", first, second, comparison, None)


def _compare(scores: Scores, first: str, second: str, benchmark: str) -> paired.Comparison:
    for model in (first, second):
        if reason := scores.withheld(model, benchmark):
            why = Statement(
                "refused.one_withheld",
                "not computed: {model}: {reason}",
                model=model,
                reason=reason,
            )
            return paired.Comparison(Estimate(None, None, None, 0, why))
    return paired.compare(scores.asked(first, benchmark), scores.asked(second, benchmark))


def _indices(scores: Scores, model: str) -> Metrics:
    parts = _parts(scores, model)
    for index, weights in scores.rules.weights.items():
        estimate = scores.index(parts, (model,), weights)
        yield f"index/{index}", estimate
        if spread := _spread(scores, model, parts, weights):
            once = ", ".join(spread.bounded)
            method = f"√(Σ w²·noise²){f', at most: {once} asked once' if once else ''}"
            yield f"index/{index}/rerun_noise", repeats.noise(spread, estimate.n, method)


def _parts(scores: Scores, model: str) -> dict[str, Estimate]:
    return scores.constituents(
        {name: scores.accuracy(model, name) for name in scores.tally.benchmarks()}, (model,)
    )


def _spread(
    scores: Scores,
    model: str,
    parts: Mapping[str, Estimate],
    weights: Mapping[str, Fraction],
) -> Spread | None:
    used = composite.constituents(parts, weights, partial=scores.rules.partial)
    if not used:
        return None
    spreads = {name: Spread.of(scores.asked(model, name), name=name) for name in used}
    return Spread.combined(spreads, used)


def _scores(scores: Scores, model: str, benchmark: str) -> Metrics:
    tally, languages = scores.tally, scores.languages(benchmark)
    key = f"{benchmark}/accuracy"
    yield key, scores.accuracy(model, benchmark)
    if reason := scores.withheld(model, benchmark):
        yield f"{benchmark}/rerun_noise", refuse_withheld(reason)
    else:
        yield f"{benchmark}/rerun_noise", repeats.rerun_noise(scores.asked(model, benchmark))
    for name in tally.beside(benchmark):
        beside = tally.asked_beside(model, benchmark, languages, name)
        yield f"{key}_{name}", scores.of(model, benchmark, beside)
    if benchmark in scores.rules.programs:
        yield from _passing(scores, model, benchmark)
    if whole := benchmarks.load(benchmark).whole:
        yield f"{benchmark}/{whole}", scores.wholes(model, benchmark)
    for subject in tally.subjects(benchmark):
        asked = tally.asked(model, benchmark, languages, subject=subject)
        yield f"{key}/{subject}", scores.of(model, benchmark, asked)
    if len(spoken := tally.languages(benchmark)) > 1:
        for language in spoken:
            asked = tally.asked(model, benchmark, [language])
            yield f"{key}/{safe(language)}", scores.of(model, benchmark, asked)


def _passing(scores: Scores, model: str, benchmark: str) -> Metrics:
    """Yield how likely one of several replies is right, where so many were asked for."""
    asked = scores.asked(model, benchmark)
    for k in passing.KS:
        if asked.times.size and int(asked.times.max()) >= k:
            by = partial(passing.at, k=k)
            yield f"{benchmark}/pass_at_{k}", scores.of(model, benchmark, asked, by)


def _checker(scores: Scores, model: str, benchmark: str) -> Metrics:
    """Yield how much the checker decided, and how often it found wrong what the script had."""
    languages = scores.languages(benchmark)
    checked = scores.tally.checked(model, benchmark, languages)
    if checked.right.any():
        yield f"{benchmark}/checker_share", repeats.accuracy(checked)
        confirmed = scores.tally.confirmed(model, benchmark, languages)
        yield f"{benchmark}/checker_agreement", repeats.accuracy(confirmed)


def _tokens(tally: Tally, model: str, benchmark: str) -> Metrics:
    sheet = tally.sheet(model, benchmark)
    n = len(sheet.output_tokens)
    if n == 0:
        return

    def told(value: float, what: str) -> Estimate:
        return Estimate(value, None, None, n, f"{what} over replies; no interval: of these replies")

    yield f"{benchmark}/prompt_tokens", told(float(np.mean(sheet.prompt_tokens)), "mean")
    yield f"{benchmark}/output_tokens", told(float(np.mean(sheet.output_tokens)), "mean")
    for percent, value in zip(
        _PERCENTILES, np.percentile(sheet.output_tokens, _PERCENTILES), strict=True
    ):
        yield f"{benchmark}/output_tokens/p{percent}", told(float(value), f"percentile {percent}")
