"""A match of generate and verify, written down for people to read."""

import json

from raybench.games.parts.contract import MANAGER, State, Written
from raybench.games.parts.verified.quoting import escaped
from raybench.games.parts.verified.state import Try, Verified

_MOST = 4_000


def transcript(title: str, match: Written, secret: str = "") -> str:
    """Return all that was written and tried, in Markdown."""
    seats = ", ".join(f"{role} {match.players.get(role, '?')}" for role in match.first.roles)
    lines = [f"# {title}: {seats}", "", f"{match.event}, round {match.round}. {secret}".strip(), ""]
    state = match.first
    for role, move in match.moves:
        lines += _run(move) if role == MANAGER else _move(role, state.observe(role).action, move)
        before, state = _tries(state), state.apply(move)
        for one in _tries(state)[len(before) :]:
            lines += ["", "That solved it." if one.solved else "That did not solve it."]
        lines.append("")
    scores = ", ".join(f"{role} {score:+g}" for role, score in match.scores.items())
    lines += [f"**Result**: {match.outcome or 'unfinished'} ({scores})"]
    if match.forfeits:
        lines += ["", f"Forfeited: {', '.join(match.forfeits)}"]
    return "\n".join(lines) + "\n"


def _tries(state: State) -> tuple[Try, ...]:
    return (*state.proofs, *state.tries) if isinstance(state, Verified) else ()


def _move(role: str, action: str, move: str) -> list[str]:
    return [f"## {role}: {action.replace('_', ' ')}", "", *_block(move)]


def _run(outcome: str) -> list[str]:
    """Return what the sandbox brought."""
    brought = json.loads(outcome)
    printed = f"{brought.get('stdout') or ''}{brought.get('stderr') or ''}"
    shown = _block(printed) if printed.strip() else ["    (nothing was printed)"]
    return [f"The sandbox ({brought.get('status')}):", "", *shown]


def _block(text: str) -> list[str]:
    """Return a text as an indented block, which nothing in it can end."""
    short = text if len(text) <= _MOST else f"{text[:_MOST]}\n[cut]"
    return [f"    {escaped(line)}" for line in short.replace("\r\n", "\n").split("\n")]
