"""On what a run was made: the machines by their class, and every package by its version.

No names of hosts or people, no addresses and no paths: results are published.
"""

import os
import platform
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

_GIB = 2**30
_ACCELERATOR = "accelerator_type:"
_STANDARD = re.compile(r"(?P<name>[A-Za-z0-9][\w.]*)-(?P<version>\d[A-Za-z0-9.!+]*)\.dist-info")
_SEPARATORS = re.compile("[-_.]+")
"""Which of them stands in a package's name makes no difference."""
PACKAGES = "requirements.txt"
"""The file in a run's folder that lists them."""


def driver() -> dict[str, Any]:
    """Return the class of the machine that this process is on."""
    import psutil

    return {
        "cpu": _processor(),
        "cpus": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / _GIB),
        "system": f"{platform.system()} {platform.machine()}",
    }


def cluster() -> list[dict[str, Any]]:
    """Return the kinds of machines of the Ray cluster that is joined, and how many of each."""
    ray: Any = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return []
    kinds = Counter(_kind(node["Resources"]) for node in ray.nodes() if node["Alive"])
    return [
        {"nodes": nodes, **dict(kind)} for kind, nodes in sorted(kinds.items(), key=repr)
    ]  # the same kind is the same whatever it is called


def _kind(resources: Mapping[str, float]) -> tuple[tuple[str, Any], ...]:
    of = {
        "cpus": int(resources.get("CPU", 0)),
        "memory_gib": round(resources.get("memory", 0) / _GIB),
        "gpus": int(resources.get("GPU", 0)),
    }
    kinds = [it.removeprefix(_ACCELERATOR) for it in resources if it.startswith(_ACCELERATOR)]
    return (*of.items(), *([("gpu", ", ".join(sorted(kinds)))] if kinds else []))


def packages() -> str:
    """Return every package that is installed with its version, a line each, as pip reads them."""
    found: dict[str, str] = {}
    for place in sys.path:
        for name, version in _installed(Path(place or ".")):
            found.setdefault(_SEPARATORS.sub("-", name).lower(), version)  # the first is imported
    return "".join(f"{name}=={found[name]}\n" for name in sorted(found))


def _installed(place: Path) -> Iterator[tuple[str, str]]:
    """Yield what is installed in a place, by the names of its folders.

    To read every package's metadata takes some hundred times as long: that is for names that are
    not of the standard form.
    """
    others, folders = [place] if place.is_file() else [], []  # an archive may hold some
    with suppress(OSError):  # not there, or not ours to read
        folders = sorted(place.iterdir())
    for folder in folders:
        if standard := _STANDARD.fullmatch(folder.name):
            yield standard["name"], standard["version"]
        elif folder.suffix in (".dist-info", ".egg-info"):
            others.append(folder)
    for other in others:
        if other == place:
            found = metadata.distributions(path=[str(place)])
        else:
            found = [metadata.Distribution.at(other)]
        for it in found:
            # What an interrupted installation leaves behind has none.
            read = any(it.read_text(file) for file in ("METADATA", "PKG-INFO", ""))
            if read and it.metadata["Name"]:
                yield it.metadata["Name"], it.version


def told(hardware: Mapping[str, Any]) -> str:
    """Return the hardware in words."""
    own = hardware.get("driver", {})
    parts = [
        f"{own.get('cpus')} CPUs ({own.get('cpu')}), {own.get('memory_gib')} GiB of memory, "
        f"{own.get('system')}"
    ]
    for kind in hardware.get("cluster", ()):
        gpus = (
            f", {kind['gpus']} GPUs ({kind.get('gpu', 'of no known kind')})" if kind["gpus"] else ""
        )
        parts.append(
            f"Ray: {kind['nodes']} node{'s' * (kind['nodes'] != 1)} of {kind['cpus']} CPUs"
            f"{gpus}, {kind['memory_gib']} GiB"
        )
    return "; ".join(parts)


def _processor() -> str:
    """Return what the processor is called. Python would start a program to find out no more."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
