"""What the peers' journal says, for results and report. Reads records, decides nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from raybench.autobench.analysis import estimates
from raybench.autobench.analysis.ballots import ballots
from raybench.autobench.analysis.resample import Resampled, draws_of, resampled
from raybench.autobench.protocol import Record, replay
from raybench.autobench.settings import Settings
from raybench.autobench.sources import Sources
from raybench.autobench.standing import Standing
from raybench.statements import Statement
from raybench.stats import grouped
from raybench.types import Counts, Estimate

SCORE = "autobench/score"
WEIGHT = "autobench/weight"
PARSE_RATE = "autobench/parse_rate"
NO_JUDGE = Estimate(None, None, None, 0, "not computed: it does not judge")


def metrics(
    records: Sequence[Record], settings: Settings, found: Resampled | None = None
) -> dict[str, dict[str, Estimate]]:
    """Return every model's metrics: consensus score, judging weight, share of readable ratings.

    `found` is the bootstrap of these records, where it has been made already.
    """
    standing = replay(records, settings)
    found = found or bootstrap(records, settings)
    scores, weights = estimates.scores(found), estimates.weights(found)
    parsed = parse_rates(records, settings)
    return {
        model: {
            # The protocol's own value: the replicates' may differ in the last bit.
            SCORE: replace(scores[model], value=standing.scores[model]),
            WEIGHT: _weight(model, standing, weights, settings),
            PARSE_RATE: parsed.get(model, NO_JUDGE),
        }
        for model in settings.models
    }


def parse_rates(records: Sequence[Record], settings: Settings) -> dict[str, Estimate]:
    """Return every judge's share of ratings that could be read, of those it was asked for."""
    read: dict[str, list[tuple[bool, int]]] = {judge: [] for judge in settings.panel}
    for judge, could, iteration in _readings(records):
        if judge in read:
            read[judge].append((could, iteration))
    sources = Sources.of(records, settings)
    return {judge: _read(those, sources, len(records)) for judge, those in read.items()}


def parse_rate(records: Sequence[Record], settings: Settings) -> Estimate:
    """Return the share of ratings that could be read, of all judges together."""
    panel = set(settings.panel)
    read = [(could, at) for judge, could, at in _readings(records) if judge in panel]
    return _read(read, Sources.of(records, settings), len(records))


def bootstrap(records: Sequence[Record], settings: Settings) -> Resampled:
    """Return the assessment as it was, and along as many draws as an interval takes."""
    held = ballots(records, settings)
    return resampled(held, settings.weights, draws_of(held, seed=settings.seed))


def counts(records: Iterable[Record], models: Sequence[str]) -> dict[str, Counts]:
    """Count what happened to each model's work.

    ok, truncated: its answers that came whole, or were cut at the token limit; truncated also: its
    calls, of any kind, that were cut before an answer began. infra_error: its calls, of any kind,
    that broke. unparsed: ratings it gave that could not be read, answers without a word, and its
    calls, of any kind, that it refused or could not take.
    judge_error: ratings of its answers that are missing, whosever fault that is.
    """
    # Judges may be others than those whose counts are asked for.
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        failed, unanswered = _failed(record), _unanswered(record)
        for model, _ in failed:
            tally[model]["infra_error"] += 1
        for (model, _), call in unanswered.items():
            tally[model]["truncated" if call["finish"] == "thinking" else "unparsed"] += 1
        for model, answer in _answers(record):
            cut = model in record.get("truncated", ())
            whole = "ok" if answer.strip() else "unparsed"
            tally[model]["truncated" if cut else whole] += 1
        for judge in _unread(record):
            tally[judge]["unparsed"] += 1
        for contestant in _judged(record):
            tally[contestant]["judge_error"] += sum(
                contestant in row and row[contestant] is None
                for row in record["judgments"].values()
            )
    return {model: Counts(**tally[model]) for model in models}


def failures(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """Yield every unit that needs a person's eye, and why."""
    for record in records:
        why = []
        if record["task"] is None:
            why.append(f"no task was accepted in {len(record['attempts'])} attempts")
        why += [
            f"{error['model']}: no reply to {error['key']} ({error['error']})"
            for error in record.get("errors", ())
        ]
        why += [
            f"{call['model']}: no answer to {call['key']} ({call['finish']}: {call['why']})"
            for call in record.get("unanswered", ())
        ]
        why += [
            Statement(
                "failure.unread",
                "{judge}: {n} rating{s} could not be read",
                judge=judge,
                n=n,
                s="s" * (n > 1),
            )
            for judge, n in Counter(_unread(record)).items()
        ]
        for model, answer in _answers(record):
            if model in record.get("truncated", ()):
                why.append(f"{model}: answer cut at the token limit")
            if not answer.strip():
                why.append(f"{model}: empty answer")
        if why:
            yield {"iteration": record["iteration"], "why": why}


def heard(records: Iterable[Record]) -> set[str]:
    """Return the models of which any reply came, be it a task, an answer, a rating or a refusal."""
    found: set[str] = set()
    for record in records:
        found |= {it["generator"] for it in record["attempts"] if it["task"] is not None}
        found |= {model for model, answer in record["answers"].items() if answer is not None}
        found |= {call["model"] for call in record.get("unanswered", ())}
        failed = _failed(record)
        found |= {judge for judge, _, key in _ratings(record) if (judge, key) not in failed}
    return found


def silent(records: Sequence[Record], models: Iterable[str]) -> dict[str, str]:
    """Return who of these was asked and never replied, with the reason that came most often."""
    spoke = heard(records)
    found = {}
    for model in models:
        reasons = Counter(
            error["error"]
            for record in records
            for error in record.get("errors", ())
            if error["model"] == model
        )
        if reasons and model not in spoke:
            why = max(reasons, key=reasons.__getitem__)
            found[model] = f"no call got a reply ({reasons.total()} asked): {why}"
    return found


def mean_judgments(
    records: Iterable[Record], models: Sequence[str], judges: Sequence[str] = ()
) -> dict[str, dict[str, float | None]]:
    """Return who rated whom how high on average: judges by contestants; () is the contestants."""
    seen: dict[tuple[str, str], list[int]] = {}
    for record in records:
        for judge, row in record["judgments"].items():
            for contestant, rating in row.items():
                if rating is not None:
                    seen.setdefault((judge, contestant), []).append(rating)
    return {
        judge: {
            contestant: sum(given) / len(given)
            if (given := seen.get((judge, contestant)))
            else None
            for contestant in models
        }
        for judge in judges or models
    }


def convergence(records: Sequence[Record], settings: Settings) -> list[float]:
    """Return the L1 distance between successive weight vectors, one per iteration."""
    before: Mapping[str, float] = Standing.start(settings).weights
    distances = []
    for record in records:
        after = record["weights"]
        distances.append(sum(abs(after[judge] - before[judge]) for judge in settings.panel))
        before = after
    return distances


def _readings(records: Iterable[Record]) -> Iterator[tuple[str, bool, int]]:
    """Yield of every rating that came: its judge, whether it could be read, the record's number."""
    for number, record in enumerate(records):
        failed = _failed(record)
        for judge, rating, key in _ratings(record):
            if (judge, key) not in failed:
                yield judge, rating is not None, number


def _read(those: Sequence[tuple[bool, int]], sources: Sources, iterations: int) -> Estimate:
    # What cannot be read comes together, where a task or an answer confuses its judges.
    hits = np.array([could for could, _ in those], dtype=float)
    numbers = np.array([number for _, number in those], dtype=np.int64)
    groups = sources.numbers(iterations)[numbers]
    return grouped.share(hits, groups, over="ratings asked for", by=sources.by)


def _weight(
    model: str, standing: Standing, found: Mapping[str, Estimate], settings: Settings
) -> Estimate:
    if model not in found:
        return NO_JUDGE
    value, n = standing.weights[model], standing.iteration
    if settings.weights == "uniform":
        return Estimate(value, None, None, n, "uniform weights")
    if not standing.scored[model]:
        return Estimate(value, None, None, n, "the average weight, for want of a score")
    drawn = found[model]
    method = f"equation 3, after the last iteration; {drawn.method}"
    return replace(drawn, value=value, method=method)


def _failed(record: Record) -> set[tuple[str, str]]:
    """Return the calls that broke: model and key."""
    return {(error["model"], error["key"]) for error in record.get("errors", ())}


def _unanswered(record: Record) -> dict[tuple[str, str], Mapping[str, str]]:
    """Return the calls to which the model had no answer. Older journals do not say which."""
    return {(call["model"], call["key"]): call for call in record.get("unanswered", ())}


def _answers(record: Record) -> Iterator[tuple[str, str]]:
    """Yield the answers that came, but for those that `_unanswered` tells all about."""
    told = _unanswered(record)
    for model, answer in record["answers"].items():
        if answer is not None and (model, f"{record['iteration']}/answer") not in told:
            yield model, answer


def _unread(record: Record) -> Iterator[str]:
    """Yield the judge of every rating that came and could not be read."""
    told = _failed(record) | _unanswered(record).keys()
    for judge, rating, key in _ratings(record):
        if rating is None and (judge, key) not in told:
            yield judge


def _judged(record: Record) -> Iterator[str]:
    """Yield the contestants whose answers were put before the judges."""
    for contestant, answer in record["answers"].items():
        if answer is not None and answer.strip():
            yield contestant


def _ratings(record: Record) -> Iterator[tuple[str, int | None, str]]:
    """Yield every rating that was asked for: judge, rating, key of the ask."""
    index = record["iteration"]
    for number, attempt in enumerate(record["attempts"], start=1):
        for judge, rating in attempt["ratings"].items():
            yield judge, rating, f"{index}/{number}/task_rating"
    for contestant in _judged(record):
        for judge, row in record["judgments"].items():
            if contestant in row:  # a judge may not be asked about its own answers
                yield judge, row[contestant], f"{index}/answer_rating/{contestant}"
