"""By what a run is known again: the fingerprint of its configuration.

It depends on what a run does: not on how it is invoked, nor on where its files lie. Runs of earlier
versions are found as well, and are run again from their config.yaml as they were.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple

_VOLATILE = (
    "resume",
    "dry_run",
    "console",
    "runs_dir",
    "storage",
    "storage_patience_s",
    "tracking",
    "games.patience_s",
    "fleet.endpoint_pause_s",
    "fleet.replicas",
)
"""Settings that change how a run is invoked and who is told of it, not what it does."""
_MODELS = ("roster.models", "roster.judges")
_HOSTING = ("replicas", "nodes")
"""What a roster says of where a model runs, which no reply depends on."""
_PLAYERS, _DATASET = "optimise_players.folder", "hle_screen.dataset"
_PLACES = {_PLAYERS: "runs/compiled_players", _DATASET: "runs/hle_rolling"}
"""Settings that name a place of files, and where it is by default.

The fingerprint holds the default, whatever is set. What a run reads there is among its inputs.
"""


_DEFAULTED: Mapping[str, Any] = {
    "index.judges": [],
    "index.checker": None,
    "hle.judges": [],
    "hle_screen.judges": [],
}
"""Settings that are the roster's first judge by default, and what earlier versions had instead.

The fingerprint of an experiment to which they say nothing holds that.
"""


_SCREEN: Mapping[str, Any] = {"hle_screen.judges": []}
"""The newest of them: before, runs had what was set for their roster, or nothing."""


class _Added(NamedTuple):
    """One setting that earlier runs lack."""

    section: str
    name: str
    before: Any
    """The value that says what earlier runs did."""
    experiments: tuple[str, ...]
    """Those that the setting is about."""
    of: Literal[
        "models with a system prompt",
        "models that reason",
        "judges",
        "hosted judges",
        "MMLU-Pro",
        "everybody",
    ]
    """Whom it says something of."""


_ADDED = (
    _Added("index", "own_system_prompts", True, ("index", "suite"), "models with a system prompt"),
    _Added("index", "judge_chars", 350, ("index", "suite"), "hosted judges"),
    _Added("hle", "judge_chars", 350, ("hle", "suite"), "hosted judges"),
    _Added("hle_screen", "judge_chars", 350, ("hle_screen",), "hosted judges"),
    _Added("index", "judge_role", "user", ("index", "suite"), "judges"),
    _Added("hle", "judge_role", "user", ("hle", "suite"), "judges"),
    _Added("hle_screen", "judge_role", "user", ("hle_screen",), "judges"),
    _Added("index", "letters", "listed", ("index", "suite"), "MMLU-Pro"),
    # How a screening publishes is no part of what it asks.
    _Added("hle_screen", "review", "skip", (), "everybody"),
    _Added("hle_screen", "search", {}, ("hle_screen",), "everybody"),
    _Added("hle_screen", "audit", 0, ("hle_screen",), "everybody"),
    _Added("hle_screen", "late", False, ("hle_screen",), "everybody"),
    _Added("hle", "without_system_role", "prepended", ("hle", "suite"), "everybody"),
    _Added(
        "autobench",
        "thinking_tokens",
        0,
        ("autobench", "autobench_ablations", "suite"),
        "models that reason",
    ),
)


def fingerprint(config: Mapping[str, Any], *, without: Sequence[str] = ()) -> str:
    """Return the short digest by which the same configuration is known again."""
    return _digest(_placed(_stable(config, without), config))


def fingerprints(config: Mapping[str, Any], *, without: Sequence[str] = ()) -> list[str]:
    """Return the fingerprint, and those of earlier versions where they were others.

    They held the places of files, and judges to which an experiment has nothing to say, as set.
    """
    stable = _stable(config, without)
    given = {name: value for name, value in leaves(config) if name in _DEFAULTED and name in stable}
    screen = {name: given.pop(name) for name in _SCREEN if name in given}
    exam = {name: value for name, value in given.items() if name.startswith("hle.")}
    screens: tuple[Mapping[str, Any], ...] = ({}, screen, _SCREEN if screen else {})
    forms = [{**stable, **form, **its} for form in ({}, exam, given) for its in screens]
    return list(
        dict.fromkeys(_digest(it) for form in forms for it in (_placed(form, config), form))
    )


def marked(parent: Path, marks: Sequence[str]) -> list[Path]:
    """Return the folders of all runs of a configuration's fingerprints, the newest first."""
    return sorted((it for mark in marks for it in parent.glob(f"*-{mark}")), reverse=True)


def settings(config: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the settings of these names, 'index.partial' among them, and those below them."""
    wanted = tuple(names)
    return {name: value for name, value in leaves(config) if _among(name, wanted)}


def former() -> dict[str, dict[str, Any]]:
    """Return the added settings with the values that say what earlier runs did.

    What a run saved is to be laid over them.
    """
    found: dict[str, dict[str, Any]] = {}
    for it in _ADDED:
        found.setdefault(it.section, {})[it.name] = it.before
    return found


def _stable(config: Mapping[str, Any], without: Sequence[str]) -> dict[str, Any]:
    left_out = (*_VOLATILE, *without, *_without_effect(config))
    stable = {
        key: without_places(value) if key in _MODELS else value
        for key, value in leaves(config)
        if not _among(key, left_out)
    }
    idle = {it: before for it, before in _DEFAULTED.items() if it in stable and _idle(it, config)}
    return stable | idle


def without_places(models: Any) -> Any:
    """Return a roster's list of models without what no reply depends on: replicas and nodes."""
    if not isinstance(models, list):
        return models
    return [
        {name: value for name, value in model.items() if name not in _HOSTING}
        if isinstance(model, Mapping)
        else model
        for model in models
    ]


def _idle(setting: str, config: Mapping[str, Any]) -> bool:
    """Tell whether an experiment, or all parts of a suite, go without a setting's section."""
    experiment = config.get("experiment")
    parts = _section(config, "suite").get("parts") if experiment == "suite" else [experiment]
    return parts is not None and setting.partition(".")[0] not in parts


def _placed(stable: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with every place of files where it is by default.

    A screening grows its dataset: another one is told apart by its name below `runs_dir`.
    """
    found = dict(stable)
    for name, default in _PLACES.items():
        if isinstance(place := found.get(name), str):
            found[name] = default
            if name == _DATASET and config.get("experiment") == "hle_screen":
                found[name] = _below(place, str(config.get("runs_dir", "")))
    return found


def _below(place: str, runs_dir: str) -> str:
    """Return a place with the default folder of runs in place of the one that it is in."""
    path = PurePath(place)
    if runs_dir and path.is_relative_to(runs_dir):
        return str(PurePath("runs") / path.relative_to(runs_dir))
    return place


def _without_effect(config: Mapping[str, Any]) -> list[str]:
    """Return the added settings by which a run does what an earlier one did.

    They are no part of the fingerprint, so that unfinished runs of earlier versions are found.
    """
    return [
        f"{it.section}.{it.name}"
        for it in _ADDED
        if config.get("experiment") not in it.experiments
        or _section(config, it.section).get(it.name) == it.before
        or not _is_about(it, config)
    ]


def _is_about(added: _Added, config: Mapping[str, Any]) -> bool:
    """Tell whether the configuration has anybody whom a setting says something of."""
    if added.of == "MMLU-Pro":
        return "mmlu_pro" in (_section(config, "index").get("benchmarks") or ())
    if added.of == "everybody":
        return True
    roster = _section(config, "roster")
    models = [it for it in roster.get("models") or () if isinstance(it, Mapping)]
    if added.of == "models with a system prompt":
        return any(model.get("system_prompt") for model in models)
    judges = _section(config, added.section).get("judges") or ()
    if added.of == "judges":
        return bool(judges)
    models += [it for it in roster.get("judges") or () if isinstance(it, Mapping)]
    if added.of == "models that reason":
        return any(_reasons(model) for model in models)
    hosted = (it.get("name") for it in models if it.get("engine", "vllm") == "vllm")
    return any(name in judges for name in hosted)


def _reasons(model: Mapping[str, Any]) -> bool:
    """Tell whether a model is known to reason, as `ModelConf.spec` does."""
    reasons = model.get("reasoning")
    return "reasoning_parser" in (model.get("options") or {}) if reasons is None else bool(reasons)


def _digest(stable: Mapping[str, Any]) -> str:
    text = json.dumps(stable, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = config.get(name)
    return found if isinstance(found, Mapping) else {}


def _among(name: str, names: Sequence[str]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in names)


def leaves(config: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and value of every setting that is no section."""
    for name, value in config.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value
