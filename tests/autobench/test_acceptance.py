"""Which tasks pass, and when that is certain beforehand."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from raybench.autobench.acceptance import accepted, bounds, foreseen
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing, advance

MODELS = ("a", "b", "c")
SETTINGS = Settings(models=MODELS, seed=7)
scores = st.one_of(st.none(), st.floats(1, 5), st.sampled_from([1.0, 3.0, 5.0]))
iterations = st.lists(st.fixed_dictionaries(dict.fromkeys(MODELS, scores)), max_size=6)


def test_mean_and_median_must_both_exceed_their_thresholds() -> None:
    settings = replace(SETTINGS, mean_threshold=3.0, median_threshold=3.0)
    equal = dict.fromkeys(MODELS, 1 / 3)
    assert accepted({"a": 4, "b": 4, "c": 4}, equal, settings)
    assert not accepted({"a": 3, "b": 3, "c": 3}, equal, settings)  # equal is not above
    assert not accepted({"a": 5, "b": 5, "c": 1}, equal, replace(settings, mean_threshold=3.7))
    assert not accepted({"a": 3, "b": 3, "c": 5}, equal, settings)  # the mean passes alone
    assert not accepted({"a": None, "b": None, "c": None}, equal, settings)


def test_a_mean_at_the_threshold_does_not_exceed_it_by_rounding() -> None:
    settings = replace(SETTINGS, mean_threshold=3.0, median_threshold=2.0)
    for weight in (0.1, 0.7, 1 / 3):
        weights = {"a": weight, "b": 1 - weight, "c": 0.3}
        assert not accepted(dict.fromkeys(MODELS, 3), weights, settings)
        assert foreseen(dict.fromkeys(MODELS, 3), dict.fromkeys(MODELS, (0.1, 0.9)), settings) is (
            False
        )


def standing_after(rows: list[dict[str, float | None]], settings: Settings) -> Standing:
    standing = Standing.start(settings)
    for row in rows:
        standing = advance(standing, row, settings)
    return standing


@given(
    iterations,
    iterations,
    st.fixed_dictionaries(dict.fromkeys("abcx", st.one_of(st.none(), st.integers(1, 5)))),
    st.sampled_from([(), ("a", "b"), ("a", "x"), ("x",)]),
    st.sampled_from(["consensus", "uniform"]),
    st.sampled_from([1.5, 2.5, 3.0, 3.3]),
    st.sampled_from([1.0, 2.0, 2.5, 3.0]),
)
def test_what_is_foreseen_happens(
    before: list[dict[str, float | None]],
    between: list[dict[str, float | None]],
    rated: dict[str, int | None],
    judges: tuple[str, ...],
    weights: str,
    mean: float,
    median: float,
) -> None:
    settings = Settings(
        MODELS, judges=judges, mean_threshold=mean, median_threshold=median,
        weights="uniform" if weights == "uniform" else "consensus",
    )  # fmt: skip
    standing = standing_after(before, settings)
    within = bounds(standing, settings, len(between))
    after = standing_after([*before, *between], settings)
    for judge, weight in after.weights.items():
        scale = 1 / max(1e-9, sum(high for _, high in within.values()))
        assert weight <= 1.0000001
        assert within[judge][0] * scale <= weight + 1e-9
    ratings = {judge: rated[judge] for judge in settings.panel}
    told = foreseen(ratings, within, settings)
    assert told in (None, accepted(ratings, after.weights, settings))


def test_clear_cases_are_foreseen_from_the_beginning_and_others_are_not() -> None:
    start = Standing.start(SETTINGS)
    far = bounds(start, SETTINGS, 100)
    assert foreseen({"a": 4, "b": 5, "c": 3}, far, SETTINGS) is True
    assert foreseen({"a": 1, "b": 2, "c": 1}, far, SETTINGS) is False
    assert foreseen({"a": 5, "b": 1, "c": 3}, far, SETTINGS) is None
    assert foreseen({"a": None, "b": None, "c": None}, far, SETTINGS) is False


def test_the_longer_the_run_the_more_is_foreseen() -> None:
    split = {"a": 4, "b": 2, "c": 3}
    standing = Standing.start(SETTINGS)
    assert foreseen(split, bounds(standing, SETTINGS, 20), SETTINGS) is None
    for _ in range(500):
        standing = advance(standing, {"a": 4.0, "b": 3.0, "c": 3.0}, SETTINGS)
    assert foreseen(split, bounds(standing, SETTINGS, 20), SETTINGS) is True
