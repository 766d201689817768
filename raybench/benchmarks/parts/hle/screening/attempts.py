"""What each model's attempts at a question came to, as far as they are evidence of it.

Right or wrong is what a judge says. A model that declines, or stops without a word, did not answer.
A reply that our limit of tokens cut, or that did not fit the model's context, proves nothing of the
question, unless somebody has looked and takes it for no answer. Where no reply or no verdict came,
nothing is known, whatever anybody accepts.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raybench.benchmarks.parts.hle.exam import FATES, Exam, Fate
from raybench.statements import Statement

NAME = "hle"
"""The benchmark that candidates are to be questions of."""
_UNANSWERED = ("empty", "refused")
_LIMITED = ("cut", "no room")


@dataclass(frozen=True, slots=True)
class Tried:
    """A question's attempts."""

    verdicts: dict[str, list[bool | None]] = field(default_factory=dict)
    """By model: right, wrong, or None where nothing is known."""
    fates: Counter[Fate] = field(default_factory=Counter)
    """What became of the responses of all models."""
    unable: set[str] = field(default_factory=set)
    """The models that do not take what the question shows."""

    @property
    def notes(self) -> Iterator[str]:
        """Yield what reviewers should look at."""
        if self.fates["refused"]:
            yield Statement(
                "screening.declined", "a model declined to answer: is the question harmless?"
            )

    def told(self) -> str:
        """Return what became of the responses that no judge saw, in words; '' where all were."""
        return ", ".join(
            f"{self.fates[fate]} {fate}" for fate in FATES if fate != "judged" and self.fates[fate]
        )


def found_by_search(tried: Tried, pairs: Mapping[str, str]) -> dict[str, bool | None]:
    """Return by searching model whether a question is potentially searchable.

    It is where a model with search tools answers it and the same model without them does not.
    `pairs` are the searching models, each with the one without; None where verdicts are missing.
    """
    return {
        searching: _found(tried.verdicts.get(searching, ()), tried.verdicts.get(plain, ()))
        for searching, plain in pairs.items()
    }


def _found(searching: Sequence[bool | None], plain: Sequence[bool | None]) -> bool | None:
    if any(plain) or (searching and None not in searching and not any(searching)):
        return False
    return True if any(searching) and plain and None not in plain else None


def of(exam: Exam, models: Sequence[str], *, accepted: bool) -> Mapping[str, Tried]:
    """Return the attempts by question; `accepted` takes what limits cut off for no answer."""
    found: dict[str, Tried] = {}
    for model in models:
        for item in exam.items(model):
            tried = found.setdefault(item.key, Tried())
            tried.fates[item.fate] += 1
            if item.fate == "no images":
                tried.unable.add(model)
            correct = item.correct if item.fate == "judged" else False
            known = item.fate in ("judged", *_UNANSWERED, *(_LIMITED if accepted else ()))
            tried.verdicts.setdefault(model, []).append(correct if known else None)
    return found
