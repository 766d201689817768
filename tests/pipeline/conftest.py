"""Fixtures of the tests of what is written down."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What files held when they were sent to the disk."""
    seen: list[bytes] = []
    fsync = os.fsync

    def keep(handle: int) -> None:
        seen.append(Path(f"/proc/self/fd/{handle}").read_bytes())
        fsync(handle)

    monkeypatch.setattr(os, "fsync", keep)
    return seen
