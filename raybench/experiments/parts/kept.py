"""Files for those who see a run in MLflow only: its plots, and where its journal lies."""

import hashlib
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from raybench.pipeline.store import JOURNAL_FOLDER, Run
from raybench.tracking.report import Section

PLOTS, POINTER = "plots", "journal.json"
_LONGEST = 100
"""Letters of a file's name: titles may have names of models in them, which may be of any length."""
_PAGE = '<rect width="100%" height="100%" fill="#fff"/>'
"""The report's page gives plots their background; alone they need one of their own."""


def plots(run: Run, sections: Sequence[Section]) -> list[Path]:
    """Write each figure of the report as a file, and return their folder if there are any."""
    shutil.rmtree(run.folder / PLOTS, ignore_errors=True)  # of how it was concluded before
    taken: set[str] = set()
    for section in sections:
        if section.figure is not None:
            name = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-")[:_LONGEST] or "plot"
            while name in taken:
                name += "-2"
            taken.add(name)
            run.write(f"{PLOTS}/{name}.svg", alone(section.figure))
    return [run.folder / PLOTS] if taken else []


def alone(figure: str) -> str:
    """Return a figure of the report as a file of its own."""
    return re.sub(r"(<svg\b[^>]*>)", rf"\1{_PAGE}", figure, count=1)


def pointer(run: Run) -> Path:
    """Write down where the journal lies, and by what its files are known again."""
    folder = run.folder / JOURNAL_FOLDER
    files = [_told(path) for path in sorted(folder.glob("*.jsonl"))]
    return run.write_json(
        POINTER, {"run": run.id, "folder": str(folder.absolute()), "files": files}
    )


def _told(path: Path) -> dict[str, Any]:
    found, records, size = hashlib.sha256(), 0, 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
            records += block.count(b"\n")
            size += len(block)
    return {"name": path.name, "bytes": size, "sha256": found.hexdigest(), "records": records}
