"""Looking at paths that people give. What may not be looked into is taken for not being there.

`Path` itself raises then, and where a path names the home of nobody.
"""

import os
from pathlib import Path


def exists(path: Path) -> bool:
    """Tell whether there is something."""
    return os.path.exists(path)  # noqa: PTH110


def is_folder(path: Path) -> bool:
    """Tell whether there is a folder."""
    return os.path.isdir(path)  # noqa: PTH112


def is_file(path: Path) -> bool:
    """Tell whether there is a file."""
    return os.path.isfile(path)  # noqa: PTH113


def expanded(path: str | Path) -> Path:
    """Return the path with its '~' spelt out, where it is somebody's."""
    return Path(os.path.expanduser(path))  # noqa: PTH111


def nearest(path: Path) -> Path:
    """Return the folder that a path is in, or is to be made in: the nearest one that is there."""
    return next(it for it in path.absolute().parents if exists(it))
