"""The judges: how far two of them agree, and who judges itself."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raybench.benchmarks.parts.hle import metrics
from raybench.benchmarks.parts.hle.exam import Exam
from raybench.experiments.parts.deviations import JUDGED
from raybench.experiments.parts.questions.view import View
from raybench.tracking.report import Section, Table
from raybench.types import JUDGING

_NAME = metrics.NAME
_MANY = 5
"""Verdicts from which on it says something that they are all yes."""


def sections(view: View, exam: Exam, judges: Sequence[str]) -> Iterator[Section]:
    """Yield how far the judge reads the confidences that responses state, and two judges agree."""
    yield _read(view, exam, judges[0])
    if len(judges) > 1:
        yield _agreement(view, judges[0], judges[1])


def _read(view: View, exam: Exam, judge: str) -> Section:
    rows = []
    for model in view.ranked:
        judged = exam.judged(model)
        stated = [item for item in judged if item.stated is not None]
        rows.append(
            (
                model,
                len(judged),
                sum(not item.sure for item in judged),
                sum(not item.found for item in judged),
                sum(item.stated != item.confidence for item in stated),
            )
        )
    return Section(
        "Confidences as they were read",
        f"{judge} reads from each response how confident it is; a response that does not say "
        "counts as 100 %. A script reads lines 'Confidence:' too, to count where the judge reads "
        "another number; it changes nothing.",
        table=Table(
            ("model", "judged", "none stated", "judge gave none", "judge reads another number"),
            rows,
        ),
    )


def _agreement(view: View, first: str, second: str) -> Section:
    keys = ("accuracy", "accuracy_second_judge", "accuracy_judge_effect", "judge_agreement",
            "judge_kappa")  # fmt: skip
    return Section(
        "The two judges",
        f"{first}'s verdicts count. What {second}'s would change, over the responses on which both "
        "gave one (and those without an answer, which are wrong to both).",
        table=Table(
            ("model", f"accuracy by {first}", f"by {second}", "difference", "agreement", "κ"),
            [
                (model, *(view.metrics[model].get(f"{_NAME}/{key}") for key in keys))
                for model in view.ranked
            ],
            caption="κ: Cohen's, agreement beyond what chance would make of the judges' shares of "
            "yes and no: 0 as by chance, 1 in everything.",
        ),
    )


def notes(exam: Exam, models: Sequence[str], judges: Sequence[str]) -> dict[str, str]:
    """Say who judges, where a model judges itself, and where a judge only says yes."""
    told = " (first) and ".join(judges) if len(judges) > 1 else ", ".join(judges)
    own = [name for name in judges if name in models]
    if own:
        verb = "judges itself" if len(own) == 1 else "judge themselves"
        told += f"; {' and '.join(own)} {verb} among others"
    found = {JUDGED: told}
    if credulous := [told for name in judges if (told := _doubtful(exam, models, name))]:
        found["Doubtful"] = "; ".join(credulous)
    return found


def _doubtful(exam: Exam, models: Sequence[str], judge: str) -> str:
    """Say so where a judge called everything right, or answers whose letters differ."""
    judged = [
        (item.verdicts[judge], item.letter)
        for model in models
        for item in exam.items(model)
        if judge in item.verdicts
    ]
    lettered = [(verdict, letter) for verdict, letter in judged if letter is not None]
    against = sum(verdict is not letter for verdict, letter in lettered)
    if against:
        return (
            f"{judge} judged {against:,} of {len(lettered):,} multiple-choice answers against the "
            "letter that they name"
        )
    if len(judged) < _MANY or not all(verdict for verdict, _ in judged):
        return ""
    return (
        f"{judge} called all {len(judged):,} responses right that it judged, as one does that "
        "does not read them: the accuracies are its, not the models'"
    )


def mute(
    exam: Exam, judges: Sequence[str], failures: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Return the judges that never gave a verdict, with what kept most of them away."""
    return {
        f"{name}{JUDGING}": f"no verdict came on any of {asked:,} responses: {_why(name, failures)}"
        for name, asked in exam.mute(judges).items()
    }


def _why(judge: str, failures: Sequence[Mapping[str, Any]]) -> str:
    begins = f"{judge}, who judges, "
    whys = [it["why"].removeprefix(begins) for it in failures if it["why"].startswith(begins)]
    return Counter(whys).most_common(1)[0][0] if whys else "see failures.jsonl"
