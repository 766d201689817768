"""What each model does now: arithmetic on looks at counters, by property."""

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.tracking.console.models import WINDOW_S, Models, Row, Seen, busiest, notable

steps = st.lists(st.tuples(st.floats(0.5, 90), st.integers(0, 10_000)), min_size=1, max_size=40)


@given(steps)
def test_a_rate_is_what_came_in_the_last_minute(steps: Sequence[tuple[float, int]]) -> None:
    models, now, tokens = Models(), 0.0, 0
    course = [(now, tokens)]
    models.look(now, [Seen("a", "awake")])
    for seconds, more in steps:
        now, tokens = now + seconds, tokens + more
        course.append((now, tokens))
        (row,) = models.look(now, [Seen("a", "awake", output_tokens=tokens)])
        # The last look that is a minute old, or the first one.
        then, before = [it for it in course if it[0] <= now - WINDOW_S or it is course[0]][-1]
        if row.rate is None:
            assert tokens == before or now - then < 1
        else:
            assert math.isclose(row.rate, (tokens - before) / (now - then))


def test_a_counter_that_begins_anew_is_no_negative_rate() -> None:
    models = Models()
    models.look(0, [Seen("a", "awake", output_tokens=900)])
    (row,) = models.look(2, [Seen("a", "awake", output_tokens=10)])
    assert row.rate is None
    (row,) = models.look(4, [Seen("a", "awake", output_tokens=30)])
    assert row.rate == 10


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 100), st.floats(1, 1e4))
def test_the_time_left_is_by_the_pace_of_this_session(
    before: int, done: int, left: int, seconds: float
) -> None:
    models, total = Models(), before + done + left
    (row,) = models.look(0, [Seen("a", "awake", before, total)])
    assert row.eta is None
    (row,) = models.look(seconds, [Seen("a", "awake", before + done, total)])
    if left:
        assert row.eta is not None
        assert math.isclose(row.eta, seconds / done * left)
    else:
        assert row.eta is None


def test_the_time_left_is_not_told_where_nobody_knows_how_much_there_is() -> None:
    models = Models()
    models.look(0, [Seen("a", done=1)])
    (row,) = models.look(9, [Seen("a", done=5)])
    assert row.eta is None


def test_who_does_nothing_has_no_line() -> None:
    assert Models().look(0, [Seen("a", total=9), Seen("b", queued=1)]) == [Row(Seen("b", queued=1))]


rows = st.lists(
    st.builds(
        lambda rate, under_way, place: Row(Seen(f"m{place}", under_way=under_way), rate),
        st.none() | st.floats(0.1, 1e4),
        st.integers(0, 3),
        st.integers(0, 10_000),
    ),
    max_size=30,
)


@given(rows, st.integers(-2, 35))
def test_the_busiest_are_shown_in_the_order_of_all(rows: list[Row], most: int) -> None:
    shown = busiest(rows, most)
    assert len(shown) == max(0, min(most, len(rows)))
    places = [next(i for i, it in enumerate(rows) if it is row) for row in shown]
    assert places == sorted(places)
    others = [row for place, row in enumerate(rows) if place not in places]
    assert all(row.effort >= other.effort for row in shown for other in others)


def row(name: str, done: int = 50, errors: int = 0, replies: int = 100, state: str = "") -> Row:
    return Row(Seen(name, state, done, 100, replies, errors=errors), eta=90.0)


def test_who_fails_is_told_of_once_for_the_same_errors() -> None:
    told: dict[str, int] = {}
    assert notable([row("a", errors=2)], told) == [], "two errors are no news"
    (first,) = notable([row("a", errors=5)], told)
    assert (code(first), values(first)["errors"]) == ("console.failing", 5)
    assert (values(first)["model"], values(first)["calls"]) == ("a", "100 calls")
    assert notable([row("a", errors=6)], told) == []
    (again,) = notable([row("a", errors=8)], told)
    assert values(again)["errors"] == 8


def test_who_is_behind_is_told_of_with_what_it_does() -> None:
    slow = row("slow\x1b[2J", done=10, state="waiting")
    (behind,) = notable([row("a"), row("b"), slow], {})
    assert (code(behind), values(behind)["model"]) == ("console.behind", "slow\ufffd[2J")
    assert "10/100" in behind and "waiting" in behind and "1 min 30 s" in behind
    assert notable([row("a"), row("b"), row("c", done=30)], {}) == []
    assert notable([row("a"), slow], {}) == [], "of two, one is behind for nothing"


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 50)), max_size=60))
def test_however_many_there_are_few_lines_are_told(of: list[tuple[int, int]]) -> None:
    many = [row(f"m{i}", done, errors) for i, (done, errors) in enumerate(of)]
    told: dict[str, int] = {}
    assert len(notable(many, told)) <= 8
    assert not [line for line in notable(many, told) if "error" in line]
