"""The table on the screen, at every width, with whatever models are called."""

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from terminals import Terminal

from raybench.tracking import console
from raybench.tracking.console import Progress
from raybench.tracking.console.live import Frame, Live
from raybench.tracking.console.models import Seen
from raybench.tracking.console.state import State

STAGES = ["1 min 14 s", "1 min 0 s"]
"""How long they took: to start engines, and to ask."""
STATES = ("awake", "coming up", "waiting", "asleep", "failed", "done", "")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def state(names: list[str]) -> State:
    """A run of these models after two minutes."""
    clock = Clock()
    found = State(100 * len(names), "units", clock=clock)
    found.stage("starting engines")
    clock.now = 74
    found.stage("asking")
    found.start()
    found.phase("asking")

    def seen() -> list[Seen]:
        share = (clock.now - 74) / 60
        return [
            Seen(
                name, STATES[place % len(STATES)], int(share * (90 - place)), 100,
                replies=100, under_way=8 * place, queued=40 * place,
                output_tokens=int(share * 5000), errors=place,
            )
            for place, name in enumerate(names)
        ]  # fmt: skip

    found.follow(seen)
    for _ in range(60):
        clock.now += 1
        found.models()
    found.advance(40 * len(names))
    found.count(prompt_tokens=3_456_789, output_tokens=1_234_567, errors=7)
    found.swapped(4, 0.08, names[:1])
    return found


def shown(
    of: State, width: int, height: int = 30, *, color: bool = False, last: bool = False
) -> str:
    frame = Frame(of)
    frame.last = last
    screen = Console(
        width=width, height=height, file=io.StringIO(), record=True, force_terminal=True,
        no_color=not color, color_system="truecolor",
    )  # fmt: skip
    screen.print(frame)
    return screen.export_text(styles=color)


NAMES = [f"qwen3-{size}b-instruct" for size in (1, 4, 8, 14, 32)]


@pytest.mark.parametrize("width", range(40, 201, 8))
def test_at_every_width_each_model_has_its_line_and_no_line_is_broken(width: int) -> None:
    lines = shown(state(NAMES), width).splitlines()
    assert max(map(cell_len, lines)) <= width
    heads = [line for line in lines if line.startswith("model")]
    assert len(heads) == 1
    for name in NAMES:
        (line,) = (it for it in lines if it.startswith(name[:9]))
        assert re.search(r"\d+/100\b", line), "a cell was cut"
    assert len(lines) <= 2 + 1 + len(NAMES) + 1


def test_a_wide_screen_has_all_that_is_known() -> None:
    text = shown(state(NAMES), 160)
    head = next(line for line in text.splitlines() if line.startswith("model"))
    assert head.split() == [
        "model", "units", "state", "replies", "asked", "queue", "tok/s", "errors", "ETA",
    ]  # fmt: skip
    assert "8 swaps" not in text
    for part in ("200/500 units", "7 errors", "4 swaps (8%", "qwen3-1b"):
        assert part in text
    assert re.findall(r"\d+ min \d+ s", text.rstrip().splitlines()[-1]) == STAGES


def test_a_narrow_screen_gives_up_what_matters_least() -> None:
    def head(width: int) -> set[str]:
        lines = shown(state(NAMES), width).splitlines()
        return set(next(line for line in lines if line.startswith("model")).split())

    assert {"units", "state", "errors"} <= head(44)
    assert "replies" not in head(60)
    for narrow, wide in ((44, 60), (60, 80), (80, 120)):
        assert head(narrow) <= head(wide)


@pytest.mark.parametrize("height", [3, 6, 8, 12, 40])
def test_more_models_than_lines_are_counted(height: int) -> None:
    many = [f"m{place:02}" for place in range(25)]
    lines = shown(state(many), 100, height).splitlines()
    assert len(lines) <= max(height, 3)
    there = [line for line in lines if re.match(r"m\d\d ", line)]
    if height == 40:
        assert len(there) == 25
    elif height > 6:
        assert f"and {25 - len(there)} more" in lines
        assert len(there) == height - 6


names = st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True)


@settings(max_examples=60)
@given(names, st.integers(40, 120))
def test_hostile_names_stay_in_their_cells(names: list[str], width: int) -> None:
    text = shown(state(names), width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_names_are_no_markup() -> None:
    assert "[red]model[/red]" in shown(state(["[red]model[/red]"]), 120)


def test_what_stays_on_the_screen_is_how_far_it_came_and_what_took_how_long() -> None:
    of = state(NAMES)
    of.stage("concluding")
    of.end()
    text = shown(of, 120, last=True)
    assert text.startswith("200/500 units ")
    assert "qwen3" not in text
    assert re.findall(r"\d+ min \d+ s", text.rstrip().splitlines()[-1]) == STAGES


def test_no_color_leaves_no_color() -> None:
    colors = r"\x1b\[(?:\d+;)*(?:3[0-9]|9[0-7])(?:;\d+)*m"
    assert re.search(colors, shown(state(NAMES), 120, color=True))
    assert not re.search(colors, shown(state(NAMES), 120))


def test_a_part_waits_for_no_screen_and_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two live tables on one screen would tear each other."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    for name, value in [("TERM", "xterm"), ("COLUMNS", "80"), ("NO_COLOR", "1"), ("CI", "")]:
        monkeypatch.setenv(name, value)
    with Progress(4, "parts", title="suite") as whole:
        for part in ("index", "hle"):
            with Progress(10, "units", title=part) as inner:
                console.say(f"Run {part}")
                inner.advance(10)
            whole.advance()
        console.say("all parts are done")
    text = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", stream.getvalue())
    assert "index: 10/10 units" in text
    assert "hle: 10/10 units" in text
    assert "suite" not in text
    assert text.index("Run hle") < text.index("all parts are done") < text.rindex("2/4 parts")


def test_what_is_said_while_nothing_is_shown_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that sends to MLflow warns whenever it likes."""
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    live = Live(state(NAMES), stream)
    live.say("before")
    live.start()
    live.pause()
    live.say("between")
    live.start()
    live.stop()
    live.say("after\x1b[2J")
    lines = stream.getvalue().splitlines()
    assert lines[0] == "before"
    assert any(line.endswith("between") for line in lines)
    assert "after" in lines[-1]
    assert "\x1b[2J" not in lines[-1]


def test_parts_are_told_in_lines_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress(2, "parts", title="suite") as whole, Progress(10, "units", title="index"):
        whole.advance()
    lines = [line.partition(" · ")[0] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "0/2 parts (0%)", "index: 0/10 units (0%)", "index: 0/10 units (0%)",
        "1/2 parts (50%)", "1/2 parts (50%)",
    ]  # fmt: skip
