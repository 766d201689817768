"""What became of everybody's responses to HLE, kept as small as the numbers allow."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.hle import images, judging, options
from raybench.benchmarks.parts.tally import safe
from raybench.types import Finish

Fate = Literal["judged", "cut", "empty", "refused", "no room", "no images", "failed", "unjudged"]
"""judged: a judge gave a verdict. cut: before there was an answer. no room: question and response
do not fit the model's context. no images: the model does not take the question's. failed: no
response came. unjudged: no verdict did."""

FATES: Mapping[Fate, str] = {
    "judged": "a judge gave a verdict",
    "cut": "cut off before there was an answer: wrong, and not judged",
    "empty": "without a word: wrong, and not judged",
    "refused": "declined: wrong, and not judged",
    "no room": "the question does not fit the model's context: wrong, and not judged",
    "no images": "the model takes no images: the question is left out for it",
    "failed": "no response came: left out, and no zero",
    "unjudged": "no judge gave a verdict: left out, and no zero",
}
_UNANSWERED: Mapping[Finish, Fate] = {
    "stop": "empty",
    "length": "cut",
    "late": "cut",
    "thinking": "cut",
    "empty": "empty",
    "refusal": "refused",
    "overflow": "no room",
    "unsupported": "no images",
    "error": "failed",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One response to a question, as far as statistics look at it."""

    key: str
    repeat: int
    category: str | None
    answer_type: str | None
    """None where no response came that could be looked at."""
    chance: float | None
    fate: Fate
    correct: bool
    verdicts: Mapping[str, bool]
    """Of the judges that gave one."""
    confidence: int
    """In percent, as the judge whose verdict counts reads it; 100 where it finds none."""
    found: bool
    """That judge gave one at all; where the response has none, it is told to give 100."""
    stated: int | None
    """The response's own, where it stands behind a label."""
    tokens: int
    unheard: tuple[str, ...] = ()
    """The judges that were asked and gave none."""
    pictured: bool = False
    """An image goes with the question."""
    letter: bool | None = None
    """What the letters of answer and right answer say, where both are some."""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Item":
        """Return the item that a record of the journal is."""
        details, told = record.get("details", {}), record.get("judgements", {})
        verdicts = {name: bool(it["correct"]) for name, it in told.items() if "correct" in it}
        first: Mapping[str, Any] = next(iter(told.values()), {})
        confidence = first.get("confidence")
        return cls(
            key=str(record["key"]),
            repeat=record["repeat"],
            category=record["subject"] and safe(record["subject"]),
            answer_type=details.get("answer_type"),
            chance=details.get("chance"),
            fate=_fate(record),
            correct=record["correct"],
            verdicts=verdicts,
            confidence=100 if confidence is None else confidence,
            found=confidence is not None,
            stated=details.get("stated"),
            tokens=record["output_tokens"],
            unheard=tuple(name for name, it in told.items() if "correct" not in it),
            pictured=details.get("image", False),
            letter=details.get("letter"),
        )

    @property
    def sure(self) -> bool:
        """Tell whether the response says how sure it is, by a label or to the judge."""
        return self.stated is not None or (self.found and self.confidence < 100)

    @property
    def counts(self) -> bool:
        """Tell whether it counts as right or wrong."""
        return self.fate not in ("no images", "failed", "unjudged")


def details(row: Mapping[str, Any], response: str, given: str | None) -> dict[str, Any]:
    """Return what the journal keeps of a response beside its grade, for `Item.of`."""
    found = {
        "answer_type": row["answer_type"],
        "stated": judging.confidence(response),
        "image": bool(row["image"]),
        "letter": judging.same_letter(given, str(row["answer"])),
    }
    chance = options.chance(row)
    return found if chance is None else found | {"chance": chance}


def caveat(row: Mapping[str, Any]) -> str | None:
    """Say what is odd about a question that is asked all the same; None where nothing is."""
    if found := options.unlisted(row):
        return found
    return options.lacking(row) if rows.empty(row["image"]) else images.doubt(row["image"])


def _fate(record: Mapping[str, Any]) -> Fate:
    if record["by"] == "judge":
        return "judged"
    if record["finish"] != "error" and record["judge_error"] is not None:
        return "unjudged"
    return _UNANSWERED[record["finish"]]


class Exam:
    """Everybody's items."""

    def __init__(self) -> None:
        self._items: dict[str, list[Item]] = {}

    def add(self, model: str, item: Item) -> None:
        """Keep an item."""
        self._items.setdefault(model, []).append(item)

    def items(self, model: str) -> list[Item]:
        """Return a model's items by question and repeat, in whatever order they came.

        Ties of confidence are binned in this order, so that a run always comes to one number.
        """
        return sorted(self._items.get(model, ()), key=lambda item: (item.key, item.repeat))

    def judged(self, model: str) -> list[Item]:
        """Return those of a model's items on which there is a verdict, in the same order."""
        return [item for item in self.items(model) if item.fate == "judged"]

    def fates(self, model: str) -> Counter[Fate]:
        """Return what became of a model's responses."""
        return Counter(item.fate for item in self._items.get(model, ()))

    def mute(self, judges: Iterable[str]) -> dict[str, int]:
        """Return the judges that never gave a verdict, with how often they were asked."""
        every = [item for items in self._items.values() for item in items]
        asked = Counter(name for item in every for name in item.unheard)
        heard = {name for item in every for name in item.verdicts}
        return {name: asked[name] for name in judges if asked[name] and name not in heard}

    def models(self) -> Iterator[str]:
        """Yield whose items there are."""
        yield from self._items
