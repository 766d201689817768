import io
import re
import sys

import pytest
from terminals import Terminal

from raybench.tracking import console
from raybench.tracking.console import Progress
from raybench.tracking.console.models import Seen


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_plain_lines_come_at_most_once_an_interval(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress(10, "matches", interval=10.0, clock=clock) as progress:
        for _ in range(8):
            clock.now += 4.0
            progress.count(prompt_tokens=100, output_tokens=50)
            progress.advance()
        progress.count(errors=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("0/10 matches (0%)")
    assert [line.partition(" ")[0] for line in lines] == ["0/10", "2/10", "5/10", "8/10"]
    assert "1 error · " in lines[-1]
    assert "800 in 400 out" in lines[-1]
    assert lines[-1].endswith("32 s so far")


def test_slow_units_each_get_a_line(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(3, "units", interval=10.0, clock=clock) as progress:
        for _ in range(2):
            clock.now += 60.0
            progress.advance()
    assert [line.partition(" ")[0] for line in capsys.readouterr().err.splitlines()] == [
        "0/3", "1/3", "2/3", "2/3",
    ]  # fmt: skip


def test_the_pace_is_that_of_this_session_after_the_preparation(clock: Clock) -> None:
    progress = Progress(100, "units", done=80, clock=clock)
    assert progress.eta() is None
    assert "estimating" not in progress.line(), "nothing is asked yet"
    clock.now += 300  # engines come up
    progress.start()
    assert "ETA estimating" in progress.line()
    for _ in range(5):
        clock.now += 10
        progress.count(output_tokens=200)
        progress.advance(1)
    clock.now += 2
    assert progress.eta() == pytest.approx(150, abs=5)
    assert progress.rate() == pytest.approx(1000 / 52)
    assert re.search(r"ETA 2 min \d+ s", progress.line())
    clock.now += 100  # the last minute brought nothing
    assert progress.rate() is None
    progress.end()
    assert "ETA" not in progress.line()


def test_units_of_lanes_tell_the_time_left_where_samples_come_in_the_end(clock: Clock) -> None:
    progress = Progress(100, "units", clock=clock)
    progress.expect({("a", "answer"): 40})
    progress.skip({("a", "answer"): 20})
    progress.start()
    for _ in range(5):
        clock.now += 12
        progress.arrive({("a", "answer"): (1, 12)})
    assert progress.eta() == pytest.approx(180, abs=20)
    progress.advance(50)
    assert progress.eta() == pytest.approx(180, abs=20)


def test_a_part_says_how_many_others_follow(clock: Clock) -> None:
    progress = Progress(100, "units", clock=clock)
    progress.following = 2
    for _ in range(50):
        clock.now += 2
        progress.advance()
    clock.now += 2
    assert re.search(r"ETA [^·]* 1 min 38 s", progress.line())
    assert "2 parts" in progress.line()


def test_a_json_progress_lacks_the_time_left_while_it_is_unknown(clock: Clock) -> None:
    progress = Progress(100, "units", clock=clock)
    progress.start()
    assert progress.to_json()["eta_s"] is None
    clock.now += 10
    progress.advance(50)
    clock.now += 1
    assert progress.to_json()["eta_s"] == pytest.approx(9, abs=0.5)


def test_swaps_are_shown_with_the_time_that_they_take(clock: Clock) -> None:
    progress = Progress(10, "units", clock=clock)
    progress.swapped(0, 0.0)
    assert "swap" not in progress.line()
    progress.swapped(1, 0.004)
    assert "1 swap (0%" in progress.line()
    progress.swapped(3, 0.123)  # so far, not more
    assert "3 swaps (12%" in progress.line()
    progress.swapped(3, 0.2, ["small", "large"])
    assert "small, large" in progress.line()
    progress.swapped(4, 0.2)
    assert "large" not in progress.line()


def test_a_finished_run_has_no_time_left(clock: Clock) -> None:
    progress = Progress(1, "units", clock=clock)
    clock.now += 5
    progress.advance()
    assert progress.eta() is None
    assert "unit" not in Progress(0, "units", clock=clock).line()


def test_words_go_above_the_progress_and_control_characters_nowhere(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(1, "units", clock=clock)
    progress.phase("waiting \x1b[2Jalpha\nbeta")
    with progress:
        console.say("resuming")
        console.warn("odd \x1b]0;title\x07")
    console.say("after")
    text = capsys.readouterr().err
    assert "\x1b" not in text
    assert "\x07" not in text
    lines = text.splitlines()
    assert lines[lines.index("resuming") + 1].startswith("warning: odd")
    assert "alpha beta" in text
    assert text.endswith("after\n")


def test_a_closed_terminal_stops_nothing(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(2, "units", clock=clock) as progress:
        stream.close()
        clock.now += 100
        progress.advance()
    assert progress.done == 1


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_terminal_gets_a_live_line(monkeypatch: pytest.MonkeyPatch, no_color: str) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    for name, value in [("TERM", "xterm"), ("COLUMNS", "80"), ("NO_COLOR", no_color)]:
        monkeypatch.setenv(name, value)
    with Progress(4, "iterations", done=1) as progress:
        progress.phase("[bold]answers[/bold]")
        progress.count(errors=2)
        progress.advance()
        progress.say("a line [red]above[/red]")
    text = stream.getvalue()
    assert "2/4 iterations" in text
    assert "a line [red]above[/red]" in text
    assert "[bold]answers[/bold]" in text
    assert ("\x1b[33m" in text) is (no_color == "")


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "dumb")
    with Progress(1, "units"):
        pass
    assert "\x1b" not in stream.getvalue()


def test_the_last_look_at_models_is_not_left_out_however_soon_it_comes(clock: Clock) -> None:
    seen: list[Seen] = []
    progress = Progress(1, "units", clock=clock)
    progress.follow(lambda: seen)
    assert progress.to_json()["models"] == {}
    seen.append(Seen("a", "awake", 1, 1))
    clock.now += 0.1
    assert progress.to_json()["models"] == {}, "it has just looked"
    progress.end()
    assert [*progress.to_json()["models"]] == ["a"]
