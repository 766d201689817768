"""What stores answer with, and what they are told when they are opened."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import ArrowException

from raybench.pipeline.storage import objects
from raybench.pipeline.storage.objects import Objects


class Odd:
    """A store whose errors are none of OSError, as Azure's are."""

    def __getattr__(self, name: str) -> Any:
        def refuse(*_: Any, **__: Any) -> None:
            raise ArrowException("Unknown error: no token")

        return refuse


@pytest.mark.parametrize(
    "ask",
    [
        lambda it: it.put("a", b"1"),
        lambda it: it.put_file("a", Path(__file__)),
        lambda it: it.get("a"),
        lambda it: [*it.get_parts("a")],
        lambda it: it.there("a"),
        lambda it: it.files("a"),
        lambda it: it.folders("a"),
        lambda it: it.remove_folder("a"),
    ],
)
def test_all_that_goes_wrong_is_an_oserror(ask: Callable[[Objects], Any], tmp_path: Path) -> None:
    found = Objects(f"file://{tmp_path}")
    found._files, found._local = Odd(), False
    with pytest.raises(OSError, match="no token"):
        ask(found)


def test_what_is_not_there_is_still_told_apart(tmp_path: Path) -> None:
    found = Objects(f"file://{tmp_path}")
    assert found.get("a") is None
    with pytest.raises(FileNotFoundError):
        next(found.get_parts("a"))


def test_an_address_that_is_wrong_is_no_store_that_is_away() -> None:
    with pytest.raises(ValueError, match="bogus"):
        Objects("abfss://c@account.dfs.core.windows.net/x?bogus=1")


def test_a_store_of_google_that_cannot_be_reached_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(objects, "_GCS_S", 1)
    found = Objects("gs://anonymous@bucket/x?scheme=http&endpoint_override=127.0.0.1:9")
    with pytest.raises(OSError, match="policy exhausted"):
        found.get("a")  # of itself after a quarter of an hour


def test_what_somebody_sets_stays() -> None:
    set_ = "gs://bucket/x?retry_limit_seconds=60"
    assert objects._with_settings(set_) == set_
    assert objects._with_settings("gs://bucket").startswith("gs://bucket?retry_limit_seconds=")
    assert objects._with_settings("file:///x") == "file:///x"
