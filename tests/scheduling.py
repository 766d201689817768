"""Decide which worker runs a test file, where several files run at once."""

import re
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

_ENGINE_MARK = re.compile(r"\bmark\.engine\b")


class EnginesApart(LoadFileScheduling):
    """Gives whole files to workers, and all files that start real engines to the same one.

    An engine takes all processors. Two at once hold each other up more than they work.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "engines" if _starts_engines(self.config.rootpath / file) else file


@cache
def _starts_engines(file: Path) -> bool:
    """Return whether the file uses the marker `engine`; xdist knows no markers here."""
    return bool(_ENGINE_MARK.search(file.read_text(encoding="utf-8")))
