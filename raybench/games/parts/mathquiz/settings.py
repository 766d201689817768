"""How MathQuiz is played, and the rules in words."""

from dataclasses import dataclass

from raybench.games.parts.quoting import EXACT_NOTICE
from raybench.games.parts.verified.state import VerifiedRules, so_many_tries


@dataclass(frozen=True, slots=True)
class MathRules(VerifiedRules):
    """Which numbers are answers, and how long a question may be."""

    smallest: int = 100
    largest: int = 999
    longest: int = 1_500
    """Characters of a question."""

    def __post_init__(self) -> None:
        VerifiedRules.__post_init__(self)
        if not (self.smallest >= 10 and self.largest <= 10**12):
            raise ValueError("answers are drawn from smallest to largest, within 10 and 10^12")
        if self.largest - self.smallest < 99:
            raise ValueError(
                f"smallest is {self.smallest} and largest {self.largest}: of fewer than 100 "
                "answers one is guessed too easily"
            )
        self.within(longest=(100, 10_000))


def in_words(rules: MathRules) -> str:
    """Return the rules as players read them."""
    return (
        "You play MathQuiz: a teacher against a student. The teacher is given a whole number from "
        f"{rules.smallest} to {rules.largest} and writes a question in mathematics whose only "
        "answer it is. The question must not state the number, in whatever writing. Then the "
        "teacher, who no longer knows the number, has to answer its own question in "
        f"{so_many_tries(rules.proofs)}; where it cannot, it has lost. Else the student has "
        f"{so_many_tries(rules.attempts)} at the question: with the right answer the student wins, "
        "without it the teacher wins. So a good question is one that the teacher can answer, and "
        f"the student cannot.\n{EXACT_NOTICE}"
    )
