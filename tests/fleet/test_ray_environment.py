"""How a Ray of our own is set up: nobody watches it, unless the user says so."""

import os

import pytest

from raybench.fleet.ray_environment import UNWATCHED, meanwhile


def test_what_is_set_meanwhile_is_gone_afterwards_and_what_was_there_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THERE", "before")
    monkeypatch.delenv("OURS", raising=False)
    with pytest.raises(RuntimeError), meanwhile({"THERE": "ours", "OURS": "ours"}):
        assert (os.environ["THERE"], os.environ["OURS"]) == ("before", "ours")
        raise RuntimeError
    assert os.environ["THERE"] == "before"
    assert "OURS" not in os.environ


def test_a_user_may_have_a_timeline(monkeypatch: pytest.MonkeyPatch) -> None:
    interval = "RAY_task_events_report_interval_ms"
    monkeypatch.setenv(interval, "500")
    assert UNWATCHED[interval] == "0"
    with meanwhile(UNWATCHED):
        assert os.environ[interval] == "500"
