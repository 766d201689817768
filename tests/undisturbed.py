"""Whether a run that was disturbed came to what an undisturbed one came to, by their journals."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
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
    other: tuple[str, ...] = ()
    """Where its results are not those of the undisturbed one, and what they say there."""


def journal(folder: Path, experiment: str) -> list[dict[str, Any]]:
    """Return the whole lines of the last run's journal of units by now."""
    try:
        return _lines(last_run(folder, experiment), experiment)
    except (FileNotFoundError, ValueError):
        return []


def count_units(folder: Path, experiment: str) -> int:
    """Return how many whole lines the last run's journal has, without reading them as JSON."""
    try:
        run = last_run(folder, experiment)
    except (FileNotFoundError, ValueError):
        return 0
    return _whole(run, experiment).count(b"\n")


def compared(rough: Path, calm: Path, experiment: str) -> Verdict:
    """Hold a disturbed run against an undisturbed one with the same completions.

    Units count in whichever run folders they are: one that was begun anew from nothing, where the
    first was to be gone on with, has them doubled.
    """
    name, results = KEYS[experiment][1], results_of(calm, experiment)
    planned = {*map(name, journal(calm, experiment))}
    assert len(planned) == results["run"]["units"], "the undisturbed run is not whole"
    folders = (rough / "runs" / experiment).iterdir()
    found = Counter(name(it) for folder in folders for it in _lines(folder, experiment))
    return Verdict(
        len(planned),
        len(planned - found.keys()),
        sum(found.values()) - len(planned & found.keys()),
        tuple(_differences(_lasting(results), _lasting(results_of(rough, experiment)))),
    )


_PASSING = {
    *("id", "finished", "resumed", "seconds_this_session", "mlflow_run_id", "command"),
    *("calls", "reused"),  # also of what was asked again
    *("programs", "hardware"),  # where it ran
    "git",  # who breaks things for an hour may write code meanwhile
}
"""What results.json says of the run that is another thing each time."""


def _lasting(results: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what results say that has to be the same whatever happened on the way."""
    run = {key: it for key, it in results["run"].items() if key not in _PASSING}
    return {**results, "run": run, "fleet": None}


def _differences(calm: Any, rough: Any, where: str = "") -> Iterator[str]:
    if isinstance(calm, dict) and isinstance(rough, dict):
        for name in sorted({*calm, *rough}):
            yield from _differences(calm.get(name), rough.get(name), f"{where}/{name}")
    elif calm != rough:
        yield f"{where}: {rough} instead of {calm}"


def _lines(run: Path, experiment: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _whole(run, experiment).splitlines()]


def _whole(run: Path, experiment: str) -> bytes:
    """Return the lines of a journal that are written to their end."""
    try:
        text = (run / "journal" / f"{KEYS[experiment][0]}.jsonl").read_bytes()
    except FileNotFoundError:
        return b""
    return text[: text.rfind(b"\n") + 1]
