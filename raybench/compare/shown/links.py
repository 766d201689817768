"""How links on a page are written."""

import os
from pathlib import Path
from urllib.parse import quote


def href(target: Path, page: Path | None, fragment: str = "") -> str:
    """Return the address of a file for a link on a page: relative, where the page is a file."""
    if page is None:
        address = target.resolve().as_uri()
    else:
        relative = os.path.relpath(target.resolve(), page.resolve().parent)
        address = quote(Path(relative).as_posix())
    return f"{address}#{fragment}" if fragment else address
