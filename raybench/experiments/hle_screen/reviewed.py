"""Review sheets that people have filled in: what they say of questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from raybench.benchmarks.parts.hle.screening import decisions, review
from raybench.benchmarks.parts.hle.screening.decisions import Filled, Review
from raybench.benchmarks.parts.hle.screening.review import SheetError
from raybench.errors import ConfigurationError, Problem
from raybench.paths import expanded
from raybench.pipeline.written_once import Row

FILE = "reviewed.jsonl"


@dataclass(frozen=True, slots=True)
class Reviews:
    """What sheets hold of questions, by their ids."""

    filled: Mapping[str, Filled]

    @classmethod
    def of(cls, sheets: Sequence[str]) -> "Reviews":
        """Read sheets, each by one reviewer or by several.

        Raises ConfigurationError where one cannot be read.
        """
        read: list[list[tuple[int, dict[str, str]]]] = []
        for sheet in sheets:
            try:
                path = expanded(sheet)
                filled = list(review.rows(path.read_text(encoding="utf-8-sig")))
                if not filled:
                    raise SheetError("it has no row below its first line")
                decisions.read(filled)
            except (OSError, UnicodeDecodeError, SheetError) as error:
                why = getattr(error, "strerror", None) or error
                raise ConfigurationError(
                    Problem(
                        "file.unreadable",
                        f"hle_screen.reviewed: '{sheet}' cannot be read ({why})",
                        setting="hle_screen.reviewed",
                        given=sheet,
                        fix="give a review sheet of a screening as reviewers filled it in, saved "
                        "as CSV in UTF-8",
                    )
                ) from error
            read.append(filled)
        return cls(decisions.read(*read))

    def of_question(self, key: str, question: Row) -> list[Review] | None:
        """Return the reviews of a question as it is; None where the sheets do not have it.

        A question that was revised and came back under its old id is another one: reviews of the
        earlier version say nothing of it.
        """
        if (filled := self.filled.get(key)) is None or not question:
            return None
        return [given for row, given in filled.rows if review.is_about(row, question)]
