"""What models wrote, as a page has room for it; and who gave what to it."""

from collections.abc import Mapping

LONG = 12
"""Longer tables are folded away."""


def cut(text: str, most: int) -> str:
    """Return the beginning of a long text, and how much was left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]}…\n\n[{most:,} of {len(text):,} characters; the journal has all]"


def given(ratings: Mapping[str, int | None]) -> str:
    """Return who gave which rating, highest first: '5 by a, b; 3 by c; not read: d'."""
    by_rating: dict[int | None, list[str]] = {}
    for judge, rating in ratings.items():
        by_rating.setdefault(rating, []).append(judge)
    unread = by_rating.pop(None, [])
    told = [
        f"{rating} by {', '.join(judges)}"
        for rating, judges in sorted(by_rating.items(), key=lambda it: -(it[0] or 0))
    ]
    told += [f"not had or not read: {', '.join(unread)}"] if unread else []
    return "; ".join(told) or "nobody was asked"
