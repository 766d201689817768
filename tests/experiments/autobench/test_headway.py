"""How far replies have come, as the progress line tells it."""

from typing import cast

import pytest

from raybench.autobench.steps import Reply
from raybench.experiments.autobench.headway import Headway
from raybench.experiments.session import Session
from raybench.tracking.console import Progress


class Shown:
    """What of a session tells the person."""

    def __init__(self) -> None:
        self.now = 0.0
        self.progress = Progress(10, "iterations", clock=lambda: self.now)

    def phase(self, text: str) -> None:
        self.progress.phase(text)

    def reached(self, share: float) -> None:
        self.progress.reached(share)

    def spend(self, *, prompt_tokens: int, output_tokens: int, errors: int) -> None:
        self.progress.count(prompt_tokens=prompt_tokens, output_tokens=output_tokens, errors=errors)


def test_known_replies_count_as_done_and_took_no_time() -> None:
    shown = Shown()
    headway = Headway(cast(Session, shown), 1100)
    headway.waits("far: too busy; trying again in 2 s")
    assert "far: too busy; trying again in 2 s" in shown.progress.line()
    headway.known(900)
    assert "900 replies of at least 1,100" in shown.progress.line()
    assert shown.progress.eta() is None
    shown.now = 60.0
    headway.asked([Reply("x", "stop", "", 10, 2)] * 49 + [Reply(None, "error", "no line")])
    assert "950 replies of at least 1,100" in shown.progress.line()
    assert "1 error" in shown.progress.line()
    assert shown.progress.eta() == pytest.approx(180)  # 50 of the 200 that are asked for took 60 s
    headway.known(50)
    assert shown.progress.eta() == pytest.approx(120)


def test_more_known_than_there_had_to_be_leaves_the_end_open() -> None:
    shown = Shown()
    headway = Headway(cast(Session, shown), 100)
    headway.known(120)
    shown.now = 60.0
    headway.asked([Reply("x")])
    assert "121 replies of at least 100" in shown.progress.line()
    assert shown.progress.eta() is None
