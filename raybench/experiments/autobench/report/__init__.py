"""What the report of a peer assessment shows."""

from collections.abc import Mapping, Sequence
from typing import Any

from raybench.autobench import summary
from raybench.autobench.analysis.whole import Analysed
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.experiments.autobench.report import echoes, standing, validation
from raybench.tracking import plots
from raybench.tracking.report import Item, Section, Table

_SHOWN = 5
"""Iterations whose texts the report shows."""


def sections(
    records: Sequence[Record],
    protocol: Settings,
    metrics: Mapping[str, Mapping[str, Any]],
    analysed: Analysed,
) -> list[Section]:
    """Return the sections of the report."""
    models = protocol.models
    judged = summary.mean_judgments(records, models)
    proposed = sum(len(record["attempts"]) for record in records)
    tasks = sum(record["task"] is not None for record in records)
    return [
        *standing.sections(analysed, metrics),
        *validation.sections(analysed),
        Section(
            "Judging weights",
            "Each model's weight as a judge after every iteration: its share of the scores.",
            figure=plots.lines(
                {model: [record["weights"][model] for record in records] for model in models},
                xlabel="iteration",
                ylabel="weight",
            ),
        ),
        Section(
            "Convergence",
            "L1 distance between successive weight vectors; it falls as the consensus settles.",
            figure=plots.lines(
                {"L1": summary.convergence(records, protocol)},
                xlabel="iteration",
                ylabel="L1 distance",
            ),
        ),
        Section(
            "Who rates whom",
            "Mean rating that each judge (row) gave each contestant (column).",
            figure=plots.heatmap(
                [[judged[judge][contestant] for contestant in models] for judge in models],
                rows=list(models),
                columns=list(models),
                label="mean rating",
            ),
        ),
        *echoes.sections(analysed),
        Section(
            "Tasks",
            f"{tasks} of {len(records)} iterations found a task, {proposed} were proposed.",
            table=Table(
                columns=("generator", "proposed", "accepted"),
                rows=[
                    (model, len(tried), sum(attempt["accepted"] for attempt in tried))
                    for model, tried in summary.attempts(records, models).items()
                ],
            ),
        ),
        Section(
            "Read them",
            f"The last {min(_SHOWN, len(records))} iterations; the journal has them all.",
            items=[_item(record) for record in records[-_SHOWN:]],
        ),
    ]


def _item(record: Record) -> Item:
    summary_line = (
        f"Iteration {record['iteration']}: {record['difficulty']}, {record['topic']}, "
        f"by {record['generator']}"
    )
    if record["task"] is None:
        return Item(summary_line, {"no task was accepted": str(len(record["attempts"]))})
    unanswered = {
        call["model"]: f"no answer ({call['finish']}: {call['why']})"
        for call in record.get("unanswered", ())
        if call["key"].endswith("/answer")
    }
    body = {"task": record["task"]}
    for model, answer in record["answers"].items():
        score = record["scores"][model]
        given = ", ".join(str(row[model] or "-") for row in record["judgments"].values())
        label = f"{model}: {'no score' if score is None else f'{score:.2f}'} (ratings {given})"
        body[label] = "no reply" if answer is None else unanswered.get(model, answer)
    return Item(summary_line, body)
