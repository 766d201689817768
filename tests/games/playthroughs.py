"""Playthroughs that are kept: moves and scores of whole games as JSON, their prompts as text.

    python tests/games/playthroughs.py GAME '{"players": 3}'    # plays and stores another one
    make goldens                                                # replays and stores all of them

NAME.json holds what a game is: who moves, how many moves there are, and what each game came to.
Only a change of rules changes it. NAME.txt holds what players are told; rewording changes it, and
`make goldens` writes it anew, for people to review the difference.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from raybench import games
from raybench.games import State
from raybench.games.parts.conformance import play

FOLDER = Path(__file__).parent / "playthroughs"


def stored(name: str) -> list[dict[str, Any]]:
    """Return the game's playthroughs."""
    path = FOLDER / f"{name}.json"
    return list(json.loads(path.read_text("utf-8"))) if path.exists() else []


def stored_prompts(name: str) -> str:
    """Return what players were told in the game's playthroughs."""
    path = FOLDER / f"{name}.txt"
    return path.read_text("utf-8") if path.exists() else ""


def replayed(name: str, kept: Mapping[str, Any]) -> list[State]:
    """Return the states of a playthrough, the end too, by playing its moves again."""
    states = [games.load(name).new(kept["seed"], **kept["rules"])]
    for turn in kept["turns"]:
        states.append(states[-1].apply(turn["move"]))
    return states


def recorded(states: list[State], moves: list[str]) -> dict[str, Any]:
    """Return the turns of a game and what it came to, without any text but the moves."""
    turns = [{**seen(state), "move": move} for state, move in zip(states, moves, strict=False)]
    return {"turns": turns, "parts": dict(states[-1].parts), "scores": states[-1].scores()}


def seen(state: State) -> dict[str, Any]:
    """Return whose turn it is, what is to be done, and which moves there are."""
    role, legal = str(state.to_move), state.legal()
    view: dict[str, Any] = {"role": role}
    if role == games.MANAGER:
        return {**view, "needs": type(state.needed).__name__}
    observation = state.observe(role)
    view |= {"action": observation.action, "form": observation.form}
    if observation.images:
        view["images"] = len(observation.images)
    if legal is not None:
        digest = hashlib.blake2b("\n".join(sorted(legal)).encode(), digest_size=4).hexdigest()
        view |= {"moves": len(legal), "digest": digest}
    return view


def prompts(name: str) -> str:
    """Return what players are told in the game's playthroughs; what is told again is left out."""
    return "".join(text for kept in stored(name) for text in _prompts(name, kept))


def _prompts(name: str, kept: Mapping[str, Any]) -> Iterator[str]:
    states = replayed(name, kept)
    yield f"===== seed {kept['seed']}, rules {json.dumps(kept['rules'])}\n\n"
    for role in states[0].roles:
        yield f"--- {role}: rules\n{states[0].observe(role).rules}\n\n"
    tasks: dict[str, str] = {}
    for number, (state, turn) in enumerate(zip(states, kept["turns"], strict=False), start=1):
        role = turn["role"]
        if role == games.MANAGER:
            yield f"--- {number}, {role}\n{state.needed!r}\n\n"
            continue
        observation = state.observe(role)
        yield f"--- {number}, {role}\n{observation.view}\n"
        if tasks.get(role) != observation.task:
            yield f"--- {number}, {role}: task\n{observation.task}\n"
            tasks[role] = observation.task
        yield f"> {turn['move']}\n\n"
    yield f"--- end\n{states[-1].outcome}\n\n"


def write(name: str, kept: list[dict[str, Any]]) -> None:
    """Store a game's playthroughs and what players are told in them."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(f"{text}\n", "utf-8")
    (FOLDER / f"{name}.txt").write_text(prompts(name), "utf-8")


def rewrite() -> None:
    """Replay the moves of all playthroughs, and store what comes of them now."""
    for name in games.names():
        again = []
        for kept in stored(name):
            moves = [turn["move"] for turn in kept["turns"]]
            about = {key: kept[key] for key in ("rules", "seed", "good")}
            again.append({**about, **recorded(replayed(name, kept), moves)})
        write(name, again)


if __name__ == "__main__":
    game, *ways = sys.argv[1:]
    rules = json.loads(ways[0]) if ways else {}
    every = stored(game)
    seed, good = len(every) + 1, len(every) % 2 == 1
    played, made = play(games.load(game), seed, good=good, **rules)
    about = {"rules": rules, "seed": seed, "good": good}
    write(game, [*every, {**about, **recorded([*played], [move for _, move in made])}])
