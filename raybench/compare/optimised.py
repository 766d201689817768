"""Runs of players that learn: what moves are worth, and what was gained, position by position."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raybench.arena.studies import PHASES
from raybench.compare import means, settings
from raybench.compare.flips import MOST, Done, between, numbered, reply
from raybench.compare.found import SHARE, Compared, Flip, Flips, Pair, Reply, Score, Side
from raybench.errors import ConfigurationError, Problem
from raybench.tracking import addresses

_MARKS, _STUDIES = "marks", "studies"
BEFORE, AFTER = PHASES
Place = tuple[str, str]
"""A held-out position: what tells it apart from others, and the family it is of."""


@dataclass
class _Study:
    """What came of a model that learned to play one set of positions."""

    number: int
    drawn: str
    """From which seed and by which version its positions are drawn."""
    worth: dict[str, dict[Place, Done]] = field(
        default_factory=lambda: {phase: {} for phase in PHASES}
    )
    """What a move was worth, by phase and position."""


def compare(pairs: Sequence[Pair], most: int = MOST) -> Iterator[Compared]:
    """Yield what is found of each pair. Raises ConfigurationError where there is nothing to."""
    for pair in pairs:
        one, other = (_studies(it) for it in (pair.baseline, pair.candidate))
        scores, unlike, flips = list[Score](), list[str](), list[Flips]()
        for name in (it for it in one if it in other):
            if those := list(_scores(name, one[name], other[name])):
                scores += those
                flips.append(_flips(pair, name, (one[name], other[name]), most))
            else:
                unlike.append(name)
        if not scores:
            raise ConfigurationError(
                Problem(
                    "compare.nothing",
                    f"{pair.candidate.model} of {pair.candidate.run.folder} and "
                    f"{pair.baseline.model} of {pair.baseline.run.folder} played no held-out "
                    "position in common"
                    + (
                        f" ({', '.join(unlike)} drawn by another seed or version)" if unlike else ""
                    ),
                    fix="run one again with the other's seed=… and positions=[…]",
                )
            )
        notes = ["Held-out positions of both, paired: those of one family count as one."]
        if unlike:
            notes.append(f"Drawn by another seed or version, not compared: {', '.join(unlike)}")
        yield Compared(pair, scores, settings.different(pair), notes, flips)


def _scores(name: str, one: _Study, other: _Study) -> Iterator[Score]:
    """Yield what moves are worth after learning, and how much that is more than before."""
    sides = [_told(it) for it in (one, other)]
    for what, title in (("gain", "gain"), (AFTER, "worth of a move after learning")):
        values = [it[what] for it in sides]
        if common := [place for place in values[0] if place in values[1]]:
            yield means.paired(
                f"{name}/{what}",
                f"{name}: {title}",
                ([values[0][it] for it in common], [values[1][it] for it in common]),
                of="held-out positions",
                families=[family for _, family in common],
                scale=SHARE,
            )


def _flips(pair: Pair, name: str, studies: tuple[_Study, _Study], most: int) -> Flips:
    """Return the held-out positions in which moves after learning are worth something else."""
    flips = Flips(
        f"{name}/{AFTER}", f"{name}: worth of a move after learning", of="held-out positions"
    )
    sides = studies[0].worth[AFTER], studies[1].worth[AFTER]

    def flip(_: Place, one: Done, other: Done) -> Flip:
        replies = [
            _reply(*it)
            for it in zip((pair.baseline, pair.candidate), studies, (one, other), strict=True)
        ]
        places = replies[0].facts["place"], replies[1].facts["place"]
        called = numbered("position", "positions", places)
        return Flip(str(places[1]), called, other.value - one.value, replies[0], replies[1])

    return between(flips, sides, flip, most)


def _reply(side: Side, study: _Study, done: Done) -> Reply:
    record = side.run.at_offset(_MARKS, done.line, done.offset)
    place, phase = record["place"], record["phase"]
    move = record.get("move")
    texts = {"answer": move, "response": record.get("reply"), "reason": record.get("error")}
    return reply(
        side, _MARKS, done, addresses.position(study.number, phase, place),
        f"worth {done.value:.2f}",
        {"study": study.number, "place": place, "phase": phase, "worth": done.value},
        {name: it for name, it in texts.items() if it is not None or name == "answer"},
    )  # fmt: skip


def _told(study: _Study) -> Mapping[str, Mapping[Place, float]]:
    before, after = (
        {place: done.value for place, done in study.worth[phase].items()} for phase in PHASES
    )
    gains = {place: after[place] - before[place] for place in after if place in before}
    return {"gain": gains, AFTER: after}


def _studies(side: Side) -> dict[str, _Study]:
    """Return a model's studies by the positions they are of."""
    run, found, numbers = side.run, dict[str, _Study](), dict[int, _Study]()
    for number, _, record in run.lines(_STUDIES):
        try:
            if record["model"] == side.model:
                about = record["about"]
                study = _Study(record["study"], f"{about['settings']['seed']} {about['digest']}")
                found[record["positions"]] = numbers[record["study"]] = study
        except (LookupError, TypeError) as error:
            raise run.unlike(_STUDIES, number, error) from error
    for number, offset, record in run.lines(_MARKS):
        try:
            if "phase" in record and (study_ := numbers.get(record["study"])) is not None:
                place = _position(record, study_), record["family"]
                done = Done(float(record["worth"]), number, offset)
                study_.worth[record["phase"]][place] = done
        except (LookupError, TypeError) as error:
            raise run.unlike(_MARKS, number, error) from error
    return found


def _position(mark: Mapping[str, Any], study: _Study) -> str:
    """Return what tells a held-out position apart: its digest, or else how it was drawn."""
    return mark.get("position") or f"{study.drawn} {mark['place']}"
