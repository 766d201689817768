"""The dataset as a screening finds it, but for what the very same screening put there before.

A screening that was killed after it published, and before it was finished, goes on: its own
questions must not turn its candidates into repeats of themselves.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench.benchmarks.parts.hle.screening import candidates
from raybench.config import Config
from raybench.paths import expanded
from raybench.pipeline import revisions, store, written_once
from raybench.pipeline.digests import digest
from raybench.pipeline.revisions import Revision
from raybench.pipeline.written_once import Row, Rows

CANDIDATES, DATASET = "candidates", "dataset"
"""What a screening reads, as its inputs call it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What candidates are compared with."""

    newest: Revision | None
    """As it lies there."""
    rows: Rows
    """Of the newest revision that is none of this screening's own."""
    taken_out: Mapping[int, int]
    """What rows said that left the dataset, and in which revision: they do not come back."""
    held_out: frozenset[str]
    """The ids of those of them that were never published: mended ones are not, either."""

    @classmethod
    def of(
        cls, config: Config, resolved: Mapping[str, Any], conclusions: Sequence[str], asked: str
    ) -> "Standing":
        """Look at the dataset; `asked` is the digest of the candidates."""
        folder = expanded(config.hle_screen.dataset)
        own = {
            run.name
            for run in store.begun(
                Path(config.runs_dir), str(config.experiment), resolved, conclusions=conclusions
            )
            # One that began with other candidates is not gone on with.
            if config.resume and store.inputs_of(run).get(CANDIDATES) == asked
        }
        newest = revisions.read(folder)
        before = _before(folder, newest, own)
        gone = list(revisions.taken_out(folder))
        return cls(
            newest,
            before.rows if before else (),
            {said(it.row): it.number for it in gone},
            frozenset(str(it.row["id"]) for it in gone if it.held_out),
        )

    @property
    def keys(self) -> frozenset[str]:
        """Return the ids of all questions that are there."""
        newest = self.newest.rows if self.newest else ()
        return frozenset(str(row["id"]) for row in (*self.rows, *newest))

    def digest(self) -> str:
        """Return the digest of what candidates are compared with."""
        return written_once.digest_of(self.rows)

    def without(self, keys: Collection[str]) -> Rows:
        """Return what candidates are compared with when some questions go."""
        return tuple(row for row in self.rows if str(row["id"]) not in keys)


def _before(folder: Path, revision: Revision | None, own: Collection[str]) -> Revision | None:
    while revision is not None and revision.about["run"] in own:
        parent = revision.about["parent"]
        revision = None if parent is None else revisions.read(folder, parent)
    return revision


def said(row: Row) -> int:
    """Return a number for what a question says, whatever its id."""
    return digest({**candidates.in_columns(row), "id": ""})
