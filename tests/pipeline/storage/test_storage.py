"""A store is tried before anything starts: how long it is waited for."""

from collections.abc import Callable
from typing import Any

import pytest

from raybench.pipeline.storage import storage


@pytest.mark.parametrize(("patience_s", "waited_s"), [(2, 10), (30, 30), (1800, 60)])
def test_a_silent_store_is_waited_for_between_ten_seconds_and_a_minute(
    patience_s: float, waited_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = list[str]()

    def answer(_: Any, seconds: float, *, slow: Callable[[], None], slow_s: float) -> bool:
        assert (seconds, slow_s) == (waited_s, 3)
        slow()
        return True

    monkeypatch.setattr(storage, "answer", answer)
    assert storage.trouble("s3://bucket/runs", patience_s, said.append) is None
    (line,) = said
    assert "s3://bucket/runs" in line
    assert f"{waited_s:g} s" in line
