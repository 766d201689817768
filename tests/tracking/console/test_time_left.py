"""The estimate of the time left: arithmetic on arrivals, at given times."""

import pytest

from raybench.tracking.console.models import Seen
from raybench.tracking.console.time_left import TimeLeft


def planned(left: dict[tuple[str, str], float]) -> TimeLeft:
    found = TimeLeft()
    for lane, units in left.items():
        found.expect(0, lane, units)
    found.start(0)
    return found


def worked(of: TimeLeft, model: str, kind: str, each_s: float, units: int, now: float) -> float:
    """Have units arrive one by one; return the time after them."""
    for _ in range(units):
        now += each_s
        of.arrive(now, {(model, kind): (1, each_s)})
    return now


def test_there_is_no_estimate_before_every_kind_has_a_pace() -> None:
    of = planned({("a", "letters"): 100, ("a", "programs"): 10})
    assert of.seconds(0) is None
    now = worked(of, "a", "letters", 2, 50, 0)
    assert of.seconds(now) is None, "nobody knows how long programs take"
    now = worked(of, "a", "programs", 30, 2, now)
    assert of.seconds(now + 1) == pytest.approx(50 * 2 + 8 * 30, rel=0.1)


def test_a_few_units_say_nothing() -> None:
    of = planned({("a", "b"): 1000})
    now = worked(of, "a", "b", 200, 4, 0)
    assert of.seconds(now) is None
    now = worked(of, "a", "b", 200, 1, now)
    assert of.seconds(now) == pytest.approx(995 * 200, rel=0.15)


def test_there_is_no_estimate_before_a_share_of_the_time_has_passed() -> None:
    of = planned({("a", "b"): 1000})
    now = worked(of, "a", "b", 2, 80, 0)
    assert of.seconds(now) is None
    now = worked(of, "a", "b", 2, 40, now)
    assert of.seconds(now) == pytest.approx(880 * 2, rel=0.05)


def test_of_few_units_one_says_something() -> None:
    of = planned({("a", "b"): 12})
    now = worked(of, "a", "b", 600, 1, 0)
    assert of.seconds(now) == pytest.approx(11 * 600, rel=0.01)


def test_the_slowest_of_those_side_by_side_decides() -> None:
    of = planned({("a", "b"): 100, ("c", "b"): 100})
    for second in range(1, 51):
        of.arrive(second, {("a", "b"): (1, 1)})
        if second % 5 == 0:
            of.arrive(second, {("c", "b"): (1, 5)})
    assert of.seconds(51) == pytest.approx(90 * 5, rel=0.1)


def test_models_of_one_engine_follow_each_other() -> None:
    of = TimeLeft()
    of.assign(["a", "c"], "engine", hosted=False)
    for model in "ac":
        of.expect(0, (model, "b"), 100)
    of.start(0)
    now = worked(of, "a", "b", 2, 50, 0)
    assert of.seconds(now + 1) == pytest.approx(50 * 2 + 100 * 2, rel=0.05), "c is assumed alike"
    now = worked(of, "c", "b", 4, 10, now)
    assert of.seconds(now + 1) == pytest.approx(50 * 2 + 90 * 4, rel=0.05)


def test_a_kind_that_a_model_has_not_begun_takes_it_longer_as_others_do() -> None:
    of = planned({(model, kind): 25 for model in "ac" for kind in ("short", "long")})
    worked(of, "a", "short", 1, 20, 0)
    worked(of, "a", "long", 4, 10, 20)
    worked(of, "c", "short", 3, 20, 0)
    assert of.seconds(60) == pytest.approx(5 * 3 + 25 * 12, rel=0.1)


def test_engines_that_take_turns_add_up_and_have_to_be_loaded() -> None:
    of = TimeLeft()
    for model in "acd":
        of.assign([model], f"engine {model}", hosted=True)
        of.expect(0, (model, "b"), 100)
    of.start(0)

    def states(now: float, *of_each: str) -> None:
        of.look(now, [
            Seen(model, state, under_way=state == "awake")
            for model, state in zip("acd", of_each, strict=True)
        ])  # fmt: skip

    states(0, "coming up", "not up", "not up")
    states(40, "awake", "not up", "not up")
    now = worked(of, "a", "b", 1, 50, 40)
    assert of.seconds(now) == pytest.approx(50 + 2 * (40 + 100), rel=0.05)
    now = worked(of, "a", "b", 1, 50, now)
    states(now, "asleep", "coming up", "not up")
    states(now + 40, "asleep", "awake", "not up")
    now = worked(of, "c", "b", 2, 50, now + 40)
    assert of.seconds(now) == pytest.approx(50 * 2 + 40 + 100 * 1.5, rel=0.1)


def test_known_replies_shorten_the_rest_and_tell_no_pace() -> None:
    of = planned({("a", "b"): 1000})
    now = worked(of, "a", "b", 2, 50, 0)
    of.skip(now, ("a", "b"), 900)
    assert of.seconds(now + 1) == pytest.approx(50 * 2, rel=0.05)


def test_units_under_way_at_once_are_counted_by_what_they_take_by_themselves() -> None:
    """Ten are under way, and long ones come in the same moments as short ones."""
    of = planned({("a", "short"): 500, ("a", "long"): 100})
    for minute in range(1, 11):
        of.arrive(60.0 * minute, {("a", "short"): (20, 100)})
        of.arrive(60.0 * minute, {("a", "long"): (5, 500)})
    assert of.seconds(600) == pytest.approx(300 * 0.5 + 50 * 10, rel=0.15)


def test_the_last_units_of_an_engine_are_waited_for() -> None:
    of = planned({("a", "b"): 100})
    for minute in range(1, 10):
        of.arrive(60.0 * minute, {("a", "b"): (10, 600)})
    left = of.seconds(540)
    assert left is not None and 60 < left < 100
    of.arrive(560, {("a", "b"): (5, 300)})
    less = of.seconds(560)
    assert less == pytest.approx(left - 20, abs=10), "the others do not take half the time"


def test_a_stall_holds_the_estimate_and_says_little_of_the_pace() -> None:
    of = planned({("a", "b"): 100})
    now = worked(of, "a", "b", 2, 50, 0)
    before = of.seconds(now + 2)
    assert before is not None
    for later in (30, 60):
        assert of.seconds(now + later) == pytest.approx(before, abs=1)
    now = worked(of, "a", "b", 2, 10, now + 60)
    assert of.seconds(now) == pytest.approx(40 * 2, rel=0.15)


def test_pauses_that_come_again_and_again_count() -> None:
    of = planned({("a", "b"): 1000})
    now = 0.0
    for _ in range(30):
        now = worked(of, "a", "b", 2, 10, now) + 40
    assert of.seconds(now) == pytest.approx(700 * 6, rel=0.3)


def test_time_without_work_does_not_count() -> None:
    of = planned({("a", "b"): 100, ("judge", "b"): 100})
    for second in range(1, 51):
        done = {("a", "b"): (1.0, 1.0)}
        at_work = {"judge": 0.0}
        if second % 10 == 0:
            done["judge", "b"], at_work["judge"] = (8.0, 4.0), 4.0
        of.arrive(second, done, at_work)
    assert of.seconds(50) == pytest.approx(50, rel=0.1), "the judge is quicker than who is judged"
    for second in range(51, 101):
        of.arrive(second, {("a", "b"): (1, 1)})
    assert of.seconds(100) == pytest.approx(60 * 0.5, rel=0.1)


def test_what_is_under_way_longer_is_waited_for() -> None:
    of = planned({("a", "b"): 10})
    now = worked(of, "a", "b", 1, 10, 0)
    of.expect_longer(now, 30)
    assert of.seconds(now + 10) == pytest.approx(20)


def test_a_model_has_a_time_of_its_own_where_it_has_an_engine_for_itself() -> None:
    of = TimeLeft()
    of.assign(["c", "d"], "shared", hosted=False)
    for model in "acd":
        of.expect(0, (model, "b"), 100)
    of.start(0)
    worked(of, "a", "b", 2, 50, 0)
    now = worked(of, "c", "b", 2, 50, 0)
    assert of.of_model(now, "a") == pytest.approx(100, rel=0.05)
    assert of.of_model(now, "c") is None
    assert of.of_model(now, "nobody") is None


def test_a_pace_that_changes_is_followed() -> None:
    of = planned({("a", "b"): 10_000})
    now = worked(of, "a", "b", 1, 600, 0)
    now = worked(of, "a", "b", 4, 600, now)
    left = of.seconds(now + 4)
    assert left is not None and left > 0.7 * 8800 * 4


def test_what_is_shown_goes_down_with_the_clock_and_follows_gradually() -> None:
    of = planned({("a", "b"): 1000})
    now = worked(of, "a", "b", 1, 500, 0)
    first = of.shown(now)
    assert first is not None
    of.expect(now, ("a", "b"), 1000)
    after = of.shown(now + 1)
    assert after is not None and first < after < first + 150
    for second in range(1, 200):
        of.arrive(now + second, {("a", "b"): (1, 1)})
        of.shown(now + second)
    assert of.shown(now + 200) == pytest.approx(of.seconds(now + 200), rel=0.05)


def test_what_is_all_done_leaves_nothing() -> None:
    of = planned({("a", "b"): 10})
    now = worked(of, "a", "b", 1, 10, 0)
    assert of.seconds(now + 5) == 0
