"""Decide which worker runs a test file, where several files run at once.

xdist deals out files before the workers have collected them, so the text of a file decides.
"""

import re
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

_GROUPS = {
    "engines": re.compile(r"\bmark\.engine\b"),
    "lasting Ray": re.compile(r"\b(on_)?lasting_ray\b"),
    "importing vLLM": re.compile(r"^\s*(from|import) (vllm|transformers|ray\.serve\.llm)\b", re.M),
}
"""What files of one worker use; the first group that a file belongs to counts."""


class GroupsOfFiles(LoadFileScheduling):
    """Gives whole files to workers, and the files of a group all to the same one.

    An engine takes all processors. Two at once hold each other up more than they work. A Ray that
    is up takes a tenth of a processor, so one serves all files that can share it. The import of
    vLLM takes seconds of a processor, and is the same for all files of a process.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return group(self.config.rootpath / file) or file


@cache
def group(file: Path) -> str | None:
    """Return the group of a file, or None for one that any worker may run."""
    text = file.read_text(encoding="utf-8")
    return next((group for group, sign in _GROUPS.items() if sign.search(text)), None)


def rank(file: Path) -> int:
    """Return the place of a file's group in the order of groups; files without one come last."""
    return [*_GROUPS, None].index(group(file))
