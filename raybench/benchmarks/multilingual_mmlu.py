"""Multilingual MMLU: MMLU's test set as professionals translated it, and the English original.

Source: openai/MMMLU on the Hugging Face hub, 14,042 questions in each of 14 languages; English from
cais/mmlu, at c30699e8356da336a370243923dbaf21066bb9fe
Revision: 325a01dc3e173cac1578df94120499aaca2e2504
Paper: https://arxiv.org/abs/2009.03300 (MMLU)
Row: {"Question": "¿Cuánto es 2 + 2?", "A": "3", "B": "4", "C": "5", "D": "6", "Answer": "B",
"Subject": "elementary_mathematics", "language": "es", "id": 1}

Asked and read as openai/simple-evals does it: its English prompt in every language, its list of
what 'Answer:' is called.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.choices import MultipleChoice, lettered, listed
from raybench.benchmarks.parts.contract import Draw, Row, Source
from raybench.errors import Problem
from raybench.grading import choice

_LETTERS = "ABCD"
_LOCALES = (
    "AR-XY", "BN-BD", "DE-DE", "ES-LA", "FR-FR", "HI-IN", "ID-ID", "IT-IT", "JA-JP", "KO-KR",
    "PT-BR", "SW-KE", "YO-NG", "ZH-CN",
)  # fmt: skip


class MultilingualMMLU(MultipleChoice):
    """The same questions in fifteen languages."""

    name = "multilingual_mmlu"
    title = "Multilingual MMLU"
    source = Source(
        "openai/MMMLU",
        "325a01dc3e173cac1578df94120499aaca2e2504",
        {locale[:2].lower(): f"test/mmlu_{locale}.csv" for locale in _LOCALES},
        licence="MIT",
        elsewhere={
            "en": Source(
                "cais/mmlu",
                "c30699e8356da336a370243923dbaf21066bb9fe",
                {"en": "all/test-00000-of-00001.parquet"},
                licence="MIT",
            )
        },
    )
    columns = ("id", "Question", *_LETTERS, "Answer", "Subject")
    stems = ("mmlu_test",)
    weights: ClassVar = {"multilingual": Fraction(1, 2)}
    asks = "Question"
    grading: ClassVar = 1  # simple-evals' extraction, not the one of other multiple choice

    def key(self, row: Row) -> str:
        """Return the place in each language's file: MMLU asks 27 questions twice."""
        return str(row["id"])

    def problems(self, row: Row) -> Iterator[Problem]:
        """Want an id, four options and an answer among them."""
        yield from rows.blank(row, "id", "Question", *_LETTERS, "Answer")
        yield from rows.no_option(row, "Answer", _LETTERS)

    def ask(
        self, question: str, options: Sequence[str], *, reasoning: bool, letters: str = ""
    ) -> str:
        """Return simple-evals' prompt, which is one for all models."""
        return (
            "Answer the following multiple choice question. The last line of your response should "
            "be of the following format: 'Answer: $LETTER' (without quotes) where LETTER is one of "
            f"ABCD. Think step by step before answering.\n\n{question}\n\n{listed(options)}"
        )

    def read(self, response: str) -> str | None:
        """Return the letter that the response gives in its own language."""
        return choice.localised(response)

    def options(self, row: Row, draw: Draw) -> Sequence[str]:
        """Return the options as published."""
        return tuple(str(row[letter]) for letter in _LETTERS)

    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the published letter."""
        return str(row["Answer"])

    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a plain row in the hub's columns."""
        return {
            "id": str(row["id"]).replace(f"_{row['language']}_", "_"),
            "Question": row["question"],
            **lettered(row["options"], len(_LETTERS)),
            "Answer": row["answer"],
            "Subject": row["subject"],
            "language": row["language"],
        }

    def from_hub(self, row: Row) -> dict[str, Any]:
        """Return the row with an id; the English file lists options and counts them from 0."""
        if "choices" not in row:
            return {"id": row["number"], **row}
        if row["answer"] not in range(len(_LETTERS)):
            raise ValueError(f"'answer' is {row['answer']!r}: it counts the options from 0 to 3")
        plain = {"id": row["number"], "options": row["choices"], "answer": _LETTERS[row["answer"]]}
        return self.from_common({**row, **plain})

    def subject(self, row: Row) -> str | None:
        """Return the field."""
        return rows.subject(row, "Subject")


BENCHMARK = MultilingualMMLU()
