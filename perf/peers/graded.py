"""How many questions a command has graded, by what it leaves in its folder.

Exit codes do not tell: Inspect ends with 0 when it gave up before the first.
"""

import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from perf.measured import last_words


def confirm(name: str, folder: Path, count: int, command: Sequence[str]) -> None:
    """Raise SystemExit with the command's last words where it was another number."""
    if (found := _GRADED[name](folder)) != count:
        raise SystemExit(last_words(command, folder, f"graded {found} of {count}"))


def _lines(pattern: str, with_: bytes = b"") -> Callable[[Path], int]:
    """Return what counts lines of the files of such names, with a grade in them."""
    graded = re.compile(with_)

    def count(folder: Path) -> int:
        found = 0
        for file in folder.glob(pattern):
            with file.open("rb") as lines:
                found += sum(bool(graded.search(line)) for line in lines)
        return found

    return count


def _inspect(folder: Path) -> int:
    found = 0
    for log in folder.glob("logs/*.eval"):
        with zipfile.ZipFile(log) as archive:
            names = archive.namelist()
        # The one is written at the end, whatever that was; the other where there are scores.
        if "header.json" in names and b"accuracy" in (folder / "said.txt").read_bytes():
            found += sum(name.startswith("samples/") for name in names)
    return found


_REPLIES = _lines("replies.jsonl")
_GRADED: Mapping[str, Callable[[Path], int]] = {
    "raw": _REPLIES, "raw-core": _REPLIES, "inspect": _inspect,
    "raybench": _lines("runs/index/*/journal/units.jsonl", b'"correct": (true|false)'),
    "lm-eval": _lines("out/**/samples_*.jsonl", b'"exact_match"'),
}  # fmt: skip
"""What grades nothing has answered at the least."""
