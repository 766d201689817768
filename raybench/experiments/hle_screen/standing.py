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
from raybench.experiments.hle_screen.register import Register
from raybench.experiments.hle_screen.reviewed import Reviews
from raybench.paths import expanded
from raybench.pipeline import revisions, store, written_once
from raybench.pipeline.digests import digest
from raybench.pipeline.revisions import Part, Revision
from raybench.pipeline.screenings import STATE_LABELS
from raybench.pipeline.written_once import Row, Rows
from raybench.statements import Statement

CANDIDATES, DATASET = "candidates", "dataset"
"""What a screening reads, as its inputs call it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What candidates are compared with."""

    register: Register
    """As it lies there, with the reviews that this screening was given."""
    rows: Rows
    """Of the newest revision that is none of this screening's own."""
    waiting: Rows
    """Unpublished questions of other screenings that reviewers may still approve."""
    removed: frozenset[str]
    """The ids of those of `rows` that leave the dataset, as reviewers decided against them."""
    gone: Mapping[int, Statement]
    """What rows said that do not come back as they were, and why not."""
    parts: Mapping[str, Part]
    """Where questions are, or were: revised ones stay on their side."""

    @classmethod
    def of(
        cls,
        config: Config,
        resolved: Mapping[str, Any],
        conclusions: Sequence[str],
        asked: str,
        reviews: Reviews,
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
        register = Register.read(folder).with_reviews(reviews)
        before = _before(folder, register.newest, own)
        rows = before.rows if before else ()
        published = {str(row["id"]) for row in rows}
        others = [it for it in register if it.run not in own and it.key not in published]
        removed = taken_out(config, register) & published
        gone = list(revisions.taken_out(folder))
        parts: dict[str, Part] = {str(it.row["id"]): it.part for it in gone if it.part != "public"}
        parts |= {it.key: it.part for it in register if it.panel == "accepted"}
        return cls(
            register,
            rows,
            tuple(it.row for it in others if it.active),
            removed,
            {
                said(it.row): _not_approved(it.key, it.decided.state)
                for it in others
                if it.key in register.dropped
            }
            | {said(it.row): _left(str(it.row["id"]), f"in revision {it.number}") for it in gone}
            | {
                said(row): _left(key, "by the reviews that are handed in now")
                for row in rows
                if (key := str(row["id"])) in removed
            },
            parts,
        )

    @property
    def newest(self) -> Revision | None:
        """Return the newest revision, as it lies there."""
        return self.register.newest

    @property
    def keys(self) -> frozenset[str]:
        """Return the ids of all questions that are there, published or not."""
        newest = self.newest.rows if self.newest else ()
        return frozenset(str(row["id"]) for row in (*self.rows, *newest, *self.waiting))

    @property
    def held_out(self) -> frozenset[str]:
        """Return the ids of questions of which nothing was published, and nothing may be."""
        return frozenset(key for key, part in self.parts.items() if part != "public")

    def digest(self) -> str:
        """Return the digest of what candidates are compared with."""
        return written_once.digest_of((*self.rows, *self.waiting))

    def compared(self) -> Rows:
        """Return what candidates are compared with: nothing that leaves the dataset."""
        stays = (row for row in self.rows if str(row["id"]) not in self.removed)
        return (*stays, *self.waiting)


def taken_out(config: Config, register: Register) -> frozenset[str]:
    """Return the ids of the questions that leave the dataset, as far as reviewers say so.

    Without the two rounds only what they reject leaves.
    """
    if config.hle_screen.review == "required":
        return register.dropped
    return frozenset(
        key for key in register.dropped if register.entries[key].decided.state == "rejected"
    )


def _before(folder: Path, revision: Revision | None, own: Collection[str]) -> Revision | None:
    while revision is not None and revision.about["run"] in own:
        parent = revision.about["parent"]
        revision = None if parent is None else revisions.read(folder, parent)
    return revision


def _left(key: str, when: str) -> Statement:
    return Statement(
        "screening.back",
        "'question' is unchanged from '{id}', which left the dataset {when}: change what reviewers "
        "found and keep that id, or remove it from the file",
        id=key,
        when=when,
    )


def _not_approved(key: str, state: str) -> Statement:
    return Statement(
        "screening.not_approved",
        "'question' is unchanged from '{id}', which reviewers did not approve ({label}): change "
        "what they found and keep that id, or remove it from the file",
        id=key,
        state=state,
        label=STATE_LABELS[state],
    )


def said(row: Row) -> int:
    """Return a number for what a question says, whatever its id."""
    return digest({**candidates.in_columns(row), "id": ""})
