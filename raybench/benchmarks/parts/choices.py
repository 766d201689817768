"""Questions whose answer is the letter of an option: prompt and extraction of seed 001."""

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from raybench.benchmarks.parts.contract import Benchmark, Draw, Grade, Row
from raybench.grading import extract
from raybench.grading.improved import choice
from raybench.grading.improved.statements import NoAnswer
from raybench.types import Message

LETTERS = "ABCDEFGHIJ"


class MultipleChoice(Benchmark):
    """One option of those listed is right."""

    grading: ClassVar = 2  # version 1 read the last three lines
    asks: ClassVar[str]
    """The column of the question's text."""
    letters: ClassVar[str] = ""
    """Those that the methodology's prompt names for every question; '' for those of its options."""

    @abstractmethod
    def options(self, row: Row, draw: Draw) -> Sequence[str]:
        """Return the options in the order they are listed in."""

    def ask(
        self, question: str, options: Sequence[str], *, reasoning: bool, letters: str = ""
    ) -> str:
        """Return the prompt, which names `letters` as answers: those of the options without any."""
        letters = letters or LETTERS[: len(options)]
        # The methodology's line ends in a space, and what non-reasoning models are told follows it.
        return (
            "Answer the following multiple choice question. The last line of your response should "
            f"be in the following format: 'Answer: {'/'.join(letters)}' (e.g. 'Answer: A'). "
            + ("" if reasoning else "Think step by step before answering.")
            + f"\n\n{question}\n\n{listed(options)}"
        )

    def read(self, response: str) -> str | None:
        """Return the letter that the response gives, which may be no option's."""
        return extract.choice(response)

    def prompt(
        self, row: Row, *, reasoning: bool = False, draw: Draw = Draw()
    ) -> tuple[Message, ...]:
        """Return the question with its options."""
        asked = self.ask(
            row[self.asks],
            self.options(row, draw),
            reasoning=reasoning,
            letters=self.letters if draw.letters == "all" else "",
        )
        return (Message("user", asked),)

    def content(self, row: Row) -> str:
        """Return the question and its options, in whatever order they are listed."""
        return json.dumps([str(row[self.asks]), sorted(map(str, self.options(row, Draw())))])

    def grade(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Compare the letter; one that is no option is no answer."""
        letters = LETTERS[: len(self.options(row, draw))]
        given = self.read(response)
        if given is None:
            return Grade(False, "no answer of the form 'Answer: A' in its last line")
        if given not in letters:
            return Grade(False, f"'{given}' is no option: there is A to {letters[-1]}")
        right = given == self.truth(row, draw=draw)
        return Grade(right, "right" if right else "wrong", given)

    def chance(self, row: Row) -> float:
        """Return one in so many options."""
        return 1 / len(self.options(row, Draw()))

    def improved(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Compare the option that the reply settles on, in whatever form it says so."""
        try:
            given = choice.stated(response, self.options(row, draw))
        except NoAnswer as why:
            return Grade(False, str(why))
        right = given == self.truth(row, draw=draw)
        return Grade(right, "right" if right else "wrong", given)

    def gold(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the right letter in the asked form."""
        return f"Answer: {self.truth(row, draw=draw)}"


def listed(options: Sequence[str]) -> str:
    """Return the options, a line each with its letter."""
    return "\n".join(f"{LETTERS[place]}) {option}" for place, option in enumerate(options))


def lettered(options: Sequence[str], count: int) -> dict[str, str]:
    """Return the options by letter; raise ValueError where they are no list of so many."""
    if not isinstance(options, Sequence) or isinstance(options, str):
        raise ValueError("'options' is no list: give the options as a list of texts")
    if len(options) != count:
        raise ValueError(f"{len(options)} options where each question has {count}")
    return dict(zip(LETTERS, options, strict=False))
