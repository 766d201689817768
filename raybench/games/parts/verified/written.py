"""A match of generate and verify, written down for people to read."""

import json
from typing import Any

from raybench.games.parts.contract import MANAGER, State, Written
from raybench.games.parts.quoting import escaped
from raybench.games.parts.transcript import head
from raybench.games.parts.verified.state import Try, Verified

_MOST = 4_000


def transcript(title: str, match: Written, secret: str = "") -> str:
    """Return all that was written and tried, in Markdown."""
    parts = [head(title, match), *([secret] if secret else [])]
    state = match.first
    for role, move in match.moves:
        assert isinstance(state, Verified)
        if role != MANAGER:
            parts += [f"## {_headed(state, role)}", _block(move)]
        else:
            parts += [f"## The {state.maker}'s {state.attempt} once more"] * (
                state.stage == "uphold"
            )
            parts += _run(move)
        before, state = state, state.apply(move)
        parts += _came(before, state)
    return "\n\n".join(parts) + "\n"


def _headed(state: Verified[Any], role: str) -> str:
    """Return what a move is called."""
    what = state.noun if state.stage == "write" else state.attempt
    most = state.rules.proofs if state.stage == "prove" else state.rules.attempts
    number = f" {len(state.own) + 1}" if state.stage != "write" and most > 1 else ""
    return f"The {role}'s {what}{number}"


def _came(before: State, after: State) -> list[str]:
    """Return what a move has settled."""
    if not (isinstance(before, Verified) and isinstance(after, Verified)):
        return []
    told = [
        "That solved it." if one.solved else "That did not solve it."
        for one in _tries(after)[len(_tries(before)) :]
    ]
    if after.upheld is not before.upheld:
        still = "still" if after.upheld else "no longer"
        told.append(f"The {after.maker}'s solution {still} holds.")
    return told


def _tries(state: Verified[Any]) -> tuple[Try, ...]:
    return (*state.proofs, *state.tries)


def _run(outcome: str) -> list[str]:
    """Return what the sandbox brought."""
    brought = json.loads(outcome)
    printed = f"{brought.get('stdout') or ''}{brought.get('stderr') or ''}"
    status = brought.get("status")
    ended = "The sandbox" + ("" if status == "ok" else f" ({status})")
    if not printed.strip():
        return [f"{ended} printed nothing."]
    return [f"{ended} printed:", _block(printed)]


def _block(text: str) -> str:
    """Return a text as an indented block, which nothing in it can end."""
    short = text if len(text) <= _MOST else f"{text[:_MOST]}\n[cut]"
    lines = short.replace("\r\n", "\n").removesuffix("\n").split("\n")
    return "\n".join(f"    {escaped(line)}" for line in lines)
