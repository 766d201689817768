"""What comes out of a run: what moves are worth before and after, and the players themselves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from raybench.arena.studies import PHASES
from raybench.config import Config
from raybench.experiments.optimise_players import choice, gains
from raybench.experiments.optimise_players.ledger import Ledger
from raybench.experiments.optimise_players.units import units
from raybench.experiments.parts import digests, supported
from raybench.experiments.parts.outcome import Outcome
from raybench.pipeline import compiled
from raybench.stats.paired import holm
from raybench.tracking import plots
from raybench.tracking.leaderboard import Board, Column
from raybench.tracking.report import Item, Section, Table
from raybench.types import Counts, Estimate

HEAD = "optimise_players/gain"
_PLAYERS = "players"
Study = tuple[str, str]
"""A model, and a set of positions."""
Studies = Mapping[Study, Mapping[str, Any]]
"""The records of studies."""
Found = Mapping[Study, Mapping[str, Estimate]]
"""What was gained."""
_LEVEL = 0.05
_MANY = 0.05
"""Share of replies without a move of which it is said why."""
_SHOWN = 3
"""Held-out positions of a study that the report shows."""
TOLD = "What the players are told"
"""The title of the section with their instructions."""
_TEXT = (
    "What a move is worth on the average, from 0 to 1, in positions that no optimiser has seen: "
    "played by the program as it was, and as it is. Gains are of the same positions; those of one "
    "family (jails of one kind) count as one. 95 % intervals."
)


def concluded(
    config: Config,
    records: Sequence[Mapping[str, Any]],
    ledger: Ledger,
    failed: Mapping[str, str],
) -> Outcome:
    """Conclude from the studies that were done."""
    by = {(it["model"], it["positions"]): it for it in records}
    found = {key: gains.studied(ledger.marks.get(it["study"], {})) for key, it in by.items()}
    models = list(dict.fromkeys(model for model, _ in by))
    sets = list(dict.fromkeys(of for _, of in by))
    metrics = {model: _metrics(model, found) for model in models}
    counts = {
        model: _together(
            gains.counted(ledger.marks.get(it["study"], {}))
            for it in records
            if it["model"] == model
        )
        for model in models
    }
    return Outcome(
        metrics=metrics,
        counts=counts,
        failures=[{"study": name, "why": why} for name, why in failed.items()],
        columns=_columns(sets),
        boards=[_board(of, found, models) for of in sets] if len(sets) > 1 else [],
        sections=[
            Section(supported.TITLE, _support(by, found, ledger)),
            Section("Before and after", _TEXT, figure=_figure(found), table=_table(by, found)),
            Section(
                TOLD,
                "Their instructions, and how many examples stand before a position. The files hold "
                "all of it.",
                items=[*_items(by, ledger)],
            ),
        ],
        inputs=_inputs(by, ledger),
        units=units(config, [it["study"] for it in records], ledger),
        about={"players": {" ".join(key): it["file"] for key, it in by.items()}},
        notes=_notes(config, by, found, ledger),
        texts={
            f"{_PLAYERS}/{compiled.file_of('.'.join(key), it['about'])}": partial(
                _file, it, ledger.states[it["study"]], found[key]
            )
            for key, it in by.items()
        },
        unfinished="; ".join(f"{name}: {why}" for name, why in failed.items()),
    )


def _inputs(by: Studies, ledger: Ledger) -> dict[str, str]:
    """Return the digests of the held-out positions, in their order: every number is of these.

    Journals of before they were kept tell none.
    """
    asked: dict[str, dict[int, str]] = {}
    for (_, of), record in by.items():
        for marks in ledger.marks.get(record["study"], {}).values():
            asked.setdefault(of, {}).update({at: it.position for at, it in marks.items()})
    return {
        f"positions.{of}": digests.of(it[at] for at in sorted(it))
        for of, it in asked.items()
        if all(it.values())
    }


def _metrics(model: str, found: Found) -> dict[str, Estimate]:
    own = {of: it for (name, of), it in found.items() if name == model}
    whole = {HEAD: gains.over_all({of: it[gains.GAIN] for of, it in own.items()})}
    return whole | {f"{of}/{name}": it for of, each in own.items() for name, it in each.items()}


def _columns(sets: Sequence[str]) -> list[Column]:
    if len(sets) == 1:
        (of,) = sets
        return [
            Column(f"{of}/{gains.GAIN}", "Gain"),
            Column(f"{of}/{gains.BEFORE}", "Before"),
            Column(f"{of}/{gains.AFTER}", "After"),
        ]
    return [Column(HEAD, "Gain"), *(Column(f"{of}/{gains.GAIN}", of) for of in sets)]


def _board(of: str, found: Found, models: Sequence[str]) -> Board:
    lines = {model: found[model, of] for model in models if (model, of) in found}
    columns = [
        Column(gains.GAIN, "Gain"),
        Column(gains.BEFORE, "Before"),
        Column(gains.AFTER, "After"),
    ]
    return Board(of, lines, columns, "model")


def _figure(found: Found) -> str | None:
    if not found:
        return None
    return plots.versus(
        {
            "worth of a move": {
                phase: {_named(key): it[phase].to_json() for key, it in found.items()}
                for phase in PHASES
            },
            "gain": {
                gains.GAIN: {_named(key): it[gains.GAIN].to_json() for key, it in found.items()}
            },
        }
    )


def _named(key: Study) -> str:
    return f"{key[0]}, {key[1]}"


def _table(
    by: Studies,
    found: Found,
) -> Table:
    return Table(
        ("Model", "Positions", "Before", "After", "Gain", "Key"),
        [
            (*key, *(found[key][it] for it in (*PHASES, gains.GAIN)), record["key"])
            for key, record in by.items()
        ],
    )


def _items(by: Studies, ledger: Ledger) -> Iterator[Item]:
    for key, record in by.items():
        state, marks = ledger.states[record["study"]], ledger.marks.get(record["study"], {})
        body = {f"{name}, instructions": it for name, it in _instructions(state)}
        for place, mark in sorted(marks.get(gains.AFTER, {}).items())[:_SHOWN]:
            before = marks[gains.BEFORE].get(place)
            if before is not None:
                body[f"held-out position {place}, before: worth {before.worth:.2f}"] = before.reply
            body[f"held-out position {place}, after: worth {mark.worth:.2f}"] = mark.reply
        yield Item(f"{_named(key)}: {_examples(state)}", body)


def _instructions(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, part in _parts(state):
        yield name, str(part["signature"].get("instructions", ""))


def _examples(state: Mapping[str, Any]) -> str:
    numbers = Counter({name: len(part.get("demos") or ()) for name, part in _parts(state)})
    return ", ".join(f"{count} examples ({name})" for name, count in numbers.items())


def _parts(state: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the predictors of a saved program, by name; of a single one the state is its own."""
    if "signature" in state:
        yield "program", state
        return
    for name, part in state.items():
        if isinstance(part, Mapping) and "signature" in part:
            yield name, part


def _notes(config: Config, by: Studies, found: Found, ledger: Ledger) -> dict[str, str]:
    told = {"Told apart": _verdict(by, found, ledger)}
    if refused := [*_without_moves(by, ledger)]:
        told["No move"] = "; ".join(refused)
    name, _ = choice.optimiser(config.optimise_players)
    told["Optimiser"] = (
        f"{name} for {config.optimise_players.metric}; program {config.optimise_players.program}"
    )
    if cached := [_named(key) for key, it in by.items() if it["cached"]]:
        told["Cache"] = f"{'; '.join(cached)}: compiled before, tried again here"
    told["Players"] = (
        f"{config.optimise_players.folder}; to play with them: +experiment=games "
        "games.strategy=optimised, with the same settings of optimise_players and games"
    )
    return told


def _verdict(by: Studies, found: Found, ledger: Ledger) -> str:
    """Say of which studies chance alone would hardly bring the gain."""
    ps = {
        key: p
        for key, record in by.items()
        if (p := gains.chance(ledger.marks.get(record["study"], {}))) is not None
    }
    sure = {key: found[key][gains.GAIN].value or 0.0 for key, p in holm(ps).items() if p < _LEVEL}
    better = "; ".join(sorted(_named(key) for key, value in sure.items() if value > 0))
    worse = "; ".join(sorted(_named(key) for key, value in sure.items() if value < 0))
    told = f"better: {better or 'none'}. Worse: {worse or 'none'}"
    if rest := len(found) - len(sure):
        told += f". The other {rest} may be chance"
    return f"{told} ({_LEVEL:.0%} with Holm's steps over all)"


def _support(by: Studies, found: Found, ledger: Ledger) -> str:
    """Say what was gained, and where that goes no further."""
    if not found:
        return "No study is done: there is nothing to tell."
    told = _verdict(by, found, ledger)
    return (
        f"Moves in held-out positions, after optimisation beside before: {told}. That a player "
        "makes better moves does not say by how much more it wins: +experiment=games plays that."
    )


def _without_moves(by: Studies, ledger: Ledger) -> Iterator[str]:
    """Yield why replies held no move, where many did not: prompts grow with their examples."""
    for key, record in by.items():
        for phase, marks in ledger.marks.get(record["study"], {}).items():
            whys = Counter(it.error for it in marks.values() if it.error is not None)
            if whys.total() > _MANY * len(marks):
                ((why, count),) = whys.most_common(1)
                yield f"{_named(key)}, {phase}: {whys.total()} of {len(marks)}, {count} as {why}"


def _together(several: Iterable[Counts]) -> Counts:
    every = [*several]
    return Counts(**{name: sum(getattr(it, name) for it in every) for name in Counts.__slots__})


def _file(
    record: Mapping[str, Any], state: Mapping[str, Any], found: Mapping[str, Estimate]
) -> Iterator[str]:
    made = {
        "model": record["model"],
        "held_out": {name: estimate.to_json() for name, estimate in found.items()},
    }
    yield compiled.text_of(record["about"], made, state)
