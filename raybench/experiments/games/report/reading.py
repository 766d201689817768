"""Matches to read: a few of each game, chosen for what they show."""

from collections.abc import Callable, Iterator

from raybench import games
from raybench.experiments.games import prompts, transcripts
from raybench.experiments.games.report.shown import Shown
from raybench.tournament.records import Match
from raybench.tracking import addresses
from raybench.tracking.report import Item, Section

_MOST = 6_000
"""Characters of one match."""


def sections(shown: Shown) -> Iterator[Section]:
    """Yield matches of each game as people write them down."""
    items = [_item(shown, match, why) for match, why in chosen(shown)]
    if not items:
        return
    yield Section(
        "Read them",
        f"{len(items)} of {len(shown.matches):,} matches; the folder transcripts/ has all of them, "
        f"and in prompts.md the first prompt of each kind, of {prompts.MATCHES} matches of each "
        "game; the journal has every reply.",
        items=items,
    )


def chosen(shown: Shown) -> list[tuple[Match, str]]:
    """Return the matches of all games, and what each is shown for."""
    return [it for game in shown.games for it in _chosen(shown, game)]


def _item(shown: Shown, match: Match, why: str) -> Item:
    game = match.fixture.game
    title = games.load(game).title
    text = transcripts.written(shown.recorded.of(match), shown.rules.get(game, {}))
    return Item(
        f"{title}, match {match.number}: {match.outcome}",
        {why: text[:_MOST]},
        group=title,
        unit=addresses.match(match.number),
    )


def _chosen(shown: Shown, game: str) -> list[tuple[Match, str]]:
    """Return instructive matches of a game, and what each is shown for."""
    played = [match for match in shown.of(game) if match.void is None]
    found: dict[int, tuple[Match, str]] = {}
    for why, measure in _EXTREMES.items():
        best = max(
            (it for it in played if it.number not in found and measure(it) is not None),
            key=lambda it: measure(it) or 0,
            default=None,
        )
        if best is not None:
            found[best.number] = best, why
    return [*found.values()]


def _length(match: Match) -> float | None:
    if match.forfeits:
        return None
    return float(sum(it.turns for it in match.efforts.values()))


def _shortness(match: Match) -> float | None:
    length = _length(match)
    return None if length is None else -length


def _forfeited(match: Match) -> float | None:
    return float(len(match.forfeits)) if match.forfeits else None


def _mistakes(match: Match) -> float | None:
    mistakes = sum(it.invalid for it in match.efforts.values())
    return float(mistakes) if mistakes and not match.forfeits else None


_EXTREMES: dict[str, Callable[[Match], float | None]] = {
    "the longest": _length,
    "the shortest": _shortness,
    "most mistakes without a forfeit": _mistakes,
    "a forfeit": _forfeited,
}
