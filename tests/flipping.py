"""Whether what flipped opens in the reports of the runs that were compared."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reading import listed

from raybench.compare import ways
from raybench.compare.finding import Named
from raybench.compare.runs import Stored


def opened(*runs: Path) -> int:
    """Return how many links there are: each opens the unit of the line that it is told of."""
    named = [Named(str(it), Stored.at(it)) for it in runs]
    found, _ = ways.compared(named, ways.Wanted())
    read = {it: listed((it / "report.html").read_text(encoding="utf-8")) for it in runs}
    links = 0
    for pair in found:
        for flip in (flip for of in pair.flips for flip in of.items):
            for side, reply in (
                (pair.pair.baseline, flip.baseline),
                (pair.pair.candidate, flip.candidate),
            ):
                assert read[side.run.folder][reply.unit] == reply.line, flip.title
                links += 1
    return links


def otherwise(run: Path, to: Path, journal: str, change: Callable[[Any], None]) -> Path:
    """Return a copy of a run in a folder, with every record of a journal changed."""
    copy = to / run.name
    shutil.copytree(run, copy)
    path = copy / "journal" / f"{journal}.jsonl"
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    for it in records:
        change(it)
    path.write_text("".join(f"{json.dumps(it)}\n" for it in records))
    return copy
