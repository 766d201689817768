"""What every benchmark keeps to: its file, its rows, its own gold."""

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import real_rows
from refusals import assert_among

from raybench import benchmarks
from raybench.benchmarks import Benchmark, Draw
from raybench.benchmarks.parts.choices import MultipleChoice
from raybench.benchmarks.parts.contract import INDEX_LANGUAGES
from raybench.benchmarks.parts.indices import INDICES

FOLDER = Path(benchmarks.__file__).parent
ASKED = (
    *("question", "Question", "problem", "problem_description_main", "question_content"),
    "prompt",
)
"""What the column of a question's text is called."""
EVERY = pytest.mark.parametrize("name", benchmarks.names())


def needs(name: str) -> list[pytest.MarkDecorator]:
    """Return the markers of a test that grades replies to a benchmark."""
    return [pytest.mark.sandbox] if benchmarks.load(name).sandboxed else []


GRADED = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs(name)) for name in benchmarks.names()]
)


def module(name: str) -> Any:
    return importlib.import_module(f"raybench.benchmarks.{name}")


@EVERY
def test_it_is_named_after_its_file(name: str) -> None:
    benchmark = benchmarks.load(name)
    assert benchmark.name == name == name.lower()
    assert benchmark is module(name).BENCHMARK
    assert benchmark.title


@EVERY
def test_its_file_is_short_and_names_source_revision_paper_and_a_row(name: str) -> None:
    source, told = benchmarks.load(name).source, module(name).__doc__
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 150
    for dataset in (source, *source.elsewhere.values()):
        assert dataset.repo in told
        assert dataset.revision in told
        assert re.fullmatch("[0-9a-f]{40}", dataset.revision)
        assert dataset.licence
    assert f"Source: {source.repo}" in told
    assert f"Revision: {source.revision}" in told
    assert re.search(r"^Paper: (https://arxiv\.org/abs/\d{4}\.\d{5}|none)", told, re.MULTILINE)
    assert example(name)


@GRADED
def test_the_row_its_file_shows_is_one_of_its_rows(name: str) -> None:
    benchmark = benchmarks.load(name)
    check(benchmark, [example(name)])


@EVERY
def test_every_language_has_a_file(name: str) -> None:
    benchmark = benchmarks.load(name)
    for language in benchmark.languages:
        assert all(benchmark.source.of(language).listed(language))
    if len(benchmark.languages) > 1:
        assert set(INDEX_LANGUAGES) <= set(benchmark.languages)


@EVERY
def test_it_counts_in_known_indices_and_is_repeated(name: str) -> None:
    benchmark = benchmarks.load(name)
    assert set(benchmark.weights) <= set(INDICES)
    assert all(weight > 0 for weight in benchmark.weights.values())
    assert benchmark.repeats >= 1


@EVERY
def test_an_empty_response_is_wrong_and_no_answer(name: str) -> None:
    benchmark = benchmarks.load(name)
    for grade in (benchmark.grade(example(name), ""), benchmark.improved(example(name), "")):
        assert (grade.correct, grade.parsed, grade.answer) == (False, False, None)
        assert grade.reason not in ("right", "wrong")


@EVERY
def test_empty_text_is_a_problem_told_with_its_column(name: str) -> None:
    benchmark = benchmarks.load(name)
    row = example(name)
    asked = next(column for column in ASKED if column in row)
    for empty in ("", " \n", None, float("nan"), "\u200b"):
        assert_among(benchmark.problems({**row, asked: empty}), "data.invalid", asked)
    for other in (["a text"], {"a": "text"}, True, b"text"):
        problem = assert_among(benchmark.problems({**row, asked: other}), "data.invalid", asked)
        assert f" {type(other).__name__}" in problem.message


@EVERY
def test_a_row_without_its_id_is_a_problem_told_with_its_column(name: str) -> None:
    benchmark = benchmarks.load(name)
    row = example(name)
    (known,) = (it for it in benchmark.columns if str(row[it]) == benchmark.key(row))
    for empty in (None, " "):
        assert_among(benchmark.problems({**row, known: empty}), "data.invalid", known)


@EVERY
def test_a_subject_that_is_not_said_is_none(name: str) -> None:
    benchmark = benchmarks.load(name)
    row = example(name)
    if (about := benchmark.subject(row)) is None:
        return
    (said,) = (column for column in benchmark.columns if row[column] == about)
    for empty in (None, "", " ", float("nan")):
        assert benchmark.subject({**row, said: empty}) is None


@GRADED
def test_its_shipped_rows_are_questions_of_it(name: str) -> None:
    path = FOLDER / "samples" / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("no rows of it are shipped")
    benchmark = benchmarks.load(name)
    beside = {name: path.parent / name for name in benchmark.beside}
    there = {name: found for name, found in beside.items() if found.exists()}
    rows = [
        benchmark.from_hub({**question, "number": number})
        for number, line in enumerate(path.read_bytes().splitlines(), start=1)
        for question in benchmark.questions(json.loads(line), there)
    ]
    check(benchmark, rows)


REAL = {
    "mmlu_pro": [("mmlu_pro_test", 12_032)],
    "math_500": [("math500", 500)],
    "aime_2024": [("aime2024", 30)],
    "mgsm": [("mgsm", 11 * 250)],
    "multilingual_mmlu": [("mmlu_test", 14_042), ("multilingual_mmlu_dev_shots", 7 * 285)],
    "humaneval": [("humaneval", 164)],
}
PROGRAMS: dict[str, Any] = {
    "question": 'def same(x):\n    """ Return x. """\n',
    "answer": "    return x\n",
    "entry_point": "same",
    "test": "def check(candidate):\n    assert candidate(1) == 1\n",
}
"""What plain rows hold where the answer is a program."""


@pytest.mark.parametrize(
    ("name", "stem", "count"),
    [
        pytest.param(name, stem, count, marks=needs(name))
        for name, files in REAL.items()
        for stem, count in files
    ],
)
def test_real_rows_are_questions_of_it(name: str, stem: str, count: int) -> None:
    benchmark = benchmarks.load(name)
    # Examples for a prompt are sound questions too, but none of the test's.
    assert (stem == name or stem in benchmark.stems) == ("shots" not in stem)
    rows = [benchmark.from_common(row) for row in real_rows.plain(stem)]
    assert len(rows) == count
    check(benchmark, rows)


# What a program has to pass does not fit into an answer: plain rows of programs have columns of
# their own, which the tests of their benchmarks know.
@pytest.mark.parametrize(
    "name", [it for it in benchmarks.names() if not benchmarks.load(it).sandboxed]
)
def test_a_plain_row_that_lacks_a_column_is_named(name: str) -> None:
    benchmark = benchmarks.load(name)
    plain: dict[str, Any] = {
        "id": "1",
        "question": "?",
        "options": ["0", "1", "2", "3"],
        "answer": "A" if isinstance(benchmark, MultipleChoice) else "1",
        "subject": "none",
        "language": "en",
        **(PROGRAMS if benchmark.sandboxed else {}),
        **PLAIN.get(name, {}),
    }
    check(benchmark, [benchmark.from_common(plain)])
    for column in ("id", "question", "answer"):
        with pytest.raises(KeyError, match=column):
            benchmark.from_common({name: plain[name] for name in plain if name != column})


STEP = {
    "step_number": "1.1",
    "step_description_prompt": "Return a one.",
    "step_background": "",
    "ground_truth_code": "def one():\n    return 1",
    "function_header": "def one():",
    "test_cases": ["assert one() == 1"],
    "return_line": "    return n",
}
PLAIN: dict[str, dict[str, Any]] = {
    "scicode": {"required_dependencies": "import math", "sub_steps": [STEP], "step": "1.1"},
}
"""What plain rows of a benchmark hold beside what all do."""


def check(benchmark: Benchmark, rows: list[dict[str, Any]]) -> None:
    """Check that rows are questions, each another, and that their gold is graded right."""
    draws = [Draw(), Draw(repeat=benchmark.repeats - 1, seed=7)]
    if benchmark.sandboxed:  # a program is run for each
        draws = draws[1:]
    graders = [benchmark.grade]
    if type(benchmark).improved is not Benchmark.improved:  # else it is the same once more
        graders.append(benchmark.improved)
    for row in rows:
        assert set(benchmark.columns) <= row.keys()
        assert benchmark.belongs(row)
        assert not list(benchmark.problems(row))
        assert benchmark.language(row)
        if not benchmark.has_gold(row):
            with pytest.raises(ValueError, match=benchmark.key(row)):
                benchmark.gold(row)
        for draw in draws if benchmark.has_gold(row) else ():
            gold = benchmark.gold(row, draw=draw)
            for grade in (graded(row, gold, draw=draw) for graded in graders):
                assert (grade.correct, grade.reason, grade.parsed) == (True, "right", True), row
        for reasoning in (False, True):
            asked = benchmark.prompt(row, reasoning=reasoning, draw=draws[-1])[-1]
            assert asked.role == "user"
            assert asked.content
    assert len({(benchmark.language(row), benchmark.key(row)) for row in rows}) == len(rows)


def example(name: str) -> dict[str, Any]:
    """Return the row that a benchmark's file shows."""
    found = re.search(r"^Row: (\{.*?\})$", module(name).__doc__, re.MULTILINE | re.DOTALL)
    assert found
    row = json.loads(found[1].replace("\n", " "))
    assert isinstance(row, dict)
    return row
