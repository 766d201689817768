"""Graded units, without a run that makes them."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from raybench.benchmarks.parts import summary
from raybench.benchmarks.parts.scores import Rules
from raybench.benchmarks.parts.tally import Tally, Unit
from raybench.experiments.parts.questions.view import View

HALF = Fraction(1, 2)
WEIGHTS = {
    "intelligence": {"mmlu_pro": HALF, "math_500": HALF},
    "math": {"aime_2024": HALF, "math_500": HALF},
}
RULES = Rules(WEIGHTS)


def unit(benchmark: str, key: str, correct: bool = False, **changes: Any) -> Unit:
    plain: dict[str, Any] = {
        "model": "a",
        "benchmark": benchmark,
        "key": key,
        "language": "en",
        "subject": None,
        "repeat": 0,
        "correct": correct,
        "finish": "stop",
        "parsed": True,
        "by": "script",
        "judge_error": False,
        "prompt_tokens": 10,
        "output_tokens": 100,
    }
    return Unit(**plain | changes)


def asked(benchmark: str, *replies: str, **changes: Any) -> Iterator[Unit]:
    """One word per question: a letter per repeat, R for right and w for wrong."""
    for key, letters in enumerate(replies):
        for repeat, letter in enumerate(letters):
            yield unit(benchmark, str(key), letter == "R", repeat=repeat, **changes)


def view(
    units: Sequence[Unit], rules: Rules = RULES, chances: Mapping[str, float] | None = None
) -> View:
    tally = Tally.of(units)
    models = list(dict.fromkeys(unit.model for unit in units))
    asked = list(dict.fromkeys(unit.benchmark for unit in units))
    return View(tally, summary.metrics(tally, models, rules), rules, asked, chances or {})
