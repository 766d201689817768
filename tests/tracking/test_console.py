import io
import sys
from typing import Any

import pytest

from raybench.tracking import console
from raybench.tracking.console import Progress, duration, short, show_leaderboard
from raybench.tracking.leaderboard import SIMULATED, UNSAFE, Column


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


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
    progress = Progress(100, "units", done=90, clock=clock)
    assert progress.eta() is None
    clock.now += 300  # engines come up
    progress.start()
    clock.now += 20
    progress.count(output_tokens=400)
    progress.advance()
    progress.advance()
    assert progress.eta() == pytest.approx(80)
    assert progress.rate() == pytest.approx(20)
    clock.now += 100  # the last minute brought nothing
    assert progress.rate() is None
    assert "ETA 8 min 0 s" in progress.line()


def test_where_units_come_all_at_the_end_the_share_of_the_work_tells_the_time_left(
    clock: Clock,
) -> None:
    progress = Progress(100, "units", clock=clock)
    progress.start()
    clock.now += 60
    progress.reached(0.25)
    assert progress.eta() == pytest.approx(180)
    progress.advance()  # the first of a hundred: they will not take a hundred minutes
    assert progress.eta() == pytest.approx(180)
    progress.reached(1.2)  # it was more than was thought
    assert progress.eta() is None


def test_units_that_took_no_work_say_nothing_about_the_time_left(clock: Clock) -> None:
    progress = Progress(100, "units", clock=clock)
    clock.now += 1
    progress.advance(50)
    progress.reached(0.0)
    assert progress.eta() is None


def test_swaps_are_shown_with_the_time_that_they_take(clock: Clock) -> None:
    progress = Progress(10, "units", clock=clock)
    progress.swapped(0, 0.0)
    assert "swap" not in progress.line()
    progress.swapped(1, 0.004)
    assert "1 swap (0% of the time)" in progress.line()
    progress.swapped(3, 0.123)  # so far, not more
    assert "3 swaps (12% of the time)" in progress.line()
    progress.swapped(3, 0.2, ["small", "large"])
    assert "bringing in small, large" in progress.line()
    progress.swapped(4, 0.2)
    assert "bringing in" not in progress.line()


def test_a_finished_run_has_no_time_left(clock: Clock) -> None:
    progress = Progress(1, "units", clock=clock)
    clock.now += 5
    progress.advance()
    assert progress.eta() is None
    assert Progress(0, "units", clock=clock).line().startswith("0/0 units · ")


def test_words_go_above_the_progress_and_control_characters_nowhere(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress(1, "units", clock=clock) as progress:
        progress.phase("waiting for \x1b[2Jalpha\nand beta")
        console.say("resuming")
        console.warn("odd \x1b]0;title\x07")
    console.say("after")
    text = capsys.readouterr().err
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "resuming\nwarning: odd" in text
    assert "alpha and beta" in text
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


RESULTS: dict[str, Any] = {
    "models": {
        name: {
            "t/score": {
                "value": value, "stderr": 0.1, "ci95": [0.1, 0.9], "n": 20,
                "method": "t interval" if value is not None else "too few",
            },
            "t/other": {"value": 1.0, "stderr": None, "ci95": [0.5, 1.5], "n": 20, "method": "b"},
        }
        for name, value in [("a-model-with-a-rather-long-name", 0.5), ("m[red]", None)]
    },
    "counts": {"m[red]": {"ok": 3, "unparsed": 2}},
    "simulated": True,
}  # fmt: skip
COLUMNS = [Column("t/score", "Score"), Column("t/other", "Other")]


def test_without_models_there_is_no_table() -> None:
    out = io.StringIO()
    show_leaderboard({"models": {}}, COLUMNS, title="A title", file=out)
    assert out.getvalue().split() == ["A", "title"]


def test_the_leaderboard_in_a_file_is_plain_and_unbroken() -> None:
    out = io.StringIO()
    show_leaderboard(RESULTS, COLUMNS, title="A title", file=out)
    text = out.getvalue()
    assert "\x1b" not in text
    assert text.startswith("A title\nsimulated: ")
    assert "a-model-with-a-rather-long-name  0.500 [0.10, 0.90]  1.000 [0.50, 1.50]   0" in text
    assert "[1] too few" in text
    assert "Score: t interval (n = 20)" in text


def test_the_leaderboard_of_programs_without_walls_begins_with_that() -> None:
    out = io.StringIO()
    run = {"programs": {"ran": [{"backend": "unsafe", "python": "3.12"}]}}
    show_leaderboard({**RESULTS, "run": run}, COLUMNS, file=out)
    assert out.getvalue().splitlines()[:2] == [SIMULATED, UNSAFE]


def test_a_column_without_any_number_is_told_below_and_not_shown() -> None:
    out = io.StringIO()
    none = {"value": None, "stderr": None, "ci95": None, "n": 0, "method": "refused: b is missing"}
    models = {name: {**of, "t/index": none} for name, of in RESULTS["models"].items()}
    show_leaderboard({**RESULTS, "models": models}, [*COLUMNS, Column("t/index", "I")], file=out)
    head = next(line for line in out.getvalue().splitlines() if "model" in line and "Score" in line)
    assert head.split() == ["#", "model", "Score", "Other", "ok", "unparsed"]
    assert "\nI: no model has a number: b is missing\n" in out.getvalue()


def test_the_headline_stays_though_nobody_has_a_number() -> None:
    out = io.StringIO()
    show_leaderboard(RESULTS, [Column("t/third", "Third"), *COLUMNS], file=out)
    assert "Third  " in out.getvalue()
    assert "Not ranked: Third is refused for every model" in out.getvalue()


def test_the_leaderboard_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in [("TERM", "xterm"), ("COLUMNS", "80"), ("NO_COLOR", "1")]:
        monkeypatch.setenv(name, value)
    out = Terminal()
    wider = [*COLUMNS, Column("t/other", "Third"), Column("t/other", "Fourth")]
    show_leaderboard(RESULTS, wider, file=out)
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80 + len("\x1b[1m\x1b[0m") * 12
    assert "[0.10, 0.90]" in text
    assert "unparsed" in text
    assert "m[red]" in text


def test_letters_that_the_stream_lacks_are_replaced() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    show_leaderboard(RESULTS, COLUMNS, title="Ünïcode", file=out)
    assert b"?n?code" in raw.getvalue()


def test_numbers_and_times_in_few_characters() -> None:
    assert [short(n) for n in (950, 12_345, 123_456, 4_500_000)] == ["950", "12.3k", "123k", "4.5M"]
    assert [duration(s) for s in (0.4, 59, 250, 1500, 7500)] == [
        "0 s", "59 s", "4 min 10 s", "25 min", "2 h 5 min",
    ]  # fmt: skip


def test_a_board_of_something_else_names_its_lines() -> None:
    found = {"value": 0.5, "stderr": None, "ci95": None, "n": 3, "method": "a share"}
    out = io.StringIO()
    board = {"models": {"whole": {"share": found}}}
    show_leaderboard(board, [Column("share", "Share")], title="Parts", of="part", file=out)
    said = out.getvalue()
    assert said.startswith("Parts\n")
    assert " part " in said
    assert " model" not in said
