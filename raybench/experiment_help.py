"""What `+experiment=NAME --help` shows: the experiment's own settings, a line each.

The line of a setting is its comment in conf/NAME/default.yaml.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

import yaml

_ALSO = {
    "autobench_ablations": ("autobench",),
    "games_phrasings": ("games", "optimise_players"),
    "optimise_players": ("games",),
    "suite": ("index", "hle", "autobench", "games"),
}
"""Other experiments by whose settings an experiment goes as well."""
_SETTING = re.compile(r"(?P<name>\w+):(?P<value>.*)")
_COMMENT = re.compile(r"(?:^|\s)#\s?(?P<text>.*)$")
_LINE, _VALUE, _SHOWN = 110, 40, 24
"""Characters of a line's text, of a value, and of the column of names and values."""


def described(name: str, about: str, section: Mapping[str, Any], file: Path) -> str:
    """Return the help of an experiment: `section` has its settings as they are composed."""
    told = comments(file.read_text(encoding="utf-8"))
    lines = [
        f"  {_assigned(setting, value):<{_SHOWN}} {shorten(text, _LINE, placeholder=' …')}"
        for setting in sorted(section, key=[*told, *section].index)  # in the file's order
        for text, value in [(told.get(setting, ""), section[setting])]
    ]
    also = [f"+experiment={other} --help" for other in _ALSO.get(name, ())]
    return "\n".join(
        [
            f"+experiment={name}: {about}",
            "",
            "Its settings, each as it is by default, or as it is set here (KEY=VALUE):",
            "",
            *lines,
            "",
            *([f"It also goes by the settings of: {', '.join(also)}"] if also else []),
            f"More on each: {file}",
            "Settings of all experiments (roster, fleet, data, …): python -m raybench --help",
        ]
    )


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
