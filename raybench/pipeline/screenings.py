"""What is left to review of datasets that screenings make, and the command that takes reviews."""

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench.benchmarks.parts.hle.screening.decisions import WAITING
from raybench.paths import expanded
from raybench.pipeline import revisions
from raybench.pipeline.store import RESULTS
from raybench.reading import from_json

EXPERIMENT = "hle_screen"
ASKED = "roster=ROSTER"
"""What people fill in themselves in the command of an exam."""
TO_FILL_IN = " (replace the words in capitals)"
"""What goes with a command that has such words: FILE, ROSTER, SHEET."""
STATE_LABELS: Mapping[str, str] = {
    "candidate": "undecided by the panel",
    "passed_panel": "waiting for round 1 of review",
    "first_round": "waiting for round 2 of review",
    "to_audit": "waiting for a web search by a reviewer (round 3)",
    "approved": "approved",
    "published": "published",
    "held_out": "held out",
    "revise": "to be revised",
    "low_score": "low score, not published",
    "rejected": "rejected",
}
"""What people are told of a question's state, which states.jsonl has by name."""
RUNS = "runs"
"""The folder of runs where no other is named."""
_DATASET = "hle_rolling"
_PLAIN = re.compile(r"[\w./+@%-]+")
"""What Hydra reads as it stands, within a list or alone."""


@dataclass(frozen=True, slots=True)
class ScreenedDataset:
    """A dataset that screenings grow, as the newest of their runs left it."""

    folder: str
    """As that run was given it."""
    states: Counter[str]
    """How many questions are in each state."""
    published: bool
    """There is a revision that publishes questions."""
    sheets: tuple[str, ...]
    """The review sheets that the run wrote."""

    @property
    def waits(self) -> bool:
        """Tell whether questions wait for reviews."""
        return any(self.states[name] for name in WAITING)


def in_words(counts: Mapping[str, int]) -> str:
    """Return how many questions are in which state, for people."""
    return "; ".join(f"{STATE_LABELS.get(name, name)}: {it:,}" for name, it in counts.items())


def screen_command(*settings: str, dataset: str, runs_dir: str) -> str:
    """Return the command of a screening into a dataset, ready for a shell."""
    return " ".join(
        ["python -m raybench +experiment=hle_screen", *settings, *_places(dataset, runs_dir)]
    )


def hand_in_command(sheets: Sequence[str | Path], *, dataset: str, runs_dir: str) -> str:
    """Return the command that takes review sheets back, ready for a shell."""
    listed = ",".join(_value(str(sheet)) for sheet in sheets) or "SHEET"
    return screen_command(shlex.quote(f"reviewed=[{listed}]"), dataset=dataset, runs_dir=runs_dir)


def exam_command(dataset: str, *, runs_dir: str) -> str:
    """Return the command of an exam over what a dataset publishes, ready for a shell."""
    where = _places(dataset, runs_dir, setting="data.dir")
    return " ".join(["python -m raybench +experiment=hle data=rolling", *where, ASKED])


def held_out_command(folder: str, *, runs_dir: str) -> str:
    """Return the command of an exam over a held-out part of a revision, ready for a shell."""
    where = [shlex.quote(f"data.dir={_value(folder)}"), *_runs(runs_dir)]
    return " ".join(["python -m raybench +experiment=hle", *where, ASKED])


def find_datasets(runs_dir: Path) -> list[ScreenedDataset]:
    """Return the datasets of the screenings below a folder of runs, the latest one first."""
    found: dict[Path, ScreenedDataset] = {}
    for run in sorted((runs_dir / EXPERIMENT).glob("*/"), reverse=True):
        try:
            told: dict[str, Any] = from_json((run / RESULTS).read_bytes())["run"]["screening"]
            given = str(told["dataset"])
            sheets = tuple(map(str, told.get("sheets", ())))
        except (OSError, ValueError, LookupError, TypeError):
            continue
        folder = expanded(given)
        if folder.absolute() not in found:
            states = revisions.states(folder)
            found[folder.absolute()] = ScreenedDataset(
                given, states, states["published"] > 0, sheets
            )
    return list(found.values())


def _places(dataset: str, runs_dir: str, setting: str = "dataset") -> list[str]:
    """Return the settings that name the dataset and the runs, without those that have defaults."""
    default = f"{runs_dir}/{_DATASET}"
    given = [] if dataset == default else [shlex.quote(f"{setting}={_value(dataset)}")]
    return [*given, *_runs(runs_dir)]


def _runs(runs_dir: str) -> list[str]:
    return [] if runs_dir == RUNS else [shlex.quote(f"runs_dir={_value(runs_dir)}")]


def _value(text: str) -> str:
    """Return a text as Hydra reads it, within a list or alone."""
    if _PLAIN.fullmatch(text):
        return text
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', text)
    return f'"{escaped}"'
