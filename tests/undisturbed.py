"""Whether a run that was disturbed came to what an undisturbed one came to, by their journals."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import last_run, results_of

from raybench.pipeline.units import unit_id

Record = Mapping[str, Any]

KEYS: dict[str, tuple[str, Callable[[Record], Any]]] = {
    "index": ("units", unit_id),
    "autobench": ("iterations", lambda record: record["iteration"]),
    "games": ("matches", lambda record: record["match"]),
}
"""By experiment, the journal of its units, and what a unit is known by."""


@dataclass(frozen=True)
class Verdict:
    """What became of the units of a disturbed run."""

    planned: int
    lost: int
    doubled: int
    alike: bool
    """Its results are those of the undisturbed one."""


def journal(folder: Path, experiment: str) -> list[dict[str, Any]]:
    """Return the whole lines of the last run's journal of units by now."""
    try:
        path = last_run(folder, experiment) / "journal" / f"{KEYS[experiment][0]}.jsonl"
        whole = path.read_bytes().rpartition(b"\n")[0]
    except (FileNotFoundError, ValueError):
        return []
    return [json.loads(line) for line in whole.splitlines()]


def compared(rough: Path, calm: Path, experiment: str) -> Verdict:
    """Hold a disturbed run against an undisturbed one with the same completions."""
    name = KEYS[experiment][1]
    planned = {*map(name, journal(calm, experiment))}
    found = Counter(map(name, journal(rough, experiment)))
    numbers = [
        {part: results_of(folder, experiment)[part] for part in ("models", "counts", "agreement")}
        for folder in (rough, calm)
    ]
    return Verdict(
        len(planned),
        len(planned - found.keys()),
        sum(found.values()) - len(planned & found.keys()),
        numbers[0] == numbers[1],
    )
