"""What models were really asked: the first prompt of each kind, in full, of a run's first matches.

Journals hold what a role saw and had to do at every turn, but neither the rules, which never
change, nor how a reply is asked for. Both are made again here, from the record alone.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from raybench import games
from raybench.arena.room import House
from raybench.experiments.games.rehearsed import rehearsed
from raybench.games import MANAGER, Jury, State
from raybench.games.parts.transcript import literal
from raybench.players.parts.asking import prompt
from raybench.players.parts.contract import Try
from raybench.tournament.strategies import DEFAULT
from raybench.types import Observation

NOTHING = "(nothing is asked here)"
"""Stands where a strategy asks nothing."""
MATCHES = 5
"""So many matches of each game are looked through: some kinds of turns do not come in every one."""
_BEGINS = re.compile(rb'\{"match": (?P<match>\d+), "game": "(?P<game>\w+)"')
_NUMBERED = re.compile(r"\d+$")
_TICKS = re.compile(r"`{3,}")


def texts(
    journal: Path,
    house: House,
    played: Sequence[str],
    own: Mapping[str, str | None],
    *,
    name: str = "prompts",
    ending: str = "",
) -> dict[str, Any]:
    """Return the file, and what writes it; `own` is each model's own system prompt.

    Of a journal that has several tournaments, `ending` is how lines end of the one that is meant.
    """
    return {f"transcripts/{name}.md": partial(written, journal, house, played, own, ending)}


def written(
    journal: Path,
    house: House,
    played: Sequence[str],
    own: Mapping[str, str | None],
    ending: str = "",
) -> Iterator[str]:
    """Yield the file in parts."""
    yield (
        "# What the models were asked\n\n"
        "The first prompt of each kind, as it was sent, of the first matches of each game. Every "
        "turn begins with one like these, without the turns before it but for what the prompt says "
        "of them; where a strategy asks more than once, what follows stands below. Images are left "
        "out. After a reply without a valid move that reply follows, and then:\n\n"
        f"{_fenced(_refused())}\n\n"
    )
    for model, text in own.items():
        if text:
            whose = f"Above all that, {literal(model)} has a system prompt of its own"
            yield f"{whose}:\n\n{_fenced(text)}\n\n"
    first = _first(journal, played, ending.encode())
    for name in played:
        asked = [it for record in first[name] for it in _asked(record, house)]
        if asked:
            yield f"## {games.load(name).title}\n\n"
        shown = set[tuple[str, ...]]()
        for kind, title, prompts in asked:
            if kind not in shown:
                shown.add(kind)
                first_prompt, *then = prompts() or [NOTHING]
                yield f"### {title}\n\n{_fenced(first_prompt)}\n\n"
                for text in then:
                    yield f"Then:\n\n{_fenced(text)}\n\n"


def _first(journal: Path, played: Sequence[str], ending: bytes) -> dict[str, list[dict[str, Any]]]:
    """Return the records of each game's first matches."""
    found: dict[str, list[tuple[int, bytes]]] = {name: [] for name in played}
    with journal.open("rb") as lines:
        for line in lines:
            if not line.rstrip().endswith(ending):
                continue
            if (begins := _BEGINS.match(line)) and (of := begins["game"].decode()) in found:
                number = int(begins["match"])
                if len(found[of]) < MATCHES or number < found[of][-1][0]:
                    found[of] = sorted([*found[of], (number, line)])[:MATCHES]
    return {name: [json.loads(line) for _, line in some] for name, some in found.items()}


def _asked(
    record: Mapping[str, Any], house: House
) -> Iterator[tuple[tuple[str, ...], str, Callable[[], list[str]]]]:
    """Yield the kind of each turn of a match, its title, and what returns its prompts.

    Seats that have numbers for names are asked alike. Scripts are asked nothing.
    """
    game = record["game"]
    state = games.load(game).new(record["seed"], **house.rules.get(game, {}))
    words = house.wording.of(game)
    forfeits = {it["turn"] for it in record["forfeits"]}
    for number, turn in enumerate(record["turns"], start=1):
        role, model = turn["role"], record["seats"].get(turn["role"])
        if role != MANAGER and model not in house.scripts:
            seen, player = words(state.observe(role)), house.strategies.of(model, game, role)
            name = house.strategies.called(model, game, role)
            by = "" if name == DEFAULT else f", {name}"
            kind = _NUMBERED.sub("", role), seen.action, name
            title = f"{role}: {seen.action.replace('_', ' ')}{by}"
            yield kind, title, partial(rehearsed, player, seen)
        elif isinstance(state.needed, Jury):
            for order, text in enumerate(state.needed.prompts, start=1):
                yield ("jury", str(order)), f"a juror: question {order}", partial(list, [text])
        after = _after(state, turn, left=number in forfeits)
        if after is None:
            return
        state = after


def _after(state: State, turn: Mapping[str, Any], *, left: bool) -> State | None:
    """Return the state behind a turn; None where a match ended with it, or nothing is known."""
    if left:
        return state.without(turn["role"])
    if turn["error"] is not None:
        return state
    try:
        return state.apply(turn["move"])
    except (games.InvalidMove, games.Unjudged):  # of other rules, or of a void match
        return None


def _refused() -> str:
    """Return what a model is told of a reply without a valid move."""
    return prompt(Observation("", "", ""), [Try("", "REASON")])[-1].content


def _fenced(text: str) -> str:
    """Return a text as a block, which nothing in it can end."""
    fence = "`" * max([3, *(len(it) + 1 for it in _TICKS.findall(text))])
    return f"{fence}text\n{text}\n{fence}"
