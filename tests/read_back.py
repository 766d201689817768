"""What Inspect finds in a folder of logs, as JSON: run by the interpreter of its environment."""

import json
import sys
from pathlib import Path
from typing import Any

# What messages_df makes its rows of; pandas, which it wants beside that, is in no list of ours.
from inspect_ai.analysis._dataframe.samples.table import (  # type: ignore[import-not-found]
    sample_messages_from_events,
)
from inspect_ai.log import (  # type: ignore[import-not-found]  # it is in no list of ours
    EvalLog,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
    recompute_metrics,
)


def scores(log: EvalLog) -> dict[str, Any]:
    """Return a log's scores by their names."""
    found = log.results.scores if log.results else []
    return {it.name: {name: metric.value for name, metric in it.metrics.items()} for it in found}


def read(path: str) -> dict[str, Any]:
    """Return what there is in a log, and what Inspect makes of its samples by its own metrics."""
    head, log = read_eval_log(path, header_only=True), read_eval_log(path)
    told = {
        "head": head.model_dump(mode="json", exclude={"samples"}),
        "scores": scores(log),
        "samples": [it.model_dump(mode="json") for it in log.samples or []],
        "texts": [it.output.message.text for it in log.samples or [] if it.output.choices],
        "messages": [
            [it.text for it in sample_messages_from_events(sample.events, None)]
            for sample in log.samples or []
        ],
        "listed": len(read_eval_log_sample_summaries(path)),
    }
    if log.results and any(it.scores for it in log.samples or []):
        recompute_metrics(log)
        told["recomputed"] = scores(log)
    return told


logs = list_eval_logs(sys.argv[1])
# As text in ASCII: what is no text in UTF-8 would end this.
Path(sys.argv[2]).write_text(
    json.dumps({it.name: {**read(it.name), "task": it.task} for it in logs})
)
