"""What else differs between two sides: a difference in scores may come from it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from raybench.compare import panels
from raybench.compare.found import Kind, Pair, Setting, Side
from raybench.compare.runs import Stored
from raybench.pipeline.run_identity import leaves, without_places
from raybench.tracking.text import one_line

_MOST = 160
"""Characters shown of a setting."""
_SHARED = ("seed", "data", "sandbox", "fleet")
"""Parts of the configuration beside the experiment's own that replies or grades may depend on."""
_PLACED = ("fleet.replicas",)
"""Settings of these parts on which nothing depends."""
_ALSO = {
    "autobench_ablations": ("autobench",),
    "games_phrasings": ("games", "optimise_players"),
    "optimise_players": ("games",),
}
"""Other experiments' settings by which an experiment goes."""
_PEERS = "autobench"
"""How experiments begin in which the models judge each other."""
_PANEL = {"autobench": "judges", "autobench_ablations": "autobench.judges"}
"""The setting that names the judges, by experiment."""
_DIGITS = 16
_FIRST = {"grading": 1}
"""What is true of a run whose results do not say it."""
_DATA: Mapping[str, Kind] = {
    "digest": "questions",
    "origin": "questions",
    "questions": "questions",
    "repeats": "asking",
    "grading": "grading",
}
"""What results say of a benchmark's questions, and what that is about."""
_INPUTS: Mapping[str, Kind] = {
    "games.matches": "matches",
    "games.rules": "asking",
    "players": "asking",
}
"""What a run reads beside questions and tasks, and what that is about."""
_EXTERNAL = ".external."
"""In the names of tables with which a run compares its order: no score depends on them."""
_ASIDE = ("cache", "validate", "review", "accept_failures", "partial", "external")
"""Settings that change how a run goes or what is concluded of it, and no reply or grade."""
_SELECTION = ("benchmarks", "limit", "subset", "languages", "candidates", "data")
"""Settings that choose the questions."""
_GRADING = (
    "judges",
    "judge_role",
    "judge_chars",
    "checker",
    "grader",
    "rule",
    "jury",
    "single_judge",
    "self_judgement",
    "weights",
    "constrained_ratings",
    "rating_temperature",
    "rating_tokens",
    "fenced",
    "sandbox",
)
"""Settings by which replies are graded: who judges, what judges are asked, where programs run."""


def different(pair: Pair) -> list[Setting]:
    """Return what the two sides were told differently, what matters most first."""
    one, other = pair.baseline, pair.candidate
    found = list(_of("model", _model(one.spec), _model(other.spec)))
    if pair.one_run:
        return found
    found += [*_data(one.run, other.run), *_inputs(one.run, other.run)]
    same_questions = not any(it.kind == "questions" for it in found)
    for name, *values in _differ(_told(one.run), _told(other.run)):
        found.append(Setting(_kind(name, same_questions), name, *map(_shown, values)))
    found += _of("judges", _judges(pair, one), _judges(pair, other))
    found += _of("versions", one.run.versions, other.run.versions)
    return sorted(found, key=lambda it: get_args(Kind).index(it.kind))


def _kind(setting: str, same_questions: bool) -> Kind:
    """Return what a setting is about: a choice of questions that makes no difference is none."""
    names = setting.split(".")
    if any(name in _GRADING for name in names):
        return "grading"
    return "questions" if names[0] in _SELECTION and not same_questions else "asking"


def _of(kind: Kind, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Setting]:
    for name, *values in _differ(one, other):
        yield Setting(kind, name, *map(_shown, values))


def _differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*one, *other]):
        if one.get(name) != other.get(name):
            yield name, one.get(name), other.get(name)


def _model(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: it for name, it in leaves(spec) if name != "name"}


def _told(run: Stored) -> dict[str, Any]:
    """Return the settings that replies or grades may depend on."""
    found = {name: it for name, it in leaves(run.section) if name not in _ASIDE}
    more = (*_SHARED, *_ALSO.get(run.experiment, ()))
    shared = {name: run.config[name] for name in more if name in run.config}
    found |= {name: it for name, it in leaves(shared) if name not in _PLACED}
    if outsiders := run.config.get("roster", {}).get("judges"):
        found["roster.judges"] = without_places(outsiders)
    if name := _PANEL.get(run.experiment):
        found[name] = found.get(name) or panels.EVERY
    return found


def _judges(pair: Pair, side: Side) -> dict[str, Any]:
    """Return what the contestants that judge are made of, but those compared.

    Where the settings name other judges, that tells who judges in one run alone.
    """
    if not side.run.experiment.startswith(_PEERS):
        return {}
    runs = pair.baseline.run, pair.candidate.run
    names = {*panels.panel(side.run)} - {pair.baseline.model, pair.candidate.model}
    if panels.given(runs[0]) != panels.given(runs[1]):
        names &= {*panels.panel(runs[0])} & {*panels.panel(runs[1])}
    every = {name: spec for name, spec in side.run.models.items() if name in names}
    parts = ((name, *leaf) for name, spec in every.items() for leaf in _model(spec).items())
    return {f"{name}, {part}": it for name, part, it in parts}


def _data(one: Stored, other: Stored) -> Iterator[Setting]:
    """Yield what differs of the benchmarks of both runs.

    Questions of the same digest are the same ones, wherever each run has them from.
    """
    for name in (it for it in one.data if it in other.data):
        sides = [_FIRST | dict(run.data[name]) for run in (one, other)]
        digest = one.digest(name)
        same = digest is not None and digest == other.digest(name)
        for what, kind in _DATA.items():
            if not (same and kind == "questions") and all(what in it for it in sides):
                values = [str(it[what])[: _DIGITS if what == "digest" else None] for it in sides]
                yield from _of(kind, *({f"{name}, {what}": it} for it in values))


def _inputs(one: Stored, other: Stored) -> Iterator[Setting]:
    """Yield what both runs read beside data sets, where it differs."""
    for name in (it for it in one.inputs if it in other.inputs and _EXTERNAL not in it):
        kind = _INPUTS.get(name.rpartition("/")[2], "questions")
        values = one.inputs[name][:_DIGITS], other.inputs[name][:_DIGITS]
        yield from _of(kind, *({f"{name}, digest": it} for it in values))


def _shown(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "—"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text, _MOST)
