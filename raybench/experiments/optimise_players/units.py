"""All held-out positions as they were played, for the report's reader: before beside after."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from raybench import positions
from raybench.arena.studies import PHASES, Marked, Study
from raybench.config import Config
from raybench.experiments.games.rehearsed import rehearsed
from raybench.experiments.games.units import INVALID
from raybench.experiments.optimise_players import gains, setup
from raybench.experiments.optimise_players.ledger import JOURNAL, Ledger
from raybench.games.parts.wording import Wording
from raybench.players.program import Program
from raybench.tracking import addresses
from raybench.tracking.report import Body, Facet, Text, Unit, Units
from raybench.tracking.text import one_line
from raybench.types import Observation

_LINE = 160
"""Characters of a unit's line in the list."""
_FACETS = (
    Facet("model"),
    Facet("positions"),
    Facet("phase"),
    Facet("outcome"),
    Facet("worth", number=True),
    Facet("tokens", number=True),
)
GONE = "(these positions are drawn otherwise today: this one is not among them)"


def units(config: Config, done: Collection[int], ledger: Ledger) -> Units:
    """Return the held-out positions of the studies that are done, given by their numbers."""
    return Units(
        "position",
        f"journal/{JOURNAL}.jsonl",
        _FACETS,
        lambda: _each(config, done, ledger),
        group="position",
    )


@dataclass(frozen=True)
class _Played:
    """What one study played in one phase."""

    study: Study
    phase: str
    by: Program
    marks: Mapping[int, Marked]


def _each(config: Config, done: Collection[int], ledger: Ledger) -> Iterator[Unit]:
    """Yield the positions by their sets, each with all who played it together."""
    by_set: dict[str, list[_Played]] = {}
    for study in setup.studies(config):
        if study.number in done:
            by_set.setdefault(study.positions, []).extend(_played(config, study, ledger))
    for named, those in by_set.items():
        seen = _seen(config, named)
        for place in sorted({place for it in those for place in it.marks}):
            shown = seen[place] if place < len(seen) else None
            for it in those:
                if place in it.marks:
                    line = ledger.lines[it.study.number, it.phase, place]
                    yield _unit(it, place, positions.load(named).name, shown, line)


def _played(config: Config, study: Study, ledger: Ledger) -> Iterator[_Played]:
    program = Program(config.optimise_players.program)
    compiled = replace(program, texts=(json.dumps(ledger.states[study.number]),))
    marks = ledger.marks.get(study.number, {})
    for phase in PHASES:
        by = compiled if phase == gains.AFTER else program
        yield _Played(study, phase, by, marks.get(phase, {}))


def _seen(config: Config, named: str) -> Sequence[Observation]:
    """Return what a model sees in each held-out position."""
    of = positions.load(named)
    words = Wording(config.games.phrasing).of(of.game)
    drawn = setup.curriculum(config).drawn(of, "held_out")
    return [words(state.observe(state.to_move or "")) for state in drawn]


def _unit(played: _Played, place: int, of: str, seen: Observation | None, line: int) -> Unit:
    mark, model = played.marks[place], played.study.model
    said = f"no move: {mark.error}" if mark.error is not None else mark.move
    return Unit(
        key=addresses.position(played.study.number, mark.phase, place),
        summary=one_line(f"{place}: {said}", _LINE),
        facets={
            "model": model,
            "positions": of,
            "phase": mark.phase,
            "outcome": _outcome(mark),
            "worth": mark.worth,
            "tokens": mark.tokens,
        },
        body=partial(_body, mark, played.by, seen),
        line=line,
        group=f"{of}/{place}",
        stratum=of,
    )


def _outcome(mark: Marked) -> str:
    if mark.error is None:
        return "a move"
    return "cut off" if mark.truncated else "no move"


def _body(mark: Marked, by: Program, seen: Observation | None) -> Body:
    return Body([*_asked(by, seen), *_replied(mark)])


def _asked(by: Program, seen: Observation | None) -> Iterator[Text]:
    """Yield the position, and the prompt that the program makes of it."""
    if seen is None:
        yield Text("position", GONE)
        return
    yield Text("position", f"{seen.view}\n\n{seen.task}")
    for prompt in rehearsed(by, seen):
        yield Text("asked", prompt, folded=True)


def _replied(mark: Marked) -> Iterator[Text]:
    """Yield the reply, what was read in it, and what that is worth."""
    cut = ", cut off" if mark.truncated else ""
    yield Text(f"reply ({mark.tokens:,} tokens{cut})", mark.reply, reply=True)
    if mark.error is not None:
        yield Text(INVALID, mark.error, reply=True)
    else:
        yield Text("move", mark.move or "", reply=True)
    yield Text("grade", f"worth {mark.worth:.2f}, where 0 is the worst and 1 the best", reply=True)
