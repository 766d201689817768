"""The tables of scores: every benchmark, its subjects and languages, and who differs from whom."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from raybench import benchmarks
from raybench.benchmarks.parts import summary
from raybench.benchmarks.parts.scores import Scores
from raybench.benchmarks.parts.tally import safe
from raybench.experiments.parts import profiles
from raybench.experiments.parts.questions.view import LONG, View
from raybench.statements import Statement
from raybench.stats import guessing
from raybench.tracking.report import Section, Table, Value
from raybench.types import Estimate

_MOST_COMPARED = 6
"""Models of which every pair is shown; of more, only neighbours in rank."""
_COUNTED = "•"
_SMALLEST_P = 0.001
_BESIDE = (
    "by the rules of those who published the benchmark, on the same replies; no index counts it."
)
_PASSING = " Pass@k: how likely one of k replies to a question is right; accuracy is pass@1."
_CHECKER = (
    " Checker decided: the share of replies that the script did not call right and the checker "
    "looked at; agreed: the share of these that it found wrong, too."
)


def benchmark(view: View, name: str) -> Section:
    """Return a benchmark's scores, what became of its replies, and what they took."""
    chance = view.chances.get(name)
    columns: dict[str, list[Value]] = {"model": list(view.ranked)}

    def add(head: str, values: Iterator[Value]) -> None:
        columns[head] = list(values)

    accuracies = list(view.of(f"{name}/accuracy"))
    add("accuracy", iter(accuracies))
    add("n", (it and it.n for it in accuracies))
    # Of questions that went alike the sample's is 0, which nobody should take for certainty.
    add("stderr", (it and (it.stderr or None) for it in accuracies))
    add("chance", (chance for _ in accuracies))
    add("against chance", (it and guessing.against(it, chance) for it in accuracies))
    others = view.tally.beside(name)
    for other in others:
        add(f"{other} accuracy", view.of(f"{name}/accuracy_{other}"))
    for key, title in view.others(name):
        add(title, view.of(key))
    add("re-run noise", view.of(f"{name}/rerun_noise"))
    counts = [view.tally.counts(model, [name]).to_json() for model in view.ranked]
    for count in counts[0]:
        if count == "ok" or any(of[count] for of in counts):
            add(count.replace("_", " "), (of[count] for of in counts))
    add("tokens", (_whole(it) for it in view.of(f"{name}/output_tokens")))
    for percent in (50, 99):
        add(f"p{percent}", (_whole(it) for it in view.of(f"{name}/output_tokens/p{percent}")))
    add("checker decided", view.of(f"{name}/checker_share"))
    add("checker agreed", view.of(f"{name}/checker_agreement"))
    kept = {head: of for head, of in columns.items() if any(value is not None for value in of)}
    return Section(
        benchmarks.load(name).title,
        "",
        table=Table(
            list(kept),
            list(zip(*kept.values(), strict=True)),
            caption="n: questions. Re-run noise: the standard deviation of the accuracy if the "
            "same questions were asked again. Tokens: of a reply, mean and percentiles."
            + (f" {guessing.EXPLAINED}" if chance else "")
            + (_PASSING if any(head.startswith("pass@") for head in kept) else "")
            + (_CHECKER if "checker decided" in kept else "")
            + (f" {', '.join(others).capitalize()} accuracy: {_BESIDE}" if others else ""),
        ),
    )


def broken_out(view: View, name: str) -> Iterator[Section]:
    """Yield the accuracies of a benchmark's languages and subjects, where it has several."""
    scores, title = Scores(view.tally, view.rules), benchmarks.load(name).title
    spoken, averaged = view.tally.languages(name), set(scores.languages(name))
    if len(spoken) > 1:
        others = len(averaged) < len(spoken)
        text = (
            f"The score averages the languages marked {_COUNTED}, each weighed the same; the "
            "others are shown only."
            if others
            else "The score averages all of them, each weighed the same."
        )
        in_order = sorted(spoken, key=lambda language: (language not in averaged, language))
        labels = {
            safe(it): f"{it} {_COUNTED}" if others and it in averaged else it for it in in_order
        }
        yield _split(view, name, f"{title} by language", text, "language", labels)
    if len(subjects := view.tally.subjects(name)) > 1:
        labels = {subject: subject.replace("_", " ") for subject in subjects}
        text = "Over the languages that the score averages." if len(spoken) > 1 else ""
        yield _split(view, name, f"{title} by subject", text, "subject", labels)


def _split(
    view: View, name: str, title: str, text: str, kind: str, labels: dict[str, str]
) -> Section:
    rows: list[Sequence[Value]] = []
    sizes: dict[str, int] = {}
    for part, label in labels.items():
        estimates = list(view.of(f"{name}/accuracy/{part}"))
        rows.append((label, _sizes([it for it in estimates if it]), *estimates))
        sizes[label] = max((it.n for it in estimates if it), default=0)
    parts = {label: part for part, label in labels.items()}
    figure, told = profiles.drawn(
        view.ranked,
        sizes,
        lambda model, label: view.metrics[model].get(f"{name}/accuracy/{parts[label]}"),
        lambda model: view.metrics[model][f"{name}/accuracy"].value,
        "accuracy",
        kinds=f"{kind}s",
        counted="questions",
    )
    models = len(view.ranked)
    folded = f"Accuracies of {models} model{'s' * (models != 1)} in {len(rows)} {kind}s"
    return Section(
        title,
        f"{text} {told}".strip(),
        figure=figure,
        table=Table(
            (kind, "n", *view.ranked),
            rows,
            caption="Accuracies with 95 % intervals over n questions. The intervals are each for "
            "itself: of many, one in twenty misses.",
        ),
        folded=folded * (len(rows) > LONG),
    )


def differences(view: View) -> Iterator[Section]:
    """Yield the section of paired differences, where there are any."""
    few = len(view.ranked) <= _MOST_COMPARED
    near = set(pairwise(view.ranked))
    found = [
        it
        for it in summary.differences(view.tally, view.ranked, view.rules)
        if it.found.difference.value is not None and (few or (it.first, it.second) in near)
    ]
    keys = [*(f"index/{name}" for name in view.rules.weights)]
    keys += [f"{name}/accuracy" for name in view.there()]
    rows = [
        (
            view.title(it.metric),
            f"{it.first} − {it.second}",
            it.found.difference,
            it.found.difference.n,
            it.found.difference.stderr,
            _p(it.p_holm),
            _detectable(it.found.detectable),
        )
        for it in sorted(found, key=lambda it: keys.index(it.metric))
    ]
    if rows:
        heads = ("score", "models", "difference", "n", "stderr", "p", "detectable")
        pairs = "Every pair of models" if few else "Neighbours in rank"
        yield Section(
            "Differences",
            Statement(
                "differences.compared",
                "{pairs}, compared over the same questions: two models differ if the interval of "
                "their difference excludes 0. This finds smaller differences than the models' own "
                "intervals do.",
                pairs=pairs,
                every=few,
            ),
            table=Table(
                heads,
                rows,
                caption="Differences with 95 % intervals over n questions. p: corrected for the "
                "number of benchmarks in which a pair is compared (Holm), not for the number of "
                "pairs; indices have none. Detectable: the smallest difference that such a run "
                "finds four times in five; none: it is larger than any two scores can differ by.",
            ),
            folded=f"All {len(rows)} differences" * (len(rows) > LONG),
        )


def _p(value: float | None) -> Value:
    return f"< {_SMALLEST_P}" if value is not None and value < _SMALLEST_P else value


def _detectable(value: float | None) -> Value:
    """Return a detectable difference of two shares: none where it is larger than 1."""
    return "none" if value is not None and value > 1 else value


def _sizes(estimates: Sequence[Estimate]) -> Value:
    """Return over how many questions estimates are: one number, or from the fewest to the most."""
    sizes = [it.n for it in estimates]
    if not sizes:
        return None
    return sizes[0] if min(sizes) == max(sizes) else f"{min(sizes):,}–{max(sizes):,}"


def _whole(estimate: Estimate | None) -> int | None:
    return None if estimate is None or estimate.value is None else round(estimate.value)
