"""What was gained is told of the same positions before and after, with what that is sure of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.arena.studies import Marked
from raybench.experiments.optimise_players import gains

worths = st.floats(0, 1, allow_nan=False)


def mark(
    phase: str, place: int, worth: float, family: str = "", error: str | None = None
) -> Marked:
    said = family or f"family {place}"
    return Marked(phase, place, said, "Move: x", "x", error, worth, False, 3)


def marks(
    before: list[float], after: list[float], families: int | None = None
) -> dict[str, dict[int, Marked]]:
    def of(phase: str, values: list[float]) -> dict[int, Marked]:
        return {
            place: mark(phase, place, it, "" if families is None else str(place % families))
            for place, it in enumerate(values)
        }

    return {"before": of("before", before), "after": of("after", after)}


@given(st.lists(st.tuples(worths, worths), min_size=2, max_size=30))
def test_a_gain_is_the_difference_of_both(pairs: list[tuple[float, float]]) -> None:
    found = gains.studied(marks([a for a, _ in pairs], [b for _, b in pairs]))
    before, after, gain = (found[name].value or 0.0 for name in ("before", "after", "gain"))
    assert gain == pytest.approx(after - before, abs=1e-9)
    assert all(it.n == len(pairs) for it in found.values())
    for it in found.values():
        assert it.ci95 is None or it.ci95[0] <= (it.value or 0.0) <= it.ci95[1]


def test_only_positions_that_were_played_both_times_count() -> None:
    found = marks([0.0, 1.0, 0.5], [1.0, 1.0, 0.5])
    del found["before"][2]
    assert gains.studied(found)["after"].n == 2
    assert gains.studied({})["gain"].method.startswith("not computed")
    assert gains.studied({"before": found["before"], "after": {}})["before"].value is None


def test_positions_of_one_family_count_as_one() -> None:
    rng = np.random.default_rng(1)
    families = np.repeat(rng.integers(0, 2, 6).astype(float), 20)
    before = [0.0] * 120
    after = [float(it) for it in families]
    order = [place % 6 * 20 + place // 6 for place in range(120)]
    alone = gains.studied(marks(before, after))["gain"]
    together = gains.studied(marks(before, [after[it] for it in order], families=6))["gain"]
    assert together.stderr is not None and alone.stderr is not None
    assert together.stderr > 3 * alone.stderr and "by family" in together.method


def test_chance_alone_is_told_by_students_t() -> None:
    rng = np.random.default_rng(3)
    below = 0
    for _ in range(400):
        before, after = rng.random((2, 40))
        p = gains.chance(marks([*before], [*after]))
        assert p is not None
        below += p < 0.05
    assert 8 <= below <= 34, "one in twenty, where nothing was gained"
    assert gains.chance(marks([0.5] * 5, [0.5] * 5)) == 1.0
    assert gains.chance({}) is None
    sure = gains.chance(marks([0.1, 0.2, 0.1, 0.0] * 5, [0.9, 0.8, 1.0, 0.9] * 5))
    assert sure is not None and sure < 1e-6


def test_where_all_agree_it_is_sure_and_says_how_far_others_may_lie() -> None:
    found = marks([0.0] * 200, [1.0] * 200)
    gain, before = (gains.studied(found)[name] for name in ("gain", "before"))
    assert gain.value == 1.0 and gain.ci95 is not None and 0.95 < gain.ci95[0] < gain.ci95[1] == 1
    assert before.ci95 is not None and before.ci95[0] == 0 < before.ci95[1] < 0.02
    p = gains.chance(found)
    assert p is not None and p < 1e-9
    assert gains.chance(marks([0.0] * 3, [1.0] * 3)) == 0.25, "three signs alone"
    whole = gains.over_all(
        {"sure": gain, "other": gains.studied(marks([0.1, 0.3], [0.2, 0.9]))["gain"]}
    )
    assert whole.ci95 is not None, "it takes the interval from no other"
    one = gains.studied(marks([0.0] * 5, [0.0] * 5, families=1))["gain"]
    assert one.ci95 is None


def test_the_mean_over_sets_weighs_all_alike() -> None:
    one = gains.studied(marks([0.0, 0.2, 0.1], [0.5, 0.6, 0.9]))["gain"]
    two = gains.studied(marks([0.4] * 50, [0.3, 0.5] * 25))["gain"]
    whole = gains.over_all({"one": one, "two": two})
    assert whole.value == pytest.approx(((one.value or 0) + (two.value or 0)) / 2)


def test_replies_without_a_move_are_counted() -> None:
    found = marks([0.0, 1.0], [1.0, 1.0])
    found["before"][0] = mark("before", 0, 0.0, error="there is no line")
    counts = gains.counted(found)
    assert (counts.ok, counts.unparsed, counts.truncated) == (3, 1, 0)
