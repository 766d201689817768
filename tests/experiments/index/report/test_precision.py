import pytest
from graded import RULES, WEIGHTS, asked, unit, view
from statements import code, values

from raybench.benchmarks.parts.scores import Rules
from raybench.benchmarks.parts.tally import Unit
from raybench.experiments.index.report import precision
from raybench.stats.repeats import Spread

PARTIAL = Rules(WEIGHTS, partial=True)


def whole(*, model: str = "a") -> list[Unit]:
    return [
        *asked("mmlu_pro", "Rw", "RR", "ww", "Rw", model=model),
        *asked("math_500", "Rw", "RR", "wR", model=model),
    ]


def test_the_claim_is_answered_in_one_sentence() -> None:
    # 1.959964·√0.0001 = 1.96 %; replies of 0.0003 need 0.0003·(1.959964/0.01)² = 11.5 repeats.
    spreads = {"a": Spread(questions=0.0004, replies=0.0003, now=0.0001)}
    said = values(precision.claim(view(whole()), spreads))
    assert said["widths"] == (pytest.approx(0.0196, abs=5e-5),) * 2
    assert said["repeats"] == (12, 12) and said["index"] == "Intelligence Index"
    assert not said["bounded"] and not said["within"] and not said["refused"]
    spreads["b"] = Spread(0.0, 0.00003, 0.00001)
    text = precision.claim(view([*whole(), *whole(model="b")]), spreads)
    assert values(text)["widths"] == pytest.approx((0.0062, 0.0196), abs=5e-5)
    assert values(text)["repeats"] == (2, 12)
    assert "±0.62 % to ±1.96 %" in text and "2 to 12" in text


def test_a_run_that_bears_the_claim_says_so() -> None:
    text = precision.claim(view(whole()), {"a": Spread(0.0, 1e-6, 1e-6, ("mmlu_pro",))})
    said = values(text)
    assert said["bounded"] and said["within"] and said["repeats"] == (1, 1)
    assert "±0.20 %" in text


def test_an_index_that_is_refused_bears_no_claim_and_says_why() -> None:
    section = precision.section(view(list(asked("math_500", "Rw"))))
    assert code(section.text) == "precision.refused"
    (why,) = values(section.text)["shared"]
    assert "mmlu_pro" in why
    assert section.table is None


def test_of_reasons_that_differ_the_shared_ones_are_told() -> None:
    rules = Rules({"intelligence": {**WEIGHTS["math"]}})
    units = [*asked("math_500", "Rw"), *asked("math_500", "Rw", model="b")]
    broken = unit("math_500", "9", model="b", finish="error", parsed=False, by=None)
    section = precision.section(view([*units, broken], rules))
    (why,) = values(section.text)["shared"]
    assert "aime_2024" in why


def test_a_partial_index_says_nothing_of_the_whole_one() -> None:
    section = precision.section(view(list(asked("math_500", "Rw", "RR")), PARTIAL))
    assert values(section.text)["partial"]
    assert values(section.text)["index"].endswith(" (partial)")


def test_models_of_which_the_index_is_refused_are_counted() -> None:
    broken = unit("mmlu_pro", "9", model="b", finish="error", parsed=False, by=None)
    section = precision.section(view([*whole(), *whole(model="b"), broken]))
    assert values(section.text)["refused"] == 1 and "1 of 2 models" in section.text


def test_every_index_has_a_line_and_bounds_are_explained_once() -> None:
    units = [*whole(), *asked("aime_2024", "R", "w")]
    section = precision.section(view(units, RULES))
    assert section.table is not None
    intelligence, maths = section.table.rows
    assert intelligence[:2] == ("Intelligence Index", "a")
    assert str(intelligence[2]).startswith("±")
    assert maths[0] == "Math Index"
    assert str(maths[2]).startswith("≤ ±")
    assert str(maths[3]).startswith("≤ ")
    assert str(maths[5]).startswith("≥ ±")
    assert section.table.caption.count("AIME 2024") == 1


@pytest.mark.parametrize(("models", "folded"), [(7, False), (8, True)])
def test_a_long_table_is_folded_away(models: int, folded: bool) -> None:
    units = [each for n in range(models) for each in whole(model=f"m{n}")]
    units += [each for n in range(models) for each in asked("aime_2024", "Rw", model=f"m{n}")]
    section = precision.section(view(units))
    assert bool(section.folded) is folded


@pytest.mark.parametrize(
    ("half_width", "told"),
    [(0.1457, "±15 %"), (0.0423, "±4.2 %"), (0.0104, "±1.04 %"), (0.01, "±1 %"), (0.0, "±0.00 %")],
)
def test_percentages_have_digits_that_mean_something(half_width: float, told: str) -> None:
    assert precision._percent(half_width) == told
