"""What lies in `sandboxes/`: the recipes of what untrusted code runs in."""

import platform
import re
from pathlib import Path

_PIN = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[\w.+!-]+)"
    r"(\s*;\s*platform_machine (?P<test>==|!=) '(?P<machine>\w+)')?"
)


def folder() -> Path:
    """Return the folder: in the wheel inside the package, in a checkout at its root."""
    packaged = Path(__file__).parents[1] / "sandboxes"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "sandboxes"


def scientific_list() -> Path:
    """Return the pinned list of the `scientific` profile's libraries."""
    return folder() / "scientific.txt"


def pins(text: str, machine: str | None = None) -> dict[str, str]:
    """Return the versions that a pinned list names for a kind of machine (as x86_64), or ours."""
    machine = machine or platform.machine()
    named = {}
    for line in text.splitlines():
        pin = line.partition("#")[0].strip()
        if not pin:
            continue
        if not (parts := _PIN.fullmatch(pin)):
            raise ValueError(f"'{pin}' is not NAME==VERSION, with or without a platform_machine")
        if parts["test"] is None or (parts["test"] == "==") == (parts["machine"] == machine):
            named[parts["name"]] = parts["version"]
    return named
