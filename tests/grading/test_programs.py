"""Replies in every shape that models give them, and what of each is run."""

import textwrap
import time

import pytest
import real_rows
from hypothesis import given
from hypothesis import strategies as st

from raybench.grading.programs import Program, program

PROMPT = '''from typing import List


def helper(x: int) -> int:
    """ Doubles. """
    return 2 * x


def total(numbers: List[int]) -> int:
    """ Return the sum of twice each of the numbers.
    >>> total([1, 2])
    6
    """
'''
BODY = """\
    result = 0
    for number in numbers:
        result += helper(number)
    return result"""
FUNCTION = f"def total(numbers):\n{BODY}"
OTHER = "def total(numbers):\n    return 0"


def of(response: str) -> Program | None:
    return program(response, PROMPT, "total")


def fenced(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```"


@pytest.mark.parametrize(
    "response",
    [
        FUNCTION,
        f"\n\n{FUNCTION}\n\n",
        f"Here it is:\n\n{FUNCTION}\n\nIt adds (everything) up, doesn't it?\n",
        f"{FUNCTION}\n\nDone",
        fenced(FUNCTION),
        fenced(FUNCTION, "py"),
        fenced(FUNCTION, "Python"),
        fenced(FUNCTION, "python3"),
        fenced(FUNCTION, ""),
        f"~~~python\n{FUNCTION}\n~~~",
        f"````python\n{FUNCTION}\n````",
        f"Sure!\n{fenced(FUNCTION)}\nThis works because `sum` is kind.",
        f"```python\n{FUNCTION}",
        f"1. Write it:\n\n{textwrap.indent(fenced(FUNCTION), '   ')}\n",
        f"Install:\n{fenced('pip install nothing', 'bash')}\n{fenced(FUNCTION)}",
        f"{fenced(FUNCTION)}\nAn example:\n{fenced('print(total([1, 2]))')}",
        f"{fenced('print(total([1, 2]))')}\nwith\n{fenced(FUNCTION)}",
        f"{fenced(FUNCTION)}\nOr shorter:\n{fenced(OTHER)}",
        f"{fenced(FUNCTION)}\nIt prints:\n{fenced('6', 'text')}",
        f"{fenced(FUNCTION)}\n{fenced('result = total([1, 2])')}",
        fenced(FUNCTION).replace("\n", "\r\n"),
    ],
)
def test_a_function_is_found_in_what_surrounds_it(response: str) -> None:
    found = of(response)
    assert found is not None
    assert (found.source.replace("\r", ""), found.continues) == (FUNCTION, False)
    assert found.after(PROMPT) == found.source


@pytest.mark.parametrize(
    "response",
    [
        BODY,
        BODY.lstrip(),
        textwrap.dedent(BODY),
        f"{BODY}\n\n\n",
        fenced(BODY),
        fenced(BODY.lstrip(), ""),
        f"The body is:\n\n{BODY}\n\nThat is all.",
    ],
)
def test_a_bare_body_goes_on_where_the_prompt_ends(response: str) -> None:
    found = of(response)
    assert found is not None
    assert found.continues
    space: dict[str, object] = {}
    exec(found.after(PROMPT), space)  # our own text
    assert space["total"]([1, 2, 3]) == 12  # type: ignore[operator]


def test_a_body_of_one_statement_and_a_generators() -> None:
    assert of("return None") == Program("    return None", continues=True)
    assert of("yield 1") == Program("    yield 1", continues=True)
    assert of("pass") == Program("    pass", continues=True)


def test_blocks_that_define_what_the_function_needs_go_with_it() -> None:
    first, constant = "import math\n\nLIMIT = 5", "def half(x):\n    return x / 2"
    found = of(f"{fenced(first)}\nthen\n{fenced(FUNCTION)}\nand\n{fenced(constant)}")
    assert found == Program(f"{first}\n\n{FUNCTION}\n\n{constant}")


def test_what_comes_with_the_function_stays_with_it() -> None:
    whole = (
        f"import math\nLIMIT = 1\n\n\nclass A:\n    pass\n\n\n{FUNCTION}\n\n\nassert total([]) == 0"
    )
    for response in (whole, fenced(whole), f"Here:\n{whole}\nThat's it: done."):
        assert of(response) == Program(whole)


@pytest.mark.parametrize(
    "response",
    [
        *("", " \n", "I cannot do that.", "Sorry", "Answer: A", "None", "42", "\x00", "```\n```"),
        *("```bash\nls\n```", "The sum is `sum(numbers)`.", "Let me define the sum first."),
        "From here on I import nothing.\n\nSee the class of it: it is def initely hard.",
    ],
)
def test_prose_is_no_program(response: str) -> None:
    assert of(response) is None


@pytest.mark.parametrize(
    "source",
    [
        "def total(numbers):\n    return (numbers",
        "def total(numbers) return 1",
        "def sum_of(numbers):\n    return sum(numbers)",
        "total = = 3",
    ],
)
def test_code_that_cannot_work_is_code_still(source: str) -> None:
    found = of(fenced(source))
    assert found is not None
    assert (found.source, found.continues) == (source, False)


def test_a_bare_function_that_breaks_is_code_still() -> None:
    broken = "def total(numbers):\n    return (numbers"
    assert of(broken) == Program(broken)
    assert of(f"Here:\n{broken}") == Program(broken)


def test_a_bare_function_of_another_name_is_code_still() -> None:
    other = "def sum_of(numbers):\n    return sum(numbers)"
    assert of(other) == Program(other)


@given(st.text())
def test_no_text_is_too_much(text: str) -> None:
    of(text)
    of(f"```python\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "-" * 200_000 + "1",
        "def total(x):\n" + "".join(" " * n + "if x:\n" for n in range(1, 500)),
        "```python\n" * 50_000,
        "def total(x):\n    return 1\n" + "and so on, (it's\n" * 20_000,
        "    a\nb\n" * 50_000,
        "[" * 90 + "\n" * 100_000,
    ],
)
def test_nothing_takes_long(text: str) -> None:
    begin = time.monotonic()
    of(text)
    assert time.monotonic() - begin < 10


def test_canonical_solutions_are_found_in_every_shape() -> None:
    for row in real_rows.plain("humaneval"):
        prompt, body, name = row["question"], row["answer"], row["entry_point"]
        whole = f"{prompt}{body}".strip("\n")
        for response in (whole, fenced(whole), f"Here:\n\n{whole}\n\nIt's (surely) right.\n"):
            found = program(response, prompt, name)
            assert found is not None
            assert f"def {name}(" in found.source
            assert whole.rstrip().endswith(found.source.rstrip())  # 'FIX = """' begins one prompt
            assert not found.continues
        for response in (body, body.strip(), fenced(body)):
            found = program(response, prompt, name)
            assert found is not None
            assert found.continues
