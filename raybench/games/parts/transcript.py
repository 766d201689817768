"""Matches written down for people to read: what games that do so share, and a plain way."""

import re
from collections.abc import Iterator
from typing import Any

from raybench.games.parts.contract import MANAGER, Game, State, Written

_MARKUP = re.compile(r"[\\`*\[\]<>|~&]|(?<!\S)#|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown reads as more than text; an underscore within a word is none."""
_LEADING = re.compile(r"^(\d{0,9})([-+=.)])")
"""What it reads so at the beginning of a line: of lists, rules, and below titles."""


def steps(match: Written) -> Iterator[tuple[State, str, str | None]]:
    """Yield each state, who moved there and the move; None where the role left for good."""
    for before, role, move, _ in _replayed(match):
        yield before, role, move


def last(match: Written) -> State:
    """Return the state in which the match ended."""
    state = match.first
    for *_, after in _replayed(match):
        state = after
    return state


def _replayed(match: Written) -> Iterator[tuple[State, str, str | None, State]]:
    """Yield each state, who moved there, the move and what came of it, which is made only once."""
    state = match.first
    for number in range(len(match.moves) + 1):
        for role in match.left.get(number, ()):
            others = state.without(role)
            yield state, role, None, others or state
            if others is None:
                return
            state = others
        if number < len(match.moves):
            role, move = match.moves[number]
            after = state.apply(move)
            yield state, role, move, after
            state = after


def head(title: str, match: Written) -> str:
    """Return who sat where and how it ended, in Markdown."""
    seats = [
        f"- {role}: {literal(name)}{_won(match.scores.get(role))}"
        for role, name in match.players.items()
    ]
    return "\n".join((titled(title, match), "", *seats, "", f"{sentence(literal(ended(match)))}."))


def titled(title: str, match: Written) -> str:
    """Return the heading of a match, in Markdown."""
    return f"# {title}: {literal(match.event)}, match {literal(match.round)}"


def ended(match: Written) -> str:
    """Return how a match ended, with everybody who forfeited, each said once."""
    outcome = match.outcome or "not played to its end"
    silent = [role for role in match.forfeits if f"{role} forfeited" not in outcome]
    return "; ".join([outcome, *([f"forfeited by {', '.join(silent)}"] if silent else [])])


def sentence(text: str) -> str:
    """Return a text with a capital in front."""
    return text[:1].upper() + text[1:]


def line(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def literal(text: str) -> str:
    """Return somebody's words on one line, for Markdown and HTML to take for text, no more."""
    return _MARKUP.sub(r"\\\g<0>", line(text))


def speech(text: str) -> str:
    """Return what somebody said as a quotation in Markdown, none of which is more than text."""
    lines = (_LEADING.sub(r"\1\\\2", literal(each)) for each in text.splitlines())
    return "\n".join(f"> {each}".rstrip() for each in lines) or ">"


def _won(score: float | None) -> str:
    return "" if score is None else f" ({score:+.3g})"


def plain(game: Game[Any], match: Written) -> str:
    """Return the moves, a line each, under who played and above how it ended."""
    players = ", ".join(f"{role}: {line(model)}" for role, model in match.players.items())
    lines = [f"{game.title}, match {line(match.round)} ({players})"]
    for number, (_, role, move) in enumerate(steps(match), start=1):
        if role != MANAGER:
            lines.append(f"{number}. {role}: {'forfeits' if move is None else move}")
    scores = ", ".join(f"{role} {score:g}" for role, score in match.scores.items())
    return "\n".join([*lines, f"{match.outcome} ({scores})"])
