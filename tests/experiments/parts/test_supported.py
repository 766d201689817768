from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from raybench.experiments.parts import supported

HOW = "by a test"


def test_a_single_model_has_no_order() -> None:
    assert "no order" in supported.orders(["a"], set(), HOW)


def test_nothing_holds() -> None:
    text = supported.orders(["a", "b", "c"], set(), HOW)
    assert text.startswith("No order") and "chance" in text


def test_all_holds() -> None:
    models = ["a", "b", "c"]
    assert supported.orders(models, {*combinations(models, 2)}, HOW).startswith("All 3 orders")


def test_neighbours_that_are_not_told_apart_are_named() -> None:
    text = supported.orders(["a", "b", "c"], {("a", "c"), ("a", "b")}, HOW)
    assert text.startswith("2 of 3 orders")
    assert "1 of 2 pairs of neighbours" in text and "b and c" in text and "a and b" not in text


def test_many_neighbours_are_counted_and_names_stay_on_a_line() -> None:
    models = [f"m{number}\n<b>" for number in range(12)]
    text = supported.orders(models, {(models[0], models[-1])}, HOW)
    assert "11 of 11 pairs of neighbours" in text and "and 5 more" in text
    assert "\n" not in text


@given(st.lists(st.text(min_size=1), unique=True, min_size=2, max_size=6), st.data())
def test_whatever_holds_is_counted_once(models: list[str], data: st.DataObject) -> None:
    pairs = [*combinations(models, 2)]
    sure = data.draw(st.sets(st.sampled_from(pairs)))
    turned = {pair[::-1] if data.draw(st.booleans()) else pair for pair in sure}
    text = supported.orders(models, turned, HOW)
    whole = "The order of the two" if len(pairs) == 1 else f"All {len(pairs)} orders"
    said = {0: "No order", len(pairs): whole}
    assert text.startswith(said.get(len(sure), f"{len(sure)} of {len(pairs)} orders"))
