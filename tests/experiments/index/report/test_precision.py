import pytest
from graded import RULES, WEIGHTS, asked, unit, view

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
    assert precision.claim(view(whole()), spreads) == (
        "The same questions asked anew would move the Intelligence Index by ±1.96 % (95 %); the "
        "±1 % that the methodology claims takes 12 repeats of every question."
    )
    spreads["b"] = Spread(0.0, 0.00003, 0.00001)
    assert precision.claim(view([*whole(), *whole(model="b")]), spreads) == (
        "The same questions asked anew would move the Intelligence Index by ±0.62 % to ±1.96 % "
        "(95 %), depending on the model; the ±1 % that the methodology claims takes 2 to 12 "
        "repeats of every question."
    )


def test_a_run_that_bears_the_claim_says_so() -> None:
    said = precision.claim(view(whole()), {"a": Spread(0.0, 1e-6, 1e-6, ("mmlu_pro",))})
    assert said == (
        "The same questions asked anew would move the Intelligence Index by at most ±0.20 % "
        "(95 %), within the ±1 % that the methodology claims; at most 1 repeat of every question "
        "would do."
    )


def test_an_index_that_is_refused_bears_no_claim_and_says_why() -> None:
    section = precision.section(view(list(asked("math_500", "Rw"))))
    assert section.text == (
        "Whether the Intelligence Index is within ±1 %, as the methodology claims, cannot be said: "
        "it is refused for every model (mmlu_pro is missing)."
    )
    assert section.table is None


def test_of_reasons_that_differ_the_shared_ones_are_told() -> None:
    rules = Rules({"intelligence": {**WEIGHTS["math"]}})
    units = [*asked("math_500", "Rw"), *asked("math_500", "Rw", model="b")]
    broken = unit("math_500", "9", model="b", finish="error", parsed=False, by=None)
    section = precision.section(view([*units, broken], rules))
    assert section.text.endswith("it is refused for every model (aime_2024 is missing).")


def test_a_partial_index_says_nothing_of_the_whole_one() -> None:
    section = precision.section(view(list(asked("math_500", "Rw", "RR")), PARTIAL))
    assert "would move the Intelligence Index (partial) by" in section.text
    assert section.text.endswith("; of the whole index a partial one says nothing.")


def test_models_of_which_the_index_is_refused_are_counted() -> None:
    broken = unit("mmlu_pro", "9", model="b", finish="error", parsed=False, by=None)
    section = precision.section(view([*whole(), *whole(model="b"), broken]))
    assert "; it is refused for 1 of 2 models." in section.text


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
    assert section.table.caption.count("the noise of AIME 2024 is bounded") == 1


@pytest.mark.parametrize(("models", "folded"), [(7, False), (8, True)])
def test_a_long_table_is_folded_away(models: int, folded: bool) -> None:
    units = [each for n in range(models) for each in whole(model=f"m{n}")]
    units += [each for n in range(models) for each in asked("aime_2024", "Rw", model=f"m{n}")]
    section = precision.section(view(units))
    assert bool(section.folded) is folded
