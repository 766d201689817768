import ast
import json
import operator
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import groupby
from math import gcd
from pathlib import Path
from typing import Any

import pytest

import raybench.benchmarks
from raybench.benchmarks.parts.contract import INDEX_LANGUAGES

_SAMPLES = Path(raybench.benchmarks.__file__).parent / "samples"
_DATASETS = Path(__file__).parents[3] / "shared" / "datasets"
_OPTIONS = ("A", "B", "C", "D")
_MGSM_LANGUAGES = ("en", "es", "fr", "de", "ru", "zh", "ja", "th", "sw", "bn", "te")
_SCRIPTS = {
    "bn": "BENGALI",
    "ja": "HIRAGANA",
    "ru": "CYRILLIC",
    "te": "TELUGU",
    "th": "THAI",
    "zh": "CJK",
}
_OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def language(row: dict[str, Any]) -> str:
    return str(row["language"])


def words(text: str) -> str:
    """Return what is left of a text when it does not matter how it is set."""
    return "".join(c for c in text.casefold() if c.isalnum())


def numbers(texts: list[str]) -> Counter[str]:
    return Counter(re.findall(r"\d+", " ".join(texts)))


def value(node: ast.expr) -> Fraction:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATIONS[type(op)](value(left), value(right))
        case ast.Constant(value=int(number)):
            return Fraction(number)
    raise ValueError(ast.dump(node))


MGSM = rows(_SAMPLES / "mgsm.jsonl")
MMLU = rows(_SAMPLES / "multilingual_mmlu.jsonl")
both = pytest.mark.parametrize(
    ("samples", "texts"),
    [(MGSM, ("question",)), (MMLU, ("Question", *_OPTIONS))],
    ids=["mgsm", "multilingual_mmlu"],
)


def test_mgsm_has_the_hubs_columns_and_ids_that_translations_share() -> None:
    columns = ("id", "language", "question", "answer", "answer_number", "equation_solution")
    assert {tuple(row) for row in MGSM} == {columns}


def test_multilingual_mmlu_has_the_hubs_columns_and_ids_that_translations_share() -> None:
    assert {tuple(row) for row in MMLU} == {
        ("id", "language", "Question", *_OPTIONS, "Answer", "Subject")
    }


def test_mgsm_asks_twelve_questions_in_each_of_its_languages_in_turn() -> None:
    assert [row["language"] for row in MGSM] == [
        lang for lang in _MGSM_LANGUAGES for _ in range(12)
    ]


def test_multilingual_mmlu_asks_twelve_questions_in_each_language_of_the_index() -> None:
    turns = [(spoken, len(list(found))) for spoken, found in groupby(MMLU, language)]
    assert sorted(turns) == sorted((spoken, 12) for spoken in INDEX_LANGUAGES)


@both
def test_translations_share_their_id(samples: list[dict[str, Any]], texts: tuple[str, ...]) -> None:
    ids = {spoken: [row["id"] for row in found] for spoken, found in groupby(samples, language)}
    assert all(given == list(range(1, 13)) for given in ids.values())


@both
def test_every_language_has_the_same_golds_in_the_same_order(
    samples: list[dict[str, Any]], texts: tuple[str, ...]
) -> None:
    golds = [
        [{name: row[name] for name in row if name not in ("language", *texts)} for row in found]
        for _, found in groupby(samples, language)
    ]
    assert all(found == golds[0] for found in golds)


@both
def test_no_text_is_empty_or_asked_twice_or_left_untranslated(
    samples: list[dict[str, Any]], texts: tuple[str, ...]
) -> None:
    assert all(row[name] == row[name].strip() != "" for row in samples for name in texts)
    assert len({row[texts[0]] for row in samples}) == len(samples)


@both
def test_every_question_is_in_its_languages_script(
    samples: list[dict[str, Any]], texts: tuple[str, ...]
) -> None:
    for row in samples:
        letters = [unicodedata.name(c) for c in row[texts[0]] if c.isalpha()]
        script = _SCRIPTS.get(row["language"], "LATIN")
        assert sum(name.startswith(script) for name in letters) > len(letters) / 4, row


@both
def test_a_translation_keeps_the_numbers(
    samples: list[dict[str, Any]], texts: tuple[str, ...]
) -> None:
    english = [row for row in samples if row["language"] == "en"]
    for at, row in enumerate(samples):
        # It may have more: "twice" is 2倍 in Chinese.
        asked = numbers([english[at % len(english)][name] for name in texts])
        assert asked <= numbers([row[name] for name in texts]), row


@both
def test_digits_are_western(samples: list[dict[str, Any]], texts: tuple[str, ...]) -> None:
    assert all(c.isascii() for row in samples for name in texts for c in row[name] if c.isdecimal())


@pytest.mark.parametrize("row", MGSM[:12], ids=lambda row: row["equation_solution"])
def test_an_equation_comes_to_the_answer(row: dict[str, Any]) -> None:
    left, right = row["equation_solution"].split(" = ")
    assert value(ast.parse(left, mode="eval").body) == int(right) == row["answer_number"] > 0


def test_answers_differ_and_some_are_long() -> None:
    answers = [row["answer_number"] for row in MGSM[:12]]
    assert len(set(answers)) == 12
    assert {len(str(answer)) for answer in answers} >= {2, 3, 4, 5}
    assert all(row["answer"] is None for row in MGSM)


def test_options_of_a_question_differ() -> None:
    assert all(len({words(row[letter]) for letter in _OPTIONS}) == 4 for row in MMLU)


def test_right_letters_are_spread_evenly() -> None:
    assert Counter(row["Answer"] for row in MMLU[:12]) == dict.fromkeys(_OPTIONS, 3)


def test_there_are_at_least_eight_subjects() -> None:
    assert len({row["Subject"] for row in MMLU}) >= 8


@pytest.mark.parametrize(
    ("subject", "answer"),
    [
        ("abstract_algebra", 15 // gcd(6, 15)),
        ("college_biology", 2 ** (16 // 2)),
        ("high_school_chemistry", 4 * (2 * 1 + 16) // (2 * 1)),
        ("high_school_geography", 45 * 24 // 360),
        ("high_school_physics", 60 * (10 + 2)),
        ("high_school_statistics", 4 * 3),
        ("nutrition", 10 * 9 + 20 * 4 + 5 * 4),
    ],
)
def test_an_answer_that_can_be_computed_is_the_right_option_in_every_language(
    subject: str, answer: int
) -> None:
    asked = [row for row in MMLU if row["Subject"] == subject]
    assert len(asked) == len(INDEX_LANGUAGES)
    assert all(numbers([row[row["Answer"]]]) == {str(answer): 1} for row in asked)


@both
@pytest.mark.parametrize("name", ["mgsm", "mmlu_test"])
def test_no_question_is_a_published_one(
    samples: list[dict[str, Any]], texts: tuple[str, ...], name: str
) -> None:
    file = _DATASETS / f"{name}.jsonl"
    if not file.exists():
        pytest.skip(f"{file} is not here")
    published = {words(row["question"]) for row in rows(file)}
    assert published
    assert not [row for row in samples if words(row[texts[0]]) in published]
