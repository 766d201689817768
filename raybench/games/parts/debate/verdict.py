"""What a jury has decided: read from its replies, never from more or less than the rubric has.

Each juror reads the debate twice, with either side first, and its vote is the sum of both margins:
being read first then helps nobody. A juror whose two replies are not both there and within bounds
has no vote. The margins of all votes are added: which side has more in sum has won, a sum of zero
is a draw. All are whole numbers, so that nothing is rounded.

The sum, and not the majority of jurors: a narrow preference and a clear one are not the same, and
the rubric's bounds keep any juror from outweighing the others for good. With a juror or two, which
is what most runs can afford, a majority would be a draw too often.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raybench.games.parts.contract import InvalidMove, Unjudged
from raybench.statements import Statement

CRITERIA = {
    "argument": "its reasons are sound, and support its side of the motion",
    "evidence": "its facts and examples are true, specific and to the point",
    "rebuttal": "it answers the strongest of what the other side said",
    "clarity": "it is well ordered and easy to follow",
}
LOWEST, HIGHEST = 1, 10
SIDES = ("side_a", "side_b")


def _of(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(parts),
        "required": [*parts],
        "additionalProperties": False,
    }


_MARK = {"type": "integer", "minimum": LOWEST, "maximum": HIGHEST}
SCHEMA: Mapping[str, Any] = _of({side: _of(dict.fromkeys(CRITERIA, _MARK)) for side in SIDES})
"""One juror's scores: bounded where decoding can be held to it, and bounded again when read."""
_MOST_BRACES = 100
"""So many places of a reply are looked at for its JSON, so that no reply takes long to read."""


@dataclass(frozen=True, slots=True)
class Vote:
    """What one juror said: by how much 'for' was better, in points of the rubric."""

    juror: str
    for_first: int | None
    """Where it read that side first; None without a reply that could be read."""
    against_first: int | None
    """Where it read the other side first."""

    @property
    def margin(self) -> int | None:
        """Both readings together; None where the vote is missing."""
        if self.for_first is None or self.against_first is None:
            return None
        return self.for_first + self.against_first

    @property
    def first_is_better(self) -> float | None:
        """By how many points being read first was better, on average; None for a missing vote."""
        if self.for_first is None or self.against_first is None:
            return None
        return (self.for_first - self.against_first) / 2


def votes(move: str) -> tuple[Vote, ...]:
    """Return the votes of the manager's move.

    Raises InvalidMove where it is not of the form that `Jury` describes, and Unjudged where no vote
    can be counted.
    """
    cast = tuple(_vote(*it) for it in _replies(move))
    if len({vote.juror for vote in cast}) < len(cast):
        raise InvalidMove(
            Statement("debate.juror_twice", "a juror votes once: give every juror its own name")
        )
    if all(vote.margin is None for vote in cast):
        raise Unjudged(
            Statement(
                "debate.no_votes",
                "none of {jurors} jurors gave scores that can be read, both ways round",
                jurors=len(cast),
            )
        )
    return cast


def counted(cast: Sequence[Vote]) -> tuple[int, int]:
    """Return how many votes there are, and how many are missing."""
    missing = sum(vote.margin is None for vote in cast)
    return len(cast) - missing, missing


def margin(cast: Sequence[Vote]) -> int:
    """Return by how much 'for' was better in sum: positive, negative, or 0 for a draw."""
    return sum(vote.margin or 0 for vote in cast)


def marks(reply: str | None) -> tuple[int, int] | None:
    """Return the totals of a reply's two sides; None where any score is missing or out of bounds.

    What is out of bounds is not moved into them: who wrote it did not use the rubric.
    """
    told = [it for it in _objects(reply or "") if any(side in it for side in SIDES)]
    if len(told) != 1:  # which of several is meant, nobody knows
        return None
    first, second = (_total(told[0].get(side)) for side in SIDES)
    return None if first is None or second is None else (first, second)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects that stand in a text, whatever braces stand around them."""
    decoder, at = json.JSONDecoder(object_pairs_hook=_once), text.find("{")
    for _ in range(_MOST_BRACES):
        if at < 0:
            return
        try:
            told, end = decoder.raw_decode(text, at)
            yield told
        except (ValueError, RecursionError):
            end = at + 1
        at = text.find("{", end)


def _total(scores: Any) -> int | None:
    if not isinstance(scores, dict):
        return None
    given = [scores.get(name) for name in CRITERIA]
    whole = [it for it in given if type(it) is int and LOWEST <= it <= HIGHEST]
    return sum(whole) if len(whole) == len(given) else None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    said = dict(pairs)
    if len(said) < len(pairs):
        raise ValueError("a name stands there twice")
    return said


def _replies(move: str) -> Iterator[tuple[str, Sequence[str | None]]]:
    form = Statement(
        "debate.jury_form",
        'the jury\'s move is {{"votes": [{{"juror": NAME, "replies": [TEXT or null, …]}}, …]}}',
    )
    try:
        told = json.loads(move)
    except (ValueError, RecursionError) as error:
        raise InvalidMove(form) from error
    listed = told.get("votes") if isinstance(told, dict) else None
    if not isinstance(listed, list):
        raise InvalidMove(form)
    for each in listed:
        juror, replies = (
            (each.get("juror"), each.get("replies")) if isinstance(each, dict) else (None, None)
        )
        if not isinstance(juror, str) or not isinstance(replies, list) or len(replies) != 2:
            raise InvalidMove(
                Statement(
                    "debate.jury_replies",
                    "{form}, with a reply for each of the two prompts",
                    form=form,
                )
            )
        if not all(reply is None or isinstance(reply, str) for reply in replies):
            raise InvalidMove(
                Statement("debate.jury_reply", "{form}; a reply is a text or null", form=form)
            )
        yield juror, replies


def _vote(juror: str, replies: Sequence[str | None]) -> Vote:
    """Read a juror's replies: in the first, side A is 'for'; in the second, 'against'."""
    one, other = (marks(reply) for reply in replies)
    return Vote(juror, one and one[0] - one[1], other and other[1] - other[0])
