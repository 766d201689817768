"""Where the improved grader differs from the methodology's: counts, examples, both accuracies."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from raybench import benchmarks
from raybench.benchmarks.parts.scores import Rules, Scores
from raybench.benchmarks.parts.tally import Tally, Unit
from raybench.statements import Statement
from raybench.tracking.report import Item, Section, Table
from raybench.types import Estimate

FILE = "grader_differences.jsonl"
"""Every unit that the two grade differently, in the run's folder."""
_EXAMPLES = 5
"""Of each kind, model and benchmark."""
_END = 600
"""Characters of a reply's end that are shown."""
_OURS = "grader=improved"
NOTE = (
    "improved: stricter than the methodology's rules, and reads more; compares with no published "
    "number"
)
"""What report and terminal say of who graded."""
TITLE = "Where the improved grader differs from parity"
THEIRS = "graded by the methodology's script alone"
_TOLD = {
    "agree": "agree",
    "improved": "right to improved, wrong to parity",
    "parity": "wrong to improved, right to parity",
}
"""Both say the same, or one of them alone says that a reply is right."""

Metrics = dict[str, dict[str, Estimate]]


class Differences:
    """What the two graders made of the same replies, added up as units come.

    Both are compared without the checker, who decides after them.
    """

    def __init__(self) -> None:
        self.parity = Tally()
        """What the run would be if parity's script had decided."""
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._examples: dict[tuple[str, str, str], list[dict[str, Any]]] = {}

    def enter(self, unit: Unit, record: Mapping[str, Any]) -> None:
        """Count a record of the journal, which is the unit as the improved grader sees it."""
        if (theirs := record.get("parity")) is None:  # no reply, or none that could be graded
            self.parity.add(unit)
            return
        parsed = theirs["answer"] is not None
        self.parity.add(
            replace(
                unit,
                correct=theirs["correct"],
                parsed=parsed,
                by="script" if parsed else None,
                judge_error=False,
            )
        )
        place = (unit.benchmark, unit.model, _kind(record))
        self._counts[place] += 1
        if place[2] != "agree" and self._counts[place] <= _EXAMPLES:
            self._examples.setdefault(place, []).append(_row(record))

    def marked(self, metrics: Metrics, rules: Rules) -> Metrics:
        """Return the metrics with parity's accuracies beside them, and who graded said of each."""
        scores = Scores(self.parity, rules)
        found: Metrics = {}
        for model, held in metrics.items():
            found[model] = {key: _said(key, estimate) for key, estimate in held.items()}
            for name in self.parity.benchmarks():
                theirs = scores.accuracy(model, name)
                if theirs.value is not None:
                    theirs = replace(theirs, method=f"{theirs.method}; {THEIRS}")
                found[model][f"{name}/parity_accuracy"] = theirs
        return found

    def section(self, metrics: Mapping[str, Mapping[str, Estimate]]) -> Section:
        """Return the report's section: how often the two differ, and some of where."""
        rows = [
            (
                benchmarks.load(name).title,
                model,
                metrics[model][f"{name}/accuracy"].value,
                metrics[model][f"{name}/parity_accuracy"].value,
                *(self._counts[name, model, kind] for kind in _TOLD),
            )
            for name in self.parity.benchmarks()
            for model in metrics
        ]
        heads = ("benchmark", "model", "accuracy", "parity's accuracy", *_TOLD.values())
        return Section(
            TITLE,
            "This run was graded by grader=improved, which is stricter than the methodology's "
            "rules and reads more: its scores cannot be compared with published ones. Parity is "
            "what those rules say of the same replies. Both are counted as their scripts decide; "
            "the accuracy has a checker's decisions too, where there is one. " + self.told(),
            table=Table(heads, rows),
            items=[_item(place, each) for place in sorted(self._examples)
                   for each in self._examples[place]],
        )  # fmt: skip

    def told(self) -> str:
        """Say in how many replies the two differ."""
        differing = sum(n for (_, _, kind), n in self._counts.items() if kind != "agree")
        shown = sum(map(len, self._examples.values()))
        if not differing:
            return Statement("graders.agree", "They agree on all replies.")
        return Statement(
            "graders.differ",
            "Replies on which they differ: {replies:,}, all in {file}; shown below: {shown:,}.",
            replies=differing,
            file=FILE,
            shown=shown,
        )


def differing(journal: Path) -> Iterator[dict[str, Any]]:
    """Yield every unit of a journal that the two grade differently."""
    with journal.open("rb") as lines:
        for line in lines:
            record = json.loads(line)
            if record.get("parity") and _kind(record) != "agree":
                yield _row(record)


def _kind(record: Mapping[str, Any]) -> str:
    ours = record["correct"] and record["by"] != "checker"
    if ours == record["parity"]["correct"]:
        return "agree"
    return "improved" if ours else "parity"


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    names = ("model", "benchmark", "key", "language", "repeat", "truth", "parity")
    reading = {name: record[name] for name in ("correct", "answer", "reason", "by")}
    return (
        {name: record.get(name) for name in names}
        | {"improved": reading}
        | {"finish": record["finish"], "reply_end": record["response"][-_END:]}
    )


def _said(key: str, estimate: Estimate) -> Estimate:
    """Return a score with who graded in its method; other metrics as they are."""
    head, *rest = key.split("/")
    scored = rest[:1] == ["accuracy"] or (head == "index" and len(rest) == 1)
    if not scored or estimate.value is None:
        return estimate
    return replace(estimate, method=f"{estimate.method}; {_OURS}")


def _item(place: tuple[str, str, str], unit: Mapping[str, Any]) -> Item:
    def read(reading: Mapping[str, Any]) -> str:
        answer = reading["answer"]
        said = "nothing could be read" if answer is None else f"'{answer}'"
        return f"{said}: {'right' if reading['correct'] else 'not right'}"

    ours = unit["improved"]
    return Item(
        f"{unit['benchmark']} {unit['key']} ({unit['language']}), repeat {unit['repeat']}, "
        f"{unit['model']}: {_TOLD[place[2]]}",
        {
            "right": str(unit["truth"]),
            "improved": f"{read(ours)} ({ours['reason']})",
            "parity": read(unit["parity"]),
            f"end of the reply ({unit['finish']})": unit["reply_end"],
        },
    )
