"""Real options in the forms that models state them in: whatever their texts, the letter is read."""

from random import Random

import pytest
import real_rows

from raybench import benchmarks
from raybench.benchmarks import Draw
from raybench.benchmarks.parts.choices import LETTERS, MultipleChoice

FORMS = (
    "Answer: {letter}",
    "**Answer: {letter}**",
    "Answer: {letter}) {text}",
    "Answer: ({letter}) {text}",
    "Answer: {letter}. {text}",
    "Answer: {letter}, {text}",
    "Answer: {letter} - {text}",
    "Answer: \\boxed{{{letter}) {text}}}",
    "The correct answer is {letter}: {text}",
    "The answer is {letter} ({text})",
)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("mmlu_pro", "mmlu_pro_test"),
        ("multilingual_mmlu", "mmlu_test"),
        ("multilingual_mmlu", "multilingual_mmlu_dev_shots"),
    ],
)
def test_the_letter_is_read_beside_any_text(name: str, stem: str) -> None:
    benchmark = benchmarks.load(name)
    assert isinstance(benchmark, MultipleChoice)
    for plain in Random(0).sample(real_rows.plain(stem), 300):
        row = benchmark.from_common(plain)
        letter = benchmark.truth(row)
        text = benchmark.options(row, Draw())[LETTERS.index(letter)]
        for form in FORMS:
            response = form.format(letter=letter, text=text)
            assert benchmark.improved(row, response).correct, response
