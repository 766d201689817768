"""How to reproduce a run: the command, and all that the same numbers take, fit to be published."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from raybench import roster_file
from raybench.experiments.parts import surroundings
from raybench.tracking.console import counted
from raybench.tracking.report import Item, Section, Table
from raybench.types import Plan

_SECRET = re.compile(
    r"\w*(api_?key|secret|passw|credential|bearer|authorization|hf_token|token(?![a-z_]))\w*(?<!_env)"
    r"(?=[\"']?\s*[:=]|$)",
    re.IGNORECASE,
)
_PLACES = ("address", "host")
"""Settings that name a machine, with no :// to know it by."""
_PLACED = re.compile(r"(?<![\w/.@-])(?:address|host)[\"']?\s*:(?!//)")
"""The same within a value."""
_SQLITE = re.compile(r"sqlite:///(?:runs/)?[\w-]+(?:\.\w+)?$")
_SOMEWHERE = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://[^\s,\]}'\"]*"  # an address
    # A path from /, from a home or from above, which may have blanks in it.
    r"|(?<![\w./~<-])(?:~[^/\s,\]}'\"]*|(?:[\w.-]+/)*\.\.)?(?:/[^\s,/\]}'\"][^,/\]}'\"\n]*)+/?",
    re.IGNORECASE,
)
_FILES = (".csv", ".json", ".jsonl", ".parquet", ".yaml", ".gguf")
"""Endings of names that tell what was read; a folder's may be somebody's."""
_DIGEST = 16
AGAIN = "python -m raybench --from config.yaml"
_WHY = {
    "simulated": "Stand-ins answer by the seed: all numbers but times come out the same.",
    "scripted": "",
    "vllm": "Engines work on whatever arrives together, and their kernels differ between kinds of "
    "hardware and versions: even at temperature 0 some replies differ elsewhere, and a few on the "
    "same machine. Numbers then move within what the report calls noise.",
    "openai": "What stands behind an endpoint changes without notice, and none promises the same "
    "reply twice: of its replies, only this run's journal is the record.",
}


def command() -> str | None:
    """Return how the run was asked for, as far as Hydra knows, and fit to be published."""
    from hydra.core.hydra_config import HydraConfig

    if not HydraConfig.initialized():
        return None
    told = HydraConfig.get()
    folders = [
        publishable(source.path)
        for source in told.runtime.config_sources
        if source.provider not in ("hydra", "main", "schema")
        and source.path
        and not roster_file.is_copy(source.path)
    ]
    flags = [f"--config-dir {shlex.quote(folder)}" for folder in folders]
    overrides = [
        roster_file.as_given(it) for it in told.overrides.task if not it.startswith("hydra.")
    ]
    return " ".join(["python -m raybench", *flags, *map(_quoted, map(published, overrides))])


def published(override: str) -> str:
    """Return a setting as it was given, without secrets and what says who somebody is."""
    key, equals, value = override.partition("=")
    if secret(key) or secret(value) or _placed(key) or _PLACED.search(value):
        return f"{key}{equals}…"
    return f"{key}{equals}{publishable(value)}"


def secret(text: str) -> bool:
    """Tell whether a setting's name, or names within text, are of something secret."""
    return _SECRET.search(text) is not None


def publishable(text: str) -> str:
    """Return text without the addresses and the folders of a machine that it names."""
    if _SQLITE.match(text):  # relative: it says nothing of the machine
        return text
    return _SOMEWHERE.sub(_shortened, text)


def _shortened(found: re.Match[str]) -> str:
    if found["scheme"]:
        return f"{found['scheme']}://…"
    path = PurePath(found[0])
    return f"…/{path.name}" if path.suffix.lower() in _FILES else "…"


def _placed(key: str) -> bool:
    """Tell whether a setting names a machine."""
    return key.lstrip("+~").rpartition(".")[2] in _PLACES


def cleaned(value: Any) -> Any:
    """Return settings, however nested, without secrets and what says where somebody is."""
    if isinstance(value, Mapping):
        return {
            name: "…" if secret(str(name)) or (it and _placed(str(name))) else cleaned(it)
            for name, it in value.items()
        }
    if isinstance(value, list | tuple):
        return [cleaned(it) for it in value]
    return publishable(value) if isinstance(value, str) else value


def section(
    plan: Plan, about: Mapping[str, Any], settings: Mapping[str, Any] = MappingProxyType({})
) -> Section:
    """Return the report's section, from what results.json says of the run, and its settings."""
    return Section(
        "How to reproduce",
        "The folder of this run holds config.yaml, which has every setting whole, and "
        f"{surroundings.PACKAGES}, which has every package. {_kept(about)}",
        commands={
            "With the same version of raybench installed, this asks for the same run:": AGAIN,
            **_started(about),
        },
        table=Table(("what", "which"), list(_rows(about))),
        items=[
            Item("What will not be the same to the last digit, and why", _limits(plan, about)),
            *([Item("Every setting of the experiment", _dumped(settings))] if settings else []),
        ],
    )


def _started(about: Mapping[str, Any]) -> dict[str, str]:
    """Return the command that asked for it, by what is said of it."""
    if not (asked := about.get("command")):
        return {}
    hidden = " (…: an address, a folder or a secret that is left out)" * ("…" in asked)
    return {f"The command of this run was{hidden}:": asked}


def _kept(about: Mapping[str, Any]) -> str:
    text = (
        "The names of runs with the same settings end in the same ten characters: "
        f"{about['id'].rpartition('-')[2]}."
    )
    if "reused" in about and about.get("units", 1):
        text += (
            " Runs below the same runs_dir reuse its replies: with "
            f"{about['experiment']}.cache=false models are asked again."
        )
    return text


def _rows(about: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    yield "seed", str(about["seed"])
    git = str(about.get("git", ""))
    changed = " (with changes that no commit holds)" if git.endswith("-dirty") else ""
    yield (
        "raybench",
        f"{about['raybench']}" + (f", commit {git.removesuffix('-dirty')}{changed}" if git else ""),
    )
    yield "Python", str(about["python"])
    if packages := about.get("packages"):
        yield (
            "packages",
            f"{packages['count']} in {surroundings.PACKAGES}, "
            f"sha256 {packages['sha256'][:_DIGEST]}",
        )
    if hardware := about.get("hardware"):
        yield "hardware", surroundings.told(hardware)
    data = about.get("data")
    for name, of in data.items() if isinstance(data, Mapping) else ():
        if isinstance(of, Mapping) and "digest" in of:
            yield (
                f"data: {name}",
                f"{counted(of.get('questions', 0), 'question')}, "
                f"{publishable(str(of.get('origin')))}, sha256 {of['digest'][:_DIGEST]}",
            )


def _limits(plan: Plan, about: Mapping[str, Any]) -> dict[str, str]:
    engines = dict.fromkeys(it.engine for it in (*plan.models, *plan.referees))
    found = {f"engine {engine}": why for engine in engines if (why := _WHY.get(engine, ""))}
    if about.get("programs"):
        found["programs"] = (
            "Programs that models wrote run against the clock: one that is close to its limit may "
            "pass on one machine and not on another."
        )
    if about.get("resumed"):
        found["sessions"] = (
            "The run was resumed: hardware and packages are those of its last session."
        )
    if about.get("reused"):
        found["cache"] = f"{counted(about['reused'], 'reply')} from earlier runs, not of this one."
    return found or {"nothing": "All numbers except times are the same."}


def _dumped(settings: Mapping[str, Any]) -> dict[str, str]:
    import yaml

    return {
        name: yaml.safe_dump(cleaned(of), sort_keys=False, allow_unicode=True)
        for name, of in settings.items()
    }


def _quoted(override: str) -> str:
    return override if re.fullmatch(r"[\w+~./=:,@…-]+", override) else shlex.quote(override)
