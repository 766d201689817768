"""Matches written down for people to read: what games that do so share, and a plain way."""

from collections.abc import Iterator
from typing import Any

from raybench.games.parts.contract import MANAGER, Game, State, Written


def steps(match: Written) -> Iterator[tuple[State, str, str | None]]:
    """Yield each state, who moved there and the move; None where the role left for good."""
    state = match.first
    for number in range(len(match.moves) + 1):
        for role in match.left.get(number, ()):
            yield state, role, None
            if (others := state.without(role)) is None:
                return
            state = others
        if number < len(match.moves):
            role, move = match.moves[number]
            yield state, role, move
            state = state.apply(move)


def last(match: Written) -> State:
    """Return the state in which the match ended."""
    state = match.first
    for before, role, move in steps(match):
        state = (before.without(role) or before) if move is None else before.apply(move)
    return state


def head(title: str, match: Written) -> str:
    """Return who sat where and how it ended, in Markdown."""
    seats = [
        f"- {role}: {_line(name)} ({match.scores[role]:+g})" for role, name in match.players.items()
    ]
    ended = match.outcome or "not played to its end"
    if match.forfeits:
        ended += f"; forfeited by {', '.join(match.forfeits)}"
    return "\n".join(
        (f"# {title}: {_line(match.event)}, {_line(match.round)}", "", *seats, "", f"{ended}.")
    )


def plain(game: Game[Any], match: Written) -> str:
    """Return the moves, a line each, under who played and above how it ended."""
    players = ", ".join(f"{role}: {model}" for role, model in match.players.items())
    lines = [f"{game.title}, match {match.round} ({players})"]
    for number, (_, role, move) in enumerate(steps(match), start=1):
        if role != MANAGER:
            lines.append(f"{number}. {role}: {'forfeits' if move is None else move}")
    scores = ", ".join(f"{role} {score:g}" for role, score in match.scores.items())
    return "\n".join([*lines, f"{match.outcome} ({scores})"])


def _line(text: str) -> str:
    return " ".join(text.split())
