"""What `+experiment=NAME --help` shows: the experiment's own settings, a line each.

The line of a setting is its comment in conf/NAME/default.yaml. Settings of other experiments have
no effect, which a plan and a run say.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import yaml

from raybench.config import Config
from raybench.statements import Statement

_ALSO = {
    "autobench_ablations": ("autobench",),
    "compiled_players": ("optimise_players",),
    "games": ("optimise_players",),
    "games_phrasings": ("games", "optimise_players"),
    "optimise_players": ("games",),
    "suite": ("index", "hle", "autobench", "games", "optimise_players"),
}
"""Other experiments by whose settings an experiment goes as well."""
_SETTING = re.compile(r"(?P<name>\w+):(?P<value>.*)")
_COMMENT = re.compile(r"(?:^|\s)#\s?(?P<text>.*)$")
_LINE, _VALUE, _COLUMN = 110, 40, 24
"""Characters of a line's text, of a value, and of the column of names and values."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An experiment's settings and what decides their values."""

    name: str
    about: str
    """The line that describes the experiment."""
    file: Path
    """Where the settings have their defaults and their comments."""
    own: Mapping[str, Any]
    """The values without the roster: the defaults, and what the command line sets."""
    by_judges: Collection[str]
    """The settings that are the first of the roster's judges unless they are set."""
    roster: str
    """The roster as it is chosen, roster=NAME."""
    composed: Mapping[str, Any]
    """The values with the roster."""


def described(shown: Shown) -> str:
    """Return the help of an experiment."""
    comment_of = comments(shown.file.read_text(encoding="utf-8"))
    settings = sorted(shown.own, key=[*comment_of, *shown.own].index)  # in the file's order
    lines = [_line(_of_setting(it, shown), comment_of.get(it, "")) for it in settings]
    also = [f"+experiment={other} --help" for other in _ALSO.get(shown.name, ())]
    return "\n".join(
        [
            f"+experiment={shown.name}: {shown.about}",
            "",
            "Its settings, each as it is by default, or as it is set here (KEY=VALUE):",
            "",
            *lines,
            "",
            _of_roster(shown, settings),
            *([f"It also goes by the settings of: {', '.join(also)}"] if also else []),
            f"More on each: {shown.file}",
            "Settings of all experiments (roster, fleet, data, …): python -m raybench --help",
        ]
    )


def without_effect(
    config: Config, keys: Iterable[str], experiments: Collection[str]
) -> list[Statement]:
    """Return a note on the settings of other experiments among the keys that were given, if any."""
    name = str(config.experiment)
    others = {*experiments} - {name, *_ALSO.get(name, ())}
    if not (given := [it for it in dict.fromkeys(keys) if it.partition(".")[0] in others]):
        return []
    meant = dict.fromkeys(it.split(".")[1] for it in given if "." in it)
    own = [f"{name}.{it}" for it in meant if hasattr(getattr(config, name, None), it)]
    return [
        Statement(
            "plan.other_experiments",
            "{settings}: no effect on +experiment={experiment}{own}",
            settings=", ".join(given),
            experiment=name,
            own=f". Did you mean {', '.join(own)}?" if own else "",
            meant=own,
        )
    ]


def _of_setting(name: str, shown: Shown) -> str:
    """Return a setting with its value, or with words for a default that the roster decides."""
    if name in shown.by_judges:
        return f"{name}=<first of roster.judges>"
    return _assigned(name, shown.own[name])


def _of_roster(shown: Shown, settings: Sequence[str]) -> str:
    """Name the roster, and which of the settings it changes."""
    changed = {it: shown.composed[it] for it in settings if shown.composed[it] != shown.own[it]}
    return Statement(
        "help.roster",
        "The models are those of {roster}, which changes {settings}",
        roster=shown.roster,
        settings=", ".join(_assigned(*it) for it in changed.items()) or "none of these settings",
        changed=changed,
    )


def _line(assigned: str, comment: str) -> str:
    """Return a setting and its comment; what is wider than the column has a line of its own."""
    wide = f"\n{'':<{_COLUMN + 2}}" if len(assigned) > _COLUMN else ""
    return f"  {assigned:<{_COLUMN}}{wide} {shorten(comment, _LINE, placeholder=' …')}"


def comments(text: str) -> dict[str, str]:
    """Return the comment of each setting at the top level of a configuration file.

    It stands behind the setting and in the lines below it, or else above the setting or above those
    before it. The first comment is the file's own.
    """
    found: dict[str, str] = {}
    above, name, own, heading = "", "", False, True
    for line in text.splitlines():
        comment = match["text"].strip() if (match := _COMMENT.search(line)) else ""
        if line.startswith("#"):
            above, name = f"{above} {comment}".strip() if not name else comment, ""
            continue
        if setting := _SETTING.match(line):
            if heading:
                above, heading = "", False
            name, own = setting["name"], bool(comment)
            found[name] = comment or above
        elif name and line.lstrip().startswith("#"):
            found[name], own = f"{found[name]} {comment}" if own else comment, True
    return found


def _assigned(name: str, value: Any) -> str:
    told = yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True)
    told = told.removesuffix("...\n").strip()
    return f"{name}={shorten(told, _VALUE, placeholder=' …')}"
