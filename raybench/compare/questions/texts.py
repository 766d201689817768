"""The questions that flipped, as they were put: looked up where they lie on this machine.

Nothing is fetched, and nothing is said where files are not there or changed since: what was put is
then in the run's report.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from raybench import benchmarks
from raybench.compare.found import Compared, Flip, Flips, Side
from raybench.compare.runs import Stored
from raybench.config import DataConf
from raybench.errors import RaybenchError
from raybench.pipeline import put, questions, sources
from raybench.pipeline.stages import Asking
from raybench.pipeline.store import CONFIG
from raybench.pipeline.terms import asking_of
from raybench.pipeline.typed import config_in
from raybench.tracking.text import clipped

Key = tuple[str, str]
"""A question's language and id."""


def filled(found: Sequence[Compared]) -> list[Compared]:
    """Return the same with the texts of flipped questions; every file is read once."""
    rows: dict[tuple[Any, str], Mapping[Key, Mapping[str, Any]]] = {}
    wanted: dict[tuple[Any, str], set[Key]] = {}
    for it in found:
        for of in it.flips:
            name = (it.pair.candidate.run.folder, of.benchmark)
            wanted.setdefault(name, set()).update((flip.language, flip.key) for flip in of.items)
    runs = {it.pair.candidate.run.folder: it.pair.candidate.run for it in found}
    shown = {folder for (folder, _), keys in wanted.items() if keys}
    asking = {folder: _asking(runs[folder]) for folder in shown}
    for (folder, benchmark), keys in wanted.items():
        rows[folder, benchmark] = _rows(runs[folder], benchmark, keys)
    return [
        replace(
            it,
            flips=[
                _filled(of, side, rows[side.run.folder, of.benchmark], asking.get(side.run.folder))
                for side in (it.pair.candidate,)
                for of in it.flips
            ],
        )
        for it in found
    ]


def _rows(run: Stored, benchmark: str, keys: set[Key]) -> Mapping[Key, Mapping[str, Any]]:
    found: dict[Key, Mapping[str, Any]] = {}
    of, told = benchmarks.load(benchmark), run.config.get("data")
    if not keys or not isinstance(told, Mapping):
        return found
    names = {field.name for field in fields(DataConf)}
    conf = DataConf(**{name: value for name, value in told.items() if name in names})
    languages = tuple({language for language, _ in keys})
    # Files that are gone or wrong now were read by the run: that is no mistake here.
    with contextlib.suppress(RaybenchError, OSError, ValueError, LookupError):
        if sources.at_hub(conf) and not sources.is_here(of, languages):
            return found
        for question in questions.of(of, sources.find(of, conf, languages)):
            if (place := (question.language, question.key)) in keys:
                found[place] = question.row
                if len(found) == len(keys):
                    break
    return found


def _filled(
    flips: Flips, side: Side, rows: Mapping[Key, Mapping[str, Any]], asking: Asking | None
) -> Flips:
    if flips.withheld or asking is None:
        return flips
    items = [
        replace(it, question=_question(it, flips.benchmark, side, row, asking))
        if (row := rows.get((it.language, it.key))) is not None
        else it
        for it in flips.items
    ]
    return replace(flips, items=items)


def _asking(run: Stored) -> Asking | None:
    """Return how a run put its questions; None where its settings are not those of this version."""
    with contextlib.suppress(RaybenchError):
        return asking_of(config_in(run.folder / CONFIG))
    return None


def _question(
    flip: Flip, benchmark: str, side: Side, row: Mapping[str, Any], asking: Asking
) -> str:
    """Return what the candidate was asked, all of it; '' where it is another question by now."""
    reply, of = flip.candidate, benchmarks.load(benchmark)
    record = {
        "model": side.model,
        "benchmark": benchmark,
        "language": flip.language,
        "key": flip.key,
        "repeat": reply.facts["repeat"],
        "finish": reply.record.get("finish"),
    }
    with contextlib.suppress(RaybenchError, ValueError, LookupError, TypeError):
        truth = reply.record.get("truth")
        if truth is not None and of.truth(row, draw=asking.draw(record)) != truth:
            return ""
        asked = {label: clipped(text) for label, text in put.asked(record, row, asking).items()}
        if len(asked) == 1:
            return next(iter(asked.values()))
        return "\n\n".join(f"{label}:\n{text}" for label, text in asked.items())
    return ""
