"""Review sheets on the disk: a table for people, what they are asked, and the images beside it."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from raybench.benchmarks.parts.hle import images
from raybench.benchmarks.parts.hle.screening import decisions, plain, review, rubric
from raybench.benchmarks.parts.hle.screening.review import Reviewed
from raybench.errors import Problem, RunFailed
from raybench.experiments.hle_screen.register import Registered
from raybench.pipeline import whole

REVIEW, AUDITED, GUIDE, IMAGES = "review", "audit", "review.md", "review_images"
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet that was written."""

    path: Path
    questions: int
    rounds: Counter[int]
    """How many of its questions have rows of each round."""
    held_out: bool
    """Its questions are held out, or would be."""

    @property
    def guide(self) -> Path:
        """Return where the reviewers' instructions lie."""
        return self.path.parent / GUIDE


def write(
    folder: Path, questions: Sequence[Registered], reviewers: int, *, name: str = REVIEW
) -> Sheet | None:
    """Write the sheet of some questions into a folder and return it; None where there are none.

    A sheet that is there and says something else is somebody's work: the new one lies beside it.
    """
    if not questions:
        return None
    try:
        shown = [
            Reviewed(
                it.row,
                it.evidence,
                (*it.notes, *decisions.told(it.reviews)),
                _image(folder, number, it),
                it.decided.rounds if name == REVIEW else (rubric.AUDIT, rubric.CONSENSUS),
            )
            for number, it in enumerate(questions, start=1)
        ]
        text = review.sheet(shown, reviewers=reviewers).encode()
        path, number = folder / f"{name}.csv", 1
        while path.exists() and path.read_bytes() != text:
            number += 1
            path = folder / f"{name}-{number}.csv"
        whole.write(path, [text])
    except OSError as error:
        raise _unwritable(folder, error) from error
    rounds = Counter(turn for it in shown for turn in set(it.rounds))
    return Sheet(path, len(shown), rounds, any(it.part != "public" for it in questions))


def write_guides(sheets: Sequence[Sheet], command: str) -> None:
    """Write the reviewers' instructions next to each sheet; `command` takes the sheets back."""
    for path in dict.fromkeys(sheet.guide for sheet in sheets):
        try:
            whole.write(path, [rubric.guide(command)])
        except OSError as error:
            raise _unwritable(path.parent, error) from error


def _unwritable(folder: Path, error: OSError) -> RunFailed:
    return RunFailed(
        Problem(
            "file.unwritable",
            f"the review sheet cannot be written to {folder}: {error}",
            fix="Fix that, then run again",
        )
    )


def _image(folder: Path, number: int, question: Registered) -> str:
    """Write a question's image, if it has one, and return where it lies, seen from the sheet."""
    uri = plain.text(question.row, "image")
    if not uri:
        return ""
    kind, data = images.decoded(uri)
    name = re.sub(r"[^\w.-]+", "_", question.key)[:_LONGEST]
    place = f"{IMAGES}/{number:04d}-{name}.{kind}"
    whole.write(folder / place, [data])
    return place
