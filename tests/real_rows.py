"""Real questions, where they lie beside the checkout. They are not part of the project."""

import json
from pathlib import Path
from typing import Any

import pytest

_DATASETS = Path(__file__).parents[2] / "shared" / "datasets"


def plain(stem: str) -> list[dict[str, Any]]:
    """Return a file's rows in plain columns; skip the test where it is absent."""
    # Bytes: texts hold line ends of their own.
    return [json.loads(line) for line in path(stem).read_bytes().splitlines()]


def path(stem: str) -> Path:
    """Return where a file lies; skip the test where it is absent."""
    found = _DATASETS / f"{stem}.jsonl"
    if not found.exists():
        pytest.skip(f"the real data (shared/datasets/{found.name}) is not beside this checkout")
    return found
