"""What models wrote, as a page has room for it; and who gave what to it."""

from collections.abc import Mapping

from raybench.statements import Statement

LONG = 12
"""Longer tables are folded away."""


def cut(text: str, most: int) -> str:
    """Return the beginning of a long text, and how much was left out."""
    if len(text) <= most:
        return text
    return Statement(
        "texts.cut",
        "{beginning}…\n\n[{shown:,} of {all:,} characters; the journal has all]",
        beginning=text[:most],
        shown=most,
        all=len(text),
    )


def counted(ratings: Mapping[str, int | None]) -> str:
    """Return how often which rating was given, highest first: '5 × 2, 3 × 1, none × 1'."""
    return ", ".join(f"{rating} × {len(judges)}" for rating, judges in _by_rating(ratings))


def given(ratings: Mapping[str, int | None], between: str = "; ") -> str:
    """Return who gave which rating, highest first: '5 by a, b; 3 by c; none by d'."""
    return between.join(
        f"{rating} by {', '.join(judges)}" for rating, judges in _by_rating(ratings)
    )


def _by_rating(ratings: Mapping[str, int | None]) -> list[tuple[int | str, list[str]]]:
    found: dict[int | None, list[str]] = {}
    for judge, rating in ratings.items():
        found.setdefault(rating, []).append(judge)
    ordered = sorted(found.items(), key=lambda it: -(it[0] or 0))
    return [("none" if rating is None else rating, judges) for rating, judges in ordered]
