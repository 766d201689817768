"""Real questions, where they lie beside the checkout. They are not part of the project."""

import json
from pathlib import Path
from typing import Any

import pytest

_DATASETS = Path(__file__).parents[2] / "shared" / "datasets"


def plain(stem: str) -> list[dict[str, Any]]:
    """Return a file's rows in plain columns; skip the test where it is absent."""
    path = _DATASETS / f"{stem}.jsonl"
    if not path.exists():
        pytest.skip(f"the real data (shared/datasets/{path.name}) is not beside this checkout")
    # Bytes: texts hold line ends of their own.
    return [json.loads(line) for line in path.read_bytes().splitlines()]
