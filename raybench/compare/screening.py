"""Runs of screenings: which questions both kept, and the panel's models on what both tried."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from raybench.compare import pairing, questions, settings
from raybench.compare.flips import MOST, Done, between
from raybench.compare.found import Compared, Flip, Flips, Pair, Reply, Side, Table
from raybench.compare.questions.units import HLE
from raybench.compare.runs import Stored
from raybench.errors import ConfigurationError, Problem
from raybench.pipeline.units import unit_id
from raybench.reading import from_json
from raybench.statements import Statement
from raybench.tracking import addresses

_DECISIONS = ("accepted", "rejected", "undecided")
_KEPT, _DROPPED = "accepted", "rejected"
_WORDS = "kept by the candidate's run alone", "kept by the baseline's alone"


@dataclass(frozen=True, slots=True)
class _Decided:
    """What became of a candidate, and the line of a file that says so."""

    told: Mapping[str, Any]
    done: Done

    @property
    def hidden(self) -> bool:
        """Tell whether it is held out: the run's report shows no sample of it."""
        return bool(self.told.get("private")) and self.told["decision"] != _DROPPED


def compare(pairs: Sequence[Pair], *, most: int = MOST) -> tuple[list[Compared], list[str]]:
    """Return which candidates each pair of runs kept, what is found of each model, and why not."""
    kept, strangers = pairing.each(pairing.whole(pairs), lambda it: [_kept(it, most)])
    found, why = questions.compare(pairs, only=(), most=most)
    asked = [replace(it, flips=[_readable(of, it.pair) for of in it.flips]) for it in found]
    return [*kept, *asked], [*strangers, *why]


def _kept(pair: Pair, most: int) -> Compared:
    """Return which candidates two runs kept."""
    one, other = (_decided(it.run) for it in (pair.baseline, pair.candidate))
    common = [key for key in one if key in other]
    if not common:
        raise ConfigurationError(
            Problem(
                "compare.nothing",
                f"{pair.baseline.run.folder} and {pair.candidate.run.folder} tried no candidate "
                "in common",
                fix="screen the same ones in both (candidates=FILE)",
            )
        )
    alone = len(one) - len(common), len(other) - len(common)
    notes: list[str] = [
        "To keep more questions is neither better nor worse: nothing here is tested."
    ]
    if any(alone):
        notes.append(
            Statement(
                "compare.tried_alone",
                "Tried by the baseline alone: {baseline:,}; by the candidate alone: {candidate:,}",
                baseline=alone[0],
                candidate=alone[1],
            )
        )
    return Compared(
        pair, [], settings.different(pair), notes,
        [_flips(pair, one, other, most)], [*_tables(one, other, common)],
    )  # fmt: skip


def _readable(flips: Flips, pair: Pair) -> Flips:
    """Return flipped questions without addresses of what the runs' reports hold out."""
    hidden = [
        {key for key, it in _decided(side.run).items() if it.hidden}
        for side in (pair.baseline, pair.candidate)
    ]

    def shown(reply: Reply, key: str, of: set[str]) -> Reply:
        return replace(reply, unit="") if key in of else reply

    items = [
        replace(
            it,
            baseline=shown(it.baseline, it.key, hidden[0]),
            candidate=shown(it.candidate, it.key, hidden[1]),
        )
        for it in flips.items
    ]
    return replace(flips, items=items)


def _tables(
    one: Mapping[str, _Decided], other: Mapping[str, _Decided], common: Sequence[str]
) -> Iterator[Table]:
    """Yield how many both kept, and every candidate on which they differ."""
    kept = [tuple(bool(it[key].done.value) for it in (one, other)) for key in common]
    told = {
        "both": (True, True),
        "the baseline alone": (True, False),
        "the candidate alone": (False, True),
        "neither": (False, False),
    }
    yield Table(
        f"Kept, of the {len(common):,} candidates that both tried",
        ("Kept by", "Candidates", "Which"),
        [
            (name, f"{kept.count(which):,}", _listed(common, kept, which))
            for name, which in told.items()
        ],
    )
    differ = [key for key in common if one[key].told["decision"] != other[key].told["decision"]]
    if differ:
        yield Table(
            "Decided otherwise",
            ("Candidate", "Baseline", "Candidate's run"),
            [(key, _why(one[key].told), _why(other[key].told)) for key in differ],
        )


def _flips(
    pair: Pair, one: Mapping[str, _Decided], other: Mapping[str, _Decided], most: int
) -> Flips:
    """Return the candidates that one run kept and the other one dropped, or left undecided."""

    def flip(key: str, before: Done, after: Done) -> Flip:
        sides = (pair.baseline, one[key]), (pair.candidate, other[key])
        replies = [_reply(side, key, told) for side, told in sides]
        return Flip(key, key, after.value - before.value, replies[0], replies[1])

    flips = Flips("hle_screen/kept", "Kept or not", of="candidates", words=_WORDS)
    sides = ({key: it.done for key, it in of.items()} for of in (one, other))
    return between(flips, (next(sides), next(sides)), flip, most)


def _reply(side: Side, key: str, decided: _Decided) -> Reply:
    """Return what a run made of a candidate, with the sample that its report shows of it.

    That is of the first model that answered it, or of the first one of all.
    """
    told = decided.told
    models = [*told.get("answered", ()), *told.get("models", ()), *side.run.models]
    sample = {"model": models[0], "benchmark": HLE, "language": "en", "key": key, "repeat": 0}
    unit = "" if decided.hidden else addresses.sample(unit_id(sample))
    journal = _file(side.run, told["decision"])
    return Reply(
        journal, decided.done.line, decided.done.offset, unit, _why(told),
        {"decision": told["decision"], "model": models[0]}, {},
    )  # fmt: skip


def _listed(common: Sequence[str], kept: Sequence[Any], which: tuple[bool, bool]) -> str:
    if which == (False, False):
        return "—"
    return ", ".join(key for key, it in zip(common, kept, strict=True) if it == which) or "—"


def _why(line: Mapping[str, Any]) -> str:
    return f"{line['decision']}: {line.get('evidence', '—')}"


def _file(run: Stored, decision: str) -> Path:
    return run.folder / f"{decision}.jsonl"


@lru_cache(maxsize=2)  # every pair of the same two runs asks
def _decided(run: Stored) -> dict[str, _Decided]:
    """Return what became of every candidate that was tried, by its id."""
    if not run.finished:
        raise ConfigurationError(
            Problem(
                "run.unfinished",
                f"{run.folder} is unfinished, and has decided nothing yet",
                given=str(run.folder),
                fix="run the same command again",
            )
        )
    found = {}
    for decision in _DECISIONS:
        path, offset = _file(run, decision), 0
        try:
            for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
                told = from_json(line)
                done = Done(float(decision == _KEPT), number, offset)
                found[str(told["id"])] = _Decided(told | {"decision": decision}, done)
                offset += len(line)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ConfigurationError(
                Problem(
                    "file.unreadable",
                    f"{path} cannot be read ({error!r})",
                    given=str(path),
                    fix=f"copy the whole folder of the run; {run.made}",
                )
            ) from error
    return found
