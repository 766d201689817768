"""A match of generate and verify, written down for people to read."""

import json
from typing import Any

from raybench.games.parts.contract import MANAGER, Written
from raybench.games.parts.quoting import escaped
from raybench.games.parts.transcript import head, steps
from raybench.games.parts.verified.state import Try, Verified

_MOST = 4_000


def transcript(title: str, match: Written, secret: str = "") -> str:
    """Return all that was written and tried, in Markdown."""
    parts = [head(title, match), *([secret] if secret else [])]
    for state, role, move in steps(match):
        assert isinstance(state, Verified)
        if move is None:
            continue
        if role != MANAGER:
            parts += [f"## {_headed(state, role)}", _block(move)]
        else:
            parts += [f"## The {state.maker}'s {state.attempt} once more"] * (
                state.stage == "uphold"
            )
            parts += _run(move)
        parts += _came(state, state.apply(move))
    return "\n\n".join(parts) + "\n"


def _headed(state: Verified[Any], role: str) -> str:
    """Return what a move is called."""
    what = state.noun if state.stage == "write" else state.attempt
    most = state.rules.proofs if state.stage == "prove" else state.rules.attempts
    number = f" {len(state.own) + 1}" if state.stage != "write" and most > 1 else ""
    return f"The {role}'s {what}{number}"


def _came(before: Verified[Any], after: Verified[Any]) -> list[str]:
    """Return what a move has settled."""
    told = [
        f"That {after.done} it." if one.solved else f"That did not {after.verb} it."
        for one in _tries(after)[len(_tries(before)) :]
    ]
    if after.upheld is not before.upheld:
        still = "still" if after.upheld else "no longer"
        told.append(f"That {still} {after.verb}s it.")
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
    """Return a text as an indented block, which nothing in it can end; where it is cut is said."""
    lines = text[:_MOST].replace("\r\n", "\n").removesuffix("\n").split("\n")
    block = "\n".join(f"    {escaped(line)}" for line in lines)
    return block if len(text) <= _MOST else f"{block}\n\n(cut here)"
