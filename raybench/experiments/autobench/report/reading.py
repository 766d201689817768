"""Pages for reading: iterations that show what the numbers are made of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import pstdev

from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.autobench.standing import is_empty
from raybench.experiments.autobench.report.texts import LONG, counted, cut, given
from raybench.statements import Statement
from raybench.tracking import addresses
from raybench.tracking.report import Item, Section

_TOPICS = 12
"""Topics that get an iteration of their own."""
_MOST = 3000
"""Characters of a text."""

Measure = Callable[[Record], float | None]


def sections(records: Sequence[Record], protocol: Settings) -> Iterator[Section]:
    """Yield tasks, answers and ratings of a few iterations, always the same ones."""
    shown = list(chosen(records))
    if shown:
        yield Section(
            "Read them",
            f"{len(shown)} of {len(records):,} iterations, chosen for what they show: extremes, "
            "and topics in turn. The journal has them all.",
            items=[_item(record, why) for record, why in shown],
        )


def chosen(records: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """Yield instructive iterations, each once, and what each is shown for.

    The extremes first; then one iteration of each topic, the first topic's first, the second's
    second and so on, so that they come from all of the run.
    """
    played = [record for record in records if record["task"] is not None]
    taken: set[int] = set()
    for why, measure in EXTREMES.items():
        best: tuple[float, Record] | None = None
        for record in played:
            value = measure(record) if record["iteration"] not in taken else None
            if value is not None and (best is None or value > best[0]):
                best = value, record
        if best:
            taken.add(best[1]["iteration"])
            yield best[1], why
    by_topic: dict[str, list[Record]] = {}
    for record in played:
        by_topic.setdefault(record["topic"], []).append(record)
    for turn, those in enumerate(list(by_topic.values())[:_TOPICS]):
        left = [record for record in those if record["iteration"] not in taken]
        if left:
            record = left[turn % len(left)]
            taken.add(record["iteration"])
            yield record, _of_topic(len(those))


def _of_topic(iterations: int) -> str:
    if iterations == 1:
        return Statement("reading.alone", "alone on its topic")
    return Statement("reading.topic", "one of {iterations} on its topic", iterations=iterations)


def _highest(record: Record) -> float | None:
    return max(_scores(record), default=None)


def _lowest(record: Record) -> float | None:
    return -min(scores) if (scores := _scores(record)) else None


def _widest(record: Record) -> float | None:
    return max((pstdev(column) for column in _columns(record)), default=None)


def _apart(record: Record) -> float | None:
    scores = _scores(record)
    return pstdev(scores) if len(scores) > 1 else None


def _alike(record: Record) -> float | None:
    apart = _apart(record)
    return None if apart is None else -apart


RATINGS = "who gave which rating"
"""What all ratings stand under where judges are many."""
EXTREMES: Mapping[str, Measure] = {
    "the highest score of an answer": _highest,
    "the lowest score of an answer": _lowest,
    "an answer that judges disagree on most": _widest,
    "the answers that lie farthest apart": _apart,
    "the answers that lie closest together": _alike,
}


def _scores(record: Record) -> list[float]:
    """Return the scores of answers that have words."""
    return [
        score
        for model, score in record["scores"].items()
        if score is not None and not is_empty(record["answers"][model])
    ]


def _columns(record: Record) -> Iterator[list[int]]:
    """Yield the ratings of each answer that more than one judge rated."""
    for model in record["answers"]:
        got = [row.get(model) for row in record["judgments"].values()]
        ratings = [rating for rating in got if rating is not None]
        if len(ratings) > 1:
            yield ratings


def _item(record: Record, why: str) -> Item:
    labels = ", ".join(part for part in (record["difficulty"], record["topic"]) if part)
    by = f"by {record['generator']}" if record["generator"] else "given"
    line = f"Iteration {record['iteration']}: {', '.join(it for it in (labels, by) if it)}: {why}"
    unanswered = {
        call["model"]: f"no answer ({call['finish']}: {call['why']})"
        for call in record.get("unanswered", ())
        if call["key"].endswith("/answer")
    }
    got = {
        model: {judge: row[model] for judge, row in record["judgments"].items() if model in row}
        for model, answer in record["answers"].items()
        if answer is not None and not is_empty(answer)
    }
    accepted = [it["ratings"] for it in record["attempts"] if it["accepted"]]
    of_task = accepted[-1] if accepted else {}
    few = max(map(len, (of_task, *got.values()))) <= LONG

    def rated(ratings: Mapping[str, int | None]) -> str:
        return f" (rated {given(ratings) if few else counted(ratings)})" if ratings else ""

    body = {f"task{rated(of_task)}": cut(record["task"], _MOST)}
    for model in sorted(record["answers"], key=lambda model: -(record["scores"][model] or 0)):
        answer, score = record["answers"][model], record["scores"][model]
        told = "no score" if score is None else f"{score:.2f}"
        text = "no reply" if answer is None else unanswered.get(model, answer)
        body[f"{model}: {told}{rated(got.get(model, {}))}"] = cut(text, _MOST)
    if not few:
        body[RATINGS] = "\n\n".join(
            f"{what}\n  {given(ratings, chr(10) + '  ')}"
            for what, ratings in (("task", of_task), *got.items())
            if ratings
        )
    return Item(line, body, unit=addresses.iteration(record["iteration"]))
