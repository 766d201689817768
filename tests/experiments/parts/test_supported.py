from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.experiments.parts import supported

HOW = "by a test"


def test_a_single_model_has_no_order() -> None:
    assert code(supported.orders(["a"], set(), HOW)) == "orders.of_one"


def test_nothing_holds() -> None:
    text = supported.orders(["a", "b", "c"], set(), HOW)
    assert (code(text), values(text)["models"]) == ("orders.none", 3)


def test_all_holds() -> None:
    models = ["a", "b", "c"]
    text = supported.orders(models, {*combinations(models, 2)}, HOW)
    assert (code(text), values(text)["held"]) == ("orders.all", 3)


def test_neighbours_that_are_not_told_apart_are_named() -> None:
    text = supported.orders(["a", "b", "c"], {("a", "c"), ("a", "b")}, HOW)
    found = values(text)
    assert [found[it] for it in ("held", "pairs", "open", "neighbours")] == [2, 3, 1, 2]
    assert found["named"] == "b and c" and not found["more"]


def test_many_neighbours_are_counted_and_names_stay_on_a_line() -> None:
    models = [f"m{number}\n<b>" for number in range(12)]
    text = supported.orders(models, {(models[0], models[-1])}, HOW)
    assert (values(text)["open"], values(text)["neighbours"]) == (11, 11)
    assert "5" in values(text)["more"]
    assert "\n" not in text


@given(st.lists(st.text(min_size=1), unique=True, min_size=2, max_size=6), st.data())
def test_whatever_holds_is_counted_once(models: list[str], data: st.DataObject) -> None:
    pairs = [*combinations(models, 2)]
    sure = data.draw(st.sets(st.sampled_from(pairs)))
    turned = {pair[::-1] if data.draw(st.booleans()) else pair for pair in sure}
    text = supported.orders(models, turned, HOW)
    whole = "orders.of_two" if len(pairs) == 1 else "orders.all"
    said = {0: {"orders.none"}, len(pairs): {whole}}
    assert code(text) in said.get(len(sure), {"orders.some", "orders.neighbours"})
    assert values(text).get("held", len(sure)) == len(sure)
