"""What tests of phrasings look at: what games say by many rules, and what a rewording keeps."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from raybench import games
from raybench.errors import ConfigurationError
from raybench.games.parts.poker.options import Options
from raybench.types import Observation

BLACK_FIRST = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"
SETTINGS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "chess": {
        "start": ("standard", BLACK_FIRST),
        "openings": ("book", "none"),
        "random_plies": (0, 6),
        "plies": (1, 12, 200, 1000),
        "claims": ("automatic", "players"),
        "resign": (False, True),
        "show_legal": (False, True),
        "picture": (False, True),
    },
    "debate": {
        "topic": ("", "Tea is better than coffee"),
        "rebuttals": (0, 1, 2, 3, 10),
        "words": (20, 250, 2000),
        "closings": (True, False),
    },
    "gandalf": {"turns": (1, 2, 8, 40), "guesses": (1, 2, 7), "words": (20, 120, 1000)},
    "liars_dice": {
        "players": (2, 3, 10),
        "dice": (1, 2, 5, 20),
        "faces": (2, 6, 10),
        "wild": (False, True),
        "rounds": ("one", "elimination"),
    },
    "mathquiz": {
        "proofs": (1, 2, 5),
        "attempts": (1, 2, 5),
        "smallest": (10, 100, 900),
        "largest": (109, 999, 10**12),
        "longest": (100, 1_500, 10_000),
    },
    "poker": {
        "players": (2, 3, 10),
        "hands": (1, 2, 6),
        "stack": (2, 7, 30, 200, 10_000),
        "small_blind": (1, 2, 5),
        "big_blind": (1, 2, 5, 20),
    },
    "pyjail": {
        "proofs": (1, 3, 5),
        "attempts": (1, 3, 5),
        "openings": (1, 2, 3, 10),
        "source_shown": (True, False),
        "seconds": (0.5, 1, 2.75, 5.0, 60),
        "longest": (100, 4_000, 20_000),
        "longest_input": (100, 2_000, 20_000),
        "shown": (100, 1_000, 20_000),
    },
    "werewolf": {
        "players": (5, 7, 10),
        "wolves": (None, 1, 2, 4),
        "seer": (True, False),
        "guardian": (True, False),
        "peaceful": (True, False),
        "reveal": (True, False),
        "rounds": (1, 2, 5),
        "words": (10, 100, 500),
        "days": (1, 2, 8, 20),
    },
}
"""What each rule of each game is tried with."""
_MOST_MOVES = 150
_LITERALS = re.compile(
    r"(?<!\w)'[^'\n]+'(?!\w)"  # quoted
    r"|\w+\(\w*\)|\S*\d\S*=\w|O-O"  # code, and moves
    r"|-?\d[\d,.]*(?<![,.])|\d*[a-z]+\d+\w*"
    r"|\b(?:[A-Z]{2,}|None|Python)\b"
)
_COUNTS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|second|third|fourth|fifth|twice|thrice)\b"
)


def walked(name: str) -> Iterator[dict[str, Any]]:
    """Yield a game's own rules, and those that differ from them in one or two."""
    fields = SETTINGS[name]
    yield {}
    for field, values in fields.items():
        for value in values:
            for other, others in fields.items():
                for another in others[-2:]:
                    if possible(name, rules := {other: another, field: value}):
                        yield rules


def possible(name: str, rules: Mapping[str, Any]) -> bool:
    """Tell whether a game can be played by these rules."""
    try:
        games.load(name).ruled(rules)
    except ConfigurationError:
        return False
    return True


def told(
    name: str, rules: Mapping[str, Any], seed: int, *, good: bool = False
) -> list[Observation]:
    """Return what is told in a random game, by anybody's rules and tasks, each once."""
    rng = random.Random(f"phrasing/{seed}")
    state, seen = games.load(name).new(seed, **rules), list[Observation]()
    for _ in range(_MOST_MOVES):
        seen += [state.observe(role) for role in state.roles]
        if state.over:
            break
        try:
            state = state.apply(state.good(rng) if good else state.sample(rng))
        except games.InvalidMove:  # rules may leave no room for any jail that a stand-in knows
            break
    return distinct(seen)


def distinct(seen: Iterable[Observation]) -> list[Observation]:
    """Return one observation of those with the same rules and task."""
    return [*{(it.rules, it.task): it for it in seen}.values()]


def poker_tasks() -> Iterator[str]:
    """Yield every kind of task at a poker table, the rare ones as well."""
    for cost, highest in ((0, 0), (0, 4), (3, 4), (12, 20)):
        for lowest in (None, 8, 30):
            own = highest - cost
            yield f"Your move: {Options(cost, highest, own, 30 - own, lowest)}."


def literals(text: str) -> Counter[str]:
    """Return what has to stay to the letter: numbers, names in code, what is quoted."""
    return Counter(_LITERALS.findall(text))


def counts(text: str) -> Counter[str]:
    """Return the numbers that are written as words."""
    return Counter(_COUNTS.findall(text.lower()))


def clauses(text: str) -> list[str]:
    """Return the parts of a text that are longer than six words."""
    return [it for it in re.split(r"(?<=[.:;])\s+", text) if len(it.split()) > 6]
