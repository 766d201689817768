"""What tells some positions from others: names of what was learned from them hold it."""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict

from raybench.games import State
from raybench.games.parts.wording import Words, as_it_is


def digest(
    states: Iterable[State],
    answer: Callable[[State], str | None] | None = None,
    words: Words = as_it_is,
) -> str:
    """Return a hash of what whoever is to move sees in each of them, in this order.

    With `answer`, as of `Positions`, the moves that are worth most count as well. It stays the same
    from run to run, and changes with every word that is shown, in these `words`.
    """
    whole = hashlib.sha256()
    for state in states:
        seen = asdict(words(state.observe(state.to_move or "")))
        told = {"seen": seen, "answer": answer and answer(state)}
        whole.update(json.dumps(told, sort_keys=True).encode() + b"\n")
    return whole.hexdigest()
