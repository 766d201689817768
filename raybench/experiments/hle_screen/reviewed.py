"""Review sheets that people have filled in: what became of the questions on them."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raybench.benchmarks.parts.hle.screening import decisions, review
from raybench.benchmarks.parts.hle.screening.decisions import Decided
from raybench.benchmarks.parts.hle.screening.review import SheetError
from raybench.errors import ConfigurationError, Problem
from raybench.paths import expanded
from raybench.pipeline.written_once import Row

FILE = "reviewed.jsonl"


@dataclass(frozen=True, slots=True)
class Reviews:
    """What reviewers made of questions, by their ids."""

    decided: Mapping[str, Decided]
    shown: Mapping[str, Mapping[str, str]]
    """What the sheets show of each, as reviewers read it."""

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
                decisions.decisions(filled)
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
        shown = {row["id"].strip(): row for filled in read for _, row in filled}
        return cls(decisions.decisions(*read), shown)

    def turned_down(self, rows: Iterable[Row]) -> frozenset[str]:
        """Return the ids of those rows that reviewers turned down as they are.

        A question that came back mended under its old id is another one.
        """
        keys = {key for key, it in self.decided.items() if it.state == "turned down"}
        return frozenset(
            key
            for row in rows
            if (key := str(row["id"])) in keys and review.is_about(self.shown[key], row)
        )

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield a line for each question: no reviewer's words, which may repeat the question's."""
        for key, it in self.decided.items():
            yield {
                "id": key,
                "state": it.state,
                "reviews": len(it.reviews),
                "disagreements": list(it.disagreements),
            }

    def note(self, there: Collection[str]) -> str:
        """Say what became of how many questions; `there` are those of the dataset."""
        counts = Counter(it.state for it in self.decided.values())
        told = ", ".join(f"{count} {state}" for state, count in counts.items())
        unknown = [key for key in self.decided if key not in there]
        found = f"{len(self.decided)} questions on the sheets: {told}"
        if unknown:
            found += f". Not in the dataset, and left alone: {', '.join(unknown[:5])}" + (
                f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            )
        return found
