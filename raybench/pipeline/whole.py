"""Files that are written whole or not at all."""

import os
from collections.abc import Iterable
from pathlib import Path


def write(path: Path, parts: Iterable[str | bytes]) -> None:
    """Write a file, whose parts need not be in memory together. Raises OSError.

    What is no text in UTF-8 is written as '?'.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")  # another process may write it, too
    with aside.open("wb") as file:
        for part in parts:
            file.write(part if isinstance(part, bytes) else part.encode("utf-8", "replace"))
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
