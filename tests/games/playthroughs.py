"""Playthroughs that are kept: what was asked, said and scored in whole games.

    python tests/games/playthroughs.py GAME '{"players": 3}'    # plays and stores another one

Whoever changes a game on purpose removes its file and stores them anew; the difference shows what
changed for the players.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raybench import games
from raybench.games.parts.conformance import play

FOLDER = Path(__file__).parent / "playthroughs"


def stored(name: str) -> list[dict[str, Any]]:
    """Return the game's playthroughs."""
    path = FOLDER / f"{name}.json"
    return list(json.loads(path.read_text())) if path.exists() else []


def told(name: str, seed: int, rules: Mapping[str, Any], *, good: bool) -> dict[str, Any]:
    """Play a game, and tell all of it."""
    states, moves = play(games.load(name), seed, good=good, **rules)
    return {
        "rules": dict(rules),
        "seed": seed,
        "good": good,
        "told": {role: states[0].observe(role).rules for role in states[0].roles},
        "turns": [
            {"role": role, "asked": asked(state, role), "move": move}
            for state, (role, move) in zip(states, moves, strict=False)
        ],
        "scores": states[-1].scores(),
        "outcome": states[-1].outcome,
    }


def asked(state: games.State, role: str) -> str:
    """Return what a role is asked beside the rules; of the manager, what is needed."""
    if role == games.MANAGER:
        return repr(state.needed)
    seen = state.observe(role)
    return f"{seen.view}\n{seen.task}"


if __name__ == "__main__":
    game, *ways = sys.argv[1:]
    rules = json.loads(ways[0]) if ways else {}
    kept = stored(game)
    kept.append(told(game, len(kept) + 1, rules, good=len(kept) % 2 == 1))
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    (FOLDER / f"{game}.json").write_text(text + "\n")
