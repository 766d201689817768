"""Review sheets on the disk: a table for people, what they are asked, and the images beside it."""

import re
from collections.abc import Sequence
from pathlib import Path

from raybench.benchmarks.parts.hle import images
from raybench.benchmarks.parts.hle.screening import decisions, plain, review, rubric
from raybench.benchmarks.parts.hle.screening.review import Reviewed
from raybench.errors import Problem, RunFailed
from raybench.experiments.hle_screen.register import Registered
from raybench.pipeline import whole

REVIEW, AUDITED, GUIDE, IMAGES = "review", "audit", "review.md", "review_images"
_LONGEST = 60


def write(
    folder: Path, questions: Sequence[Registered], reviewers: int, *, name: str = REVIEW
) -> Path | None:
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
        whole.write(folder / GUIDE, [rubric.guide()])
        text = review.sheet(shown, reviewers=reviewers).encode()
        path, number = folder / f"{name}.csv", 1
        while path.exists() and path.read_bytes() != text:
            number += 1
            path = folder / f"{name}-{number}.csv"
        whole.write(path, [text])
    except OSError as error:
        raise RunFailed(
            Problem(
                "file.unwritable",
                f"the review sheet cannot be written to {folder}: {error}",
                fix="Mend that, then run again",
            )
        ) from error
    return path


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
