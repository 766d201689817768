"""What else differs between two sides: a difference in scores may come from it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from raybench.compare.found import Pair, Setting, Side
from raybench.compare.runs import Stored
from raybench.pipeline.run_identity import leaves
from raybench.tracking.text import one_line

_MOST = 160
"""Characters shown of a setting."""
_SHARED = ("seed", "data", "sandbox", "fleet")
"""Parts of the configuration beside the experiment's own that replies or grades may depend on."""
_ALSO = {
    "autobench_ablations": ("autobench",),
    "games_phrasings": ("games", "optimise_players"),
    "optimise_players": ("games",),
}
"""Other experiments' settings by which an experiment goes."""
_PEERS = "autobench"
"""How experiments begin in which the models judge each other."""
_DIGITS = 16
_FIRST = {"grading": 1}
"""What is true of a run whose results do not say it."""
_ASIDE = ("cache", "validate", "review", "accept_failures", "partial")
"""Settings that change how a run goes or what is concluded of it, and no reply or grade."""


def different(pair: Pair) -> list[Setting]:
    """Return what the two sides were told differently, what matters most first."""
    one, other = pair.baseline, pair.candidate
    found = list(_of("model", _model(one.spec), _model(other.spec)))
    if pair.one_run:
        return found
    common = [name for name in one.run.data if name in other.run.data]
    found += _of("questions", _questions(one.run, common), _questions(other.run, common))
    read = [name for name in one.run.inputs if name in other.run.inputs]
    found += _of("questions", _inputs(one.run, read), _inputs(other.run, read))
    found += _of("asking", _asking(one.run), _asking(other.run))
    found += _of("judges", _judges(pair, one), _judges(pair, other))
    found += _of("versions", one.run.versions, other.run.versions)
    return found


def _of(kind: Any, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Setting]:
    for name in dict.fromkeys([*one, *other]):
        if one.get(name) != other.get(name):
            yield Setting(kind, name, _shown(one.get(name)), _shown(other.get(name)))


def _model(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: it for name, it in leaves(spec) if name != "name"}


def _asking(run: Stored) -> dict[str, Any]:
    found = {name: it for name, it in leaves(run.section) if name not in _ASIDE}
    more = (*_SHARED, *_ALSO.get(run.experiment, ()))
    shared = {name: run.config[name] for name in more if name in run.config}
    found |= dict(leaves(shared))
    if judges := run.config.get("roster", {}).get("judges"):
        found["roster.judges"] = judges
    return found


def _judges(pair: Pair, side: Side) -> dict[str, Any]:
    """Return what the judges of peers are made of: all models of the run but those compared."""
    if not side.run.experiment.startswith(_PEERS):
        return {}
    own = {pair.baseline.model, pair.candidate.model}
    every = {name: spec for name, spec in side.run.models.items() if name not in own}
    parts = ((name, *leaf) for name, spec in every.items() for leaf in _model(spec).items())
    return {f"{name}, {part}": it for name, part, it in parts}


def _inputs(run: Stored, names: Iterable[str]) -> dict[str, Any]:
    return {f"{name}, digest": run.inputs[name][:_DIGITS] for name in names}


def _questions(run: Stored, common: Iterable[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in common:
        about = _FIRST | dict(run.data[name])
        for what in ("digest", "origin", "questions", "repeats", "grading"):
            if what in about:
                told = about[what]
                found[f"{name}, {what}"] = told[:_DIGITS] if what == "digest" else str(told)
    return found


def _shown(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "—"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text, _MOST)
