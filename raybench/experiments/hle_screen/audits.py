"""Audits: experts solve questions drawn from what is published; how often they disagree.

    FOLDER/audits.jsonl   a line for each audit: the questions drawn, and what auditors made of each

As HLE's authors did it, what an auditor flags is discussed until there is a consensus, and the next
audit draws from the questions that no earlier one had.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self, get_args

from raybench.benchmarks.parts.hle.screening.decisions import Review
from raybench.benchmarks.parts.hle.screening.rubric import AUDIT, CONSENSUS
from raybench.errors import ConfigurationError, Problem
from raybench.experiments.hle_screen.register import Register
from raybench.pipeline import revisions, whole
from raybench.pipeline.revisions import Revision
from raybench.reading import from_json
from raybench.stats import intervals
from raybench.types import Estimate

VERSION = 1
FILE = "audits.jsonl"
Verdict = Literal["waiting", "agreed", "flagged", "overruled", "confirmed"]
"""waiting: no auditor answered. agreed: all who did agree with the question and its answer.
flagged: one does not, and there is no consensus yet. overruled: the consensus is that the question
is right. confirmed: the consensus is that it is not."""
_VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Audit:
    """A sample of questions, and what auditors made of it."""

    number: int
    run: str
    """The screening that drew it."""
    revision: int
    seed: int
    verdicts: Mapping[str, Verdict]

    @property
    def counts(self) -> Counter[Verdict]:
        """Return how many questions have each verdict."""
        return Counter(self.verdicts.values())

    @property
    def audited(self) -> int:
        """Return how many questions an auditor answered."""
        return len(self.verdicts) - self.counts["waiting"]

    @property
    def disagreement(self) -> Estimate:
        """Return the share of audited questions with which experts disagree.

        Without a consensus so far a flagged question counts as one.
        """
        count = self.counts["flagged"] + self.counts["confirmed"]
        return intervals.share(count, self.audited, over="audited questions")

    @property
    def by_one(self) -> Estimate:
        """Return the share of audited questions that a single auditor flagged."""
        count = self.audited - self.counts["agreed"]
        return intervals.share(count, self.audited, over="audited questions")

    def followed(self, register: Register) -> Self:
        """Return the audit with the verdicts that the register's reviews give.

        Of a question that its author changed since, the verdict on the old version stays.
        """
        verdicts = {
            key: _verdict(register.entries[key].reviews if key in register.entries else ()) or was
            for key, was in self.verdicts.items()
        }
        return replace(self, verdicts=verdicts)

    def told(self) -> dict[str, Any]:
        """Return what results.json says of it."""
        return {
            "number": self.number,
            "revision": self.revision,
            "questions": len(self.verdicts),
            "audited": self.audited,
            **{name: self.counts[name] for name in _VERDICTS},
            "disagreement": self.disagreement.to_json(),
            "flagged_by_one": self.by_one.to_json(),
        }


def read(folder: Path) -> list[Audit]:
    """Return the audits of a dataset. Raises ConfigurationError where they cannot be read."""
    path = folder / FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [_of_json(from_json(line)) for line in lines]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ConfigurationError(
            Problem(
                "file.unreadable",
                f"{path} cannot be read ({error!r})",
                setting="hle_screen.dataset",
                given=str(path),
                fix="put back the file as raybench wrote it",
            )
        ) from error


def write(folder: Path, audits: Iterable[Audit]) -> None:
    """Write the audits of a dataset. Raises RunFailed."""
    lines = (
        {
            "version": VERSION,
            "number": it.number,
            "run": it.run,
            "revision": it.revision,
            "seed": it.seed,
            "verdicts": dict(it.verdicts),
        }
        for it in audits
    )
    try:
        whole.write(folder / FILE, (f"{json.dumps(it, ensure_ascii=False)}\n" for it in lines))
    except OSError as error:
        raise revisions.unwritable(folder, error) from error


def undrawn(audits: Iterable[Audit], revision: Revision | None) -> list[str]:
    """Return the ids of the published questions that no audit has drawn."""
    drawn = {key for it in audits for key in it.verdicts}
    published = revision.public if revision else ()
    return sorted({str(row["id"]) for row in published} - drawn)


def draw(
    audits: Sequence[Audit], revision: Revision, size: int, *, run: str, seed: int
) -> list[Audit]:
    """Return the audits with another sample; a run that goes on has drawn its own already."""
    left = undrawn(audits, revision)
    if not left or any(it.run == run for it in audits):
        return list(audits)
    number = len(audits) + 1
    chosen = random.Random(f"{seed}/{number}").sample(left, min(size, len(left)))
    verdicts: dict[str, Verdict] = dict.fromkeys(sorted(chosen), "waiting")
    return [*audits, Audit(number, run, revision.number, seed, verdicts)]


def _verdict(reviews: Sequence[Review]) -> Verdict | None:
    auditors = {it.decision for it in reviews if it.round == AUDIT}
    consensus = {it.decision for it in reviews if it.round == CONSENSUS}
    if not auditors:
        return None
    if auditors == {"accept"}:
        return "agreed"
    if not consensus:
        return "flagged"
    return "overruled" if consensus == {"accept"} else "confirmed"


def _of_json(values: Mapping[str, Any]) -> Audit:
    if values["version"] != VERSION:
        raise ValueError(f"version {values['version']} is not {VERSION}")
    return Audit(**{name: values[name] for name in Audit.__slots__})
