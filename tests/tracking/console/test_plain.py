"""Lines for logs: few of them, and of single models only what a person should look at."""

import io
import itertools
import re
import threading

import pytest

from raybench.tracking.console.events import Events
from raybench.tracking.console.models import Seen
from raybench.tracking.console.plain import Paced, Plain
from raybench.tracking.console.progress import Progress
from raybench.tracking.console.state import State


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def told(hours: float, *, every_s: float = 1.0) -> tuple[list[str], list[float]]:
    """What a log has of a run in which something happens every second, and when."""
    clock, stream, times = Clock(), io.StringIO(), list[float]()
    state = State(100_000, "units", clock=clock)
    view = Plain(state, stream, clock=clock)
    view.start()
    steps = int(hours * 3600 / every_s)
    for _ in range(steps):
        clock.now += every_s
        before = stream.tell()
        state.advance()
        view.changed()
        if stream.tell() > before:
            times.append(clock.now)
    view.stop()
    return stream.getvalue().splitlines(), times


def test_a_log_gets_no_line_sooner_than_ten_seconds_after_the_last() -> None:
    _, times = told(0.2)
    assert min(later - sooner for sooner, later in itertools.pairwise(times)) >= 10


def test_a_long_run_gets_a_line_a_minute() -> None:
    lines, times = told(10)
    assert len(lines) < 1000
    late = [it for it in times if it > 3600]
    gaps = [later - sooner for sooner, later in itertools.pairwise(late)]
    assert min(gaps) >= 59
    assert max(gaps) <= 61


def test_models_are_told_of_every_few_minutes_and_only_where_there_is_something() -> None:
    clock, stream = Clock(), io.StringIO()
    state = State(1000, "units", clock=clock)
    errors = {"good": 0, "bad\x1b[2J": 0}
    state.follow(
        lambda: [Seen(name, "awake", replies=50, errors=count) for name, count in errors.items()]
    )
    view = Plain(state, stream, clock=clock)
    view.start()
    for second in range(1000):
        clock.now += 1
        if second == 300:
            errors["bad\x1b[2J"] = 40
        state.advance()
        view.changed()
    view.stop()
    text = stream.getvalue()
    assert "\x1b" not in text
    (about,) = (line for line in text.splitlines() if line.startswith("  "))
    assert about.startswith("  bad\ufffd[2J ") and re.findall(r"\d+", about)[1:] == ["40", "50"]


def test_where_there_are_no_units_none_are_counted() -> None:
    clock, stream = Clock(), io.StringIO()
    state = State(0, "units", clock=clock)
    state.stage("preparing")
    Plain(state, stream, clock=clock).start()
    (line,) = stream.getvalue().splitlines()
    assert line.split(" · ")[0] == "preparing" and "unit" not in line


def test_the_last_lines_say_what_took_how_long() -> None:
    clock, stream = Clock(), io.StringIO()
    state = State(2, "units", clock=clock)
    for stage, seconds in [("preparing", 0.1), ("loading", 45), ("asking", 130)]:
        state.stage(stage)
        clock.now += seconds
    state.end()
    view = Plain(state, stream, clock=clock)
    view.start()
    view.stop()
    last = stream.getvalue().splitlines()[-1]
    assert [it.split(maxsplit=1) for it in last.split(" · ")] == [
        ["loading", "45 s"], ["asking", "2 min 10 s"],
    ]  # fmt: skip


def test_a_stage_that_comes_again_goes_on_where_it_was() -> None:
    clock = Clock()
    state = State(2, "units", clock=clock)
    for stage, seconds in [("asking", 10), ("concluding", 1), ("asking", 20), ("concluding", 2)]:
        state.stage(stage)
        clock.now += seconds
    assert state.stages() == {"asking": 30, "concluding": 3}
    assert state.course() == "asking 30 s · concluding 3 s"


class Slow(io.StringIO):
    """A stream whose reader takes its time, once it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.slow, self.waited_for, self.goes_on = False, threading.Event(), threading.Event()

    def write(self, text: str) -> int:
        if self.slow:
            self.waited_for.set()
            self.goes_on.wait(10)
        return super().write(text)


@pytest.mark.parametrize("kind", [Plain, Events])
def test_a_run_ends_while_a_slow_stream_takes_a_line(kind: type[Paced]) -> None:
    clock, stream = Clock(), Slow()
    progress = Progress(2, "units", clock=clock)
    progress.stage("concluding")
    view = kind(progress, stream, interval=0.01, clock=clock)
    view.start()
    progress._view = view
    stream.slow, clock.now = True, 100  # the heartbeat is due, and tells
    assert stream.waited_for.wait(10)
    ending = threading.Thread(target=progress.end, daemon=True)
    ending.start()
    ending.join(0.2)  # it waits for the line to be out
    stream.slow = False
    asking = threading.Thread(target=progress.models, daemon=True)  # as the line's teller does
    asking.start()
    asking.join(5)
    assert not asking.is_alive(), "who waits for the teller keeps from it what it tells"
    stream.goes_on.set()
    ending.join(5)
    assert not ending.is_alive()
    view.stop()
