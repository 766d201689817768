"""HLE: closed questions at the frontier of human knowledge, answered with a stated confidence.

Source: cais/hle on the Hugging Face hub, 2,500 questions, of which about 14 % come with an image;
gated, and not to be published anywhere. The methodology asks those without an image
Revision: 5a81a4c7271a2a2a312b9a690f0c2fde837e4c29
Paper: https://arxiv.org/abs/2501.14249
Row: {"id": "0a", "question": "What is the order of the group $S_4$?", "image": "", "answer": "24",
"answer_type": "exactMatch", "raw_subject": "Mathematics", "category": "Math"}
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar, cast

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.contract import Draw, Grade, Row, Source
from raybench.benchmarks.parts.hle import exam, images, judging, options, prompts
from raybench.benchmarks.parts.hle.options import CHOICE, EXACT
from raybench.benchmarks.parts.judged import Judged, Judgement
from raybench.errors import Problem
from raybench.types import Finish, Message, Wording


class HLE(Judged):
    """A judge says whether the answer is right; the script only finds it, and compares letters."""

    name = "hle"
    title = "HLE"
    source = Source(
        "cais/hle",
        "5a81a4c7271a2a2a312b9a690f0c2fde837e4c29",
        {"en": "data/test-00000-of-00001.parquet"},
        licence="MIT",
        gated=True,
    )
    columns = ("id", "question", "image", "answer", "answer_type", "raw_subject", "category")
    size = 2500
    counted_by = "the dataset that its authors finalised has"
    weights: ClassVar = {"intelligence": Fraction(1, 6)}
    schema = judging.SCHEMA

    def key(self, row: Row) -> str:
        """Return the publisher's id."""
        return str(row["id"])

    def problems(self, row: Row) -> Iterator[Problem]:
        """Want an answer of a known type and, where there is an image, one in the row itself."""
        yield from rows.blank(row, "id", "question", "answer")
        if row["answer_type"] not in (EXACT, CHOICE):
            yield Problem(
                "data.invalid",
                f"'answer_type' is '{row['answer_type']}'",
                setting="answer_type",
                given=row["answer_type"],
                fix=f"it is '{EXACT}' or '{CHOICE}'",
            )
        if not rows.empty(row["image"]) and (wrong := images.unsendable(row["image"])):
            yield Problem("data.invalid", f"'image' {wrong}", setting="image")

    def prompt(
        self, row: Row, *, reasoning: bool = False, draw: Draw = Draw()
    ) -> tuple[Message, ...]:
        """Return the question with its image, under what it says of the response's form."""
        form = prompts.system(row["answer_type"], cast(Wording, draw.wording or "by_type"))
        asked = Message("user", str(row["question"]), images=self.images(row))
        return Message("system", form), asked

    def grade(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Compare what the last line 'Answer:' says, letter by letter."""
        given = judging.answer(response)
        details = exam.details(row, response, given)
        if given is None:
            return Grade(False, "no line 'Answer:' with an answer", details=details)
        right = given.split() == self.truth(row).split()
        return Grade(right, "right" if right else "wrong", given, details=details)

    def answered(self, response: str, finish: Finish) -> bool:
        """Take any words for an answer, but of a reply that was cut, only what is named one."""
        if finish == "length":
            return judging.answer(response) is not None
        return finish == "stop" and bool(response.strip())

    def judge(self, row: Row, response: str) -> tuple[Message, ...]:
        """Return the judge's prompt, which shows no image."""
        asked = prompts.judge(str(row["question"]), response, self.truth(row))
        return (Message("user", asked, foreign=True),)

    def judgement(self, reply: str) -> Judgement | None:
        """Read JSON, or the labelled lines that the prompt describes."""
        return judging.read(reply)

    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the published answer."""
        return str(row["answer"])

    def gold(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the right answer in the asked form, in full confidence."""
        label = prompts.label(row["answer_type"], cast(Wording, draw.wording or "by_type"))
        return f"Explanation: It is known.\n{label}: {self.truth(row)}\nConfidence: 100%"

    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a plain row in the hub's columns, with its options below the question."""
        listed, about = options.written(row.get("options") or ()), row["subject"]
        values = (
            *(row["id"], row["question"] + listed, row.get("image", ""), row["answer"]),
            *(CHOICE if listed else EXACT, about, about),
        )
        return dict(zip(self.columns, values, strict=True))

    def caveat(self, row: Row) -> str | None:
        """Tell of an answer that is none of the options, of none listed, or of an odd image."""
        return exam.caveat(row)

    def images(self, row: Row) -> tuple[str, ...]:
        """Return the image, where there is one."""
        return () if rows.empty(row["image"]) else (str(row["image"]),)

    def chance(self, row: Row) -> float | None:
        """Return one in so many options, where the question lists them."""
        return options.chance(row)

    def subject(self, row: Row) -> str | None:
        """Return which of the eight categories it is of."""
        return rows.subject(row, "category")


BENCHMARK = HLE()
