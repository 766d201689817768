"""Which worker tests a file, where several files are tested at once."""

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling


class EnginesApart(LoadFileScheduling):
    """Gives whole files to workers, and all that bring up real engines to the same one.

    Each of two engines takes all processors: at once they hold each other up more than they work.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "engines" if _has_engines(self.config.rootpath / file) else file


@cache
def _has_engines(file: Path) -> bool:
    """Tell by its text: who deals out tests knows their names, and not their marks."""
    return "pytest.mark.engines" in file.read_text(encoding="utf-8")
