"""Where a test expects no warning there is to be none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import with_store
from tracked import UNEXPECTED


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    UNEXPECTED.clear()
    yield
    assert UNEXPECTED == []


@pytest.fixture(autouse=True)
def time_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is: what earlier runs have left is sent, and nothing said of it."""
    for name in ("_OTHERS_S", "_TELL_S"):
        monkeypatch.setattr(f"raybench.tracking.mlflow.sender.{name}", 200.0)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Return the address of a store that is made already: making one takes seconds."""
    return f"sqlite:///{with_store(tmp_path / 'store')}/runs/mlflow.db"


@pytest.fixture
def unmade(tmp_path: Path) -> str:
    """Return the address of a store that nobody has made yet."""
    return f"sqlite:///{tmp_path}/unmade/mlflow.db"
