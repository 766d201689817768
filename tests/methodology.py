"""The text of the methodology, where it lies beside the checkout."""

from pathlib import Path

import pytest

_SEEDS = Path(__file__).parents[2] / "shared" / "seeds"


def text() -> str:
    """Return it; skip the test where it is absent."""
    files = list(_SEEDS.glob("001_*.txt"))
    if not files:
        pytest.skip("the methodology's text (shared/seeds/001_*) is not beside this checkout")
    return files[0].read_text(encoding="utf-8")
