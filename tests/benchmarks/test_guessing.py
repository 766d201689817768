from typing import Any, get_args

import pytest
from scipy import stats

from raybench import benchmarks
from raybench.benchmarks.parts.guessing import Guessing
from raybench.stats.guessing import Against, against
from raybench.stats.intervals import share
from raybench.types import Estimate

ABOVE, OPEN, BELOW = get_args(Against)


def choice(options: int, language: str = "en") -> dict[str, Any]:
    return {"options": ["x"] * options, "language": language}


def accuracy(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, None, (low, high), 900, "t")


def test_a_guess_is_one_of_the_options() -> None:
    guessing, benchmark = Guessing(), benchmarks.load("mmlu_pro")
    for options in (10, 10, 4):
        guessing.add(benchmark, choice(options))
    assert guessing.score("mmlu_pro", ["en"]) == pytest.approx((0.1 + 0.1 + 0.25) / 3)


def test_languages_weigh_the_same_and_those_not_averaged_do_not_count() -> None:
    guessing, benchmark = Guessing(), benchmarks.load("mmlu_pro")
    for row in (choice(2), choice(4, "de"), choice(4, "de"), choice(10, "fr")):
        guessing.add(benchmark, row)
    assert guessing.score("mmlu_pro", ["en", "de", "zh"]) == pytest.approx((0.5 + 0.25) / 2)


def test_what_is_not_chosen_from_a_list_is_not_guessed() -> None:
    guessing = Guessing()
    guessing.add(benchmarks.load("math_500"), {})
    assert guessing.score("math_500", ["en"]) is None
    assert guessing.score("mmlu_pro", ["en"]) is None


@pytest.mark.parametrize("name", ["gpqa_diamond", "multilingual_mmlu"])
def test_four_options_are_a_quarter(name: str) -> None:
    benchmark = benchmarks.load(name)
    plain = {"id": "1", "question": "?", "options": list("wxyz"), "answer": "A", "subject": "s"}
    assert benchmark.chance(benchmark.from_common(plain | {"language": "en"})) == 0.25


def test_an_accuracy_stands_above_or_below_guessing_only_with_its_whole_interval() -> None:
    assert against(accuracy(0.26, 0.4), 0.25) == ABOVE
    assert against(accuracy(0.25, 0.4), 0.25) == OPEN
    assert against(accuracy(0.1, 0.24), 0.25) == BELOW
    assert against(accuracy(0.1, 0.24), None) is None
    assert against(Estimate(None, None, None, 0, "refused"), 0.25) is None


@pytest.mark.parametrize(
    ("right", "n", "chance", "stands"),
    [
        (1, 1, 1 / 6, OPEN),  # Wilson's interval begins at 0.21, and one guess in six is right
        (2, 2, 1 / 6, OPEN),
        (3, 3, 1 / 6, ABOVE),
        (0, 1, 0.9, OPEN),
        (0, 20, 0.25, BELOW),
        (5, 20, 0.25, OPEN),
        (10, 20, 0.25, ABOVE),
    ],
)
def test_few_questions_are_above_guessing_only_if_guesses_seldom_get_so_far(
    right: int, n: int, chance: float, stands: Against
) -> None:
    assert against(share(right, n, over="questions"), chance) == stands


@pytest.mark.parametrize("chance", [0.1, 1 / 6, 0.25, 0.5])
def test_guesses_are_seldom_called_above_or_below_guessing(chance: float) -> None:
    for n in range(1, 60):
        often = stats.binom(n, chance).pmf(range(n + 1))
        for stands in (ABOVE, BELOW):
            called = [against(share(it, n, over="questions"), chance) for it in range(n + 1)]
            by_luck = sum(p for p, it in zip(often, called, strict=True) if it == stands)
            assert by_luck < 0.025
