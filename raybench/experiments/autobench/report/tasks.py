"""The tasks: whose were accepted, on which topics, and those that were turned down."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from raybench.autobench import tasks
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.autobench.sources import Sources
from raybench.autobench.tasks import FATES, Attempt, Tally
from raybench.experiments.autobench.report.texts import LONG, cut
from raybench.statements import Statement
from raybench.tracking.report import AS_ABOVE, Item, Section, Table, Value

_SHOWN = 8
"""Rejected tasks of each generator whose texts the report shows."""
_MOST = 1500
"""Characters of such a text."""


def sections(records: Sequence[Record], protocol: Settings) -> Iterator[Section]:
    """Yield what became of the tasks by generator, topic and difficulty; given ones are counted."""
    tried = list(tasks.attempts(records, protocol))
    found = sum(record["task"] is not None for record in records)
    if not tried:
        again = Sources.of(records, protocol).again
        text = Statement(
            "tasks.given",
            "Iterations with a task: {found:,} of {iterations:,}; none was generated.{again}",
            found=found,
            iterations=len(records),
            again=f" {again}" if again else "",
        )
        yield Section("Tasks", text)
        return
    by = tasks.tallies(tried, lambda it: it.generator, protocol.models)
    yield Section(
        "Tasks",
        Statement(
            "tasks.tried",
            "Iterations with a task: {found:,} of {iterations:,} (tries: {tries:,}). A "
            "generator's share of accepted tasks counts only tasks that judges could decide on: "
            "failed calls do not count against it.",
            found=found,
            iterations=len(records),
            tries=len(tried),
        ),
        table=_table("generator", by),
        folded=f"Tasks of {len(by)} generators" * (len(by) > LONG),
    )
    others: tuple[tuple[str, Callable[[Attempt], str], Sequence[str]], ...] = (
        ("topic", lambda it: it.topic, protocol.topics),
        ("difficulty", lambda it: it.difficulty, [it.label for it in protocol.difficulties]),
    )
    for kind, of, names in others:
        every = tasks.tallies(tried, of, names)
        by = {name: it for name, it in every.items() if sum(it.fates.values())}
        if len(by) > 1:
            yield Section(
                f"Tasks by {kind}",
                table=replace(_table(kind, by), caption=AS_ABOVE),
                folded=f"Tasks of {len(by)} kinds" * (len(by) > LONG),
            )
    yield from _rejected(tried, protocol)


def _table(kind: str, by: Mapping[str, Tally]) -> Table:
    fates = [
        fate for fate in FATES if fate == "accepted" or any(it.fates[fate] for it in by.values())
    ]
    faults = any(it.faults for it in by.values())
    rows: list[Sequence[Value]] = [
        (
            name,
            it.proposed,
            *(it.fates[fate] for fate in fates),
            *([it.faults] if faults else []),
            it.accepted,
            it.mean,
        )
        for name, it in by.items()
    ]
    told = [f"{fate}: {FATES[fate]}" for fate in fates]
    told += ["with faults: those turned down for it, and those that were only marked"] * faults
    return Table(
        (kind, "proposed", *fates, *(["with faults"] if faults else []), "share accepted",
         "mean rating"),
        rows,
        caption=f"{'; '.join(told).capitalize()}. Share accepted: of those that could be decided "
        "upon. Mean rating: of the weighted means of all rated tasks, accepted or not. With 95 % "
        "intervals, clustered by iteration: a generator that fails is asked again.",
    )  # fmt: skip


def _rejected(tried: Sequence[Attempt], protocol: Settings) -> Iterator[Section]:
    rejected = [it for it in tried if it.fate != "accepted"]
    items = []
    for generator in protocol.models:
        those = [it for it in rejected if it.generator == generator]
        shown = those[-_SHOWN:]
        part = f"the last {len(shown)} of " if len(shown) < len(those) else ""
        items += [_item(it, f"{generator}: {part}{len(those)} rejected") for it in shown]
    if items:
        yield Section(
            "Rejected tasks",
            Statement(
                "tasks.rejected",
                "{rejected:,} of {tries:,} tries were rejected; {shown:,} of them are below, by "
                "generator, and all of them are in the journal.",
                rejected=len(rejected),
                tries=len(tried),
                shown=len(items),
            ),
            items=items,
        )


def _item(attempt: Attempt, group: str) -> Item:
    ratings = (
        f"weighted mean {attempt.mean:.2f}, weighted median {attempt.median:g}"
        if attempt.mean is not None and attempt.median is not None
        else "no ratings"
    )
    line = f"Iteration {attempt.iteration}: {attempt.difficulty}, {attempt.topic}: {attempt.why}"
    return Item(line, {f"task ({ratings})": cut(attempt.text, _MOST) or "(nothing)"}, group=group)
