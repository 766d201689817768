"""A score as tables show it: every number as text, alike in the terminal and on the page."""

from dataclasses import dataclass

from raybench.compare.found import Judged, Word
from raybench.compare.shown.words import difference, number, p_alone, p_shown, would_show

_NONE = "—"


@dataclass(frozen=True, slots=True)
class Row:
    """What a table says of a score; '—' where there is nothing to say."""

    title: str
    baseline: str
    candidate: str
    difference: str
    n: str
    changed: str
    """How many are better, and how many worse."""
    p: str
    p_holm: str
    here: str
    """From which difference on it would have shown."""
    two_points: str
    needed: str
    verdict: Word
    shown: str
    """The verdict in words: a score without a test says why it has none."""

    @classmethod
    def of(cls, judged: Judged) -> "Row":
        """Return a score's row."""
        score = judged.score
        return cls(
            score.title,
            number(score.baseline.value, score.scale),
            number(score.candidate.value, score.scale),
            difference(judged),
            f"{score.difference.n:,}",
            _NONE if score.gained is None else f"+{score.gained:,} −{score.lost:,}",
            p_alone(score),
            p_shown(judged.p_holm),
            would_show(judged),
            _many(judged.needed_for_two_points),
            _many(judged.needed),
            judged.verdict,
            judged.shown,
        )


def _many(questions: int | None) -> str:
    return _NONE if questions is None else f"{questions:,}"
