"""Replies in every shape that models give them, and what of each is run."""

import ast
import re
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


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


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
        fenced(FUNCTION, "python3.12"),
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
        f"Sure: ```python\n{FUNCTION}\n```\nIt's done.",
        f"- `total`: ```py\n{FUNCTION}\n```",
        f"{FUNCTION}\n```\n\nIt's done, isn't it?",
        f"Sure!\n{FUNCTION}\n```\nDone.\n```text\n6\n```",
        f"pip install nothing\n```\nThen:\n{fenced(FUNCTION)}\nIt's done.",
        fenced(fenced(FUNCTION), "markdown"),
        f"from what I see, it's easy.\nclass of problem: sums\nimport nothing!\n{FUNCTION}\n\nSo.",
        f"Like this:\n\n{textwrap.indent(FUNCTION, '    ')}\n\nIt's done.",
        f"{textwrap.indent(FUNCTION, '    ')}\n\nIt's done.",
        f"Sure:\n\n{quoted(fenced(FUNCTION))}\n\nIt's done.",
        quoted(f"Sure:\n{fenced(FUNCTION)}\n\nIt's done."),
        f"{FUNCTION}\n\nComplexity: O(n)",
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
        f"{BODY}\n\nThat's all, isn't it?\nDone.",
        f"{BODY.lstrip()}\n\nThat's all.",
        f"{textwrap.dedent(BODY)}\n\nThat's all.",
        f"{BODY}\n```\nThat's all.",
        f"Sure: ```python\n{BODY}\n```\nThat's all.",
        fenced(BODY.replace("result", "total")),
        fenced(textwrap.dedent(BODY).replace("result", "total")),
        f"{fenced(PROMPT)}\nThe body is:\n{fenced(BODY)}",
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


MAIN = 'if __name__ == "__main__":\n    print(total([1]))'
TWICE = "def twice(x):\n    return 2 * x"


@pytest.mark.parametrize("after", [MAIN, TWICE, f"{TWICE}\n\n\n{MAIN}", "assert total([]) == 0"])
@pytest.mark.parametrize("body", [BODY, BODY.lstrip(), "    return 0", "return 0"])
def test_code_that_follows_a_body_is_taken_and_prose_is_not(body: str, after: str) -> None:
    found = Program(f"    {body.lstrip()}\n\n\n{after}", continues=True)
    for response in (f"{body}\n\n\n{after}", fenced(f"{body}\n\n\n{after}")):
        assert of(response) == found
    assert of(f"{body}\n\n\n{after}\n\nThat's all, isn't it?") == found
    if body.startswith(" "):
        assert of(f"The body is:\n{body}\n\n\n{after}\n\nThat's all.") == found


@pytest.mark.parametrize(
    "stub",
    [
        *(PROMPT, f"{PROMPT}    pass", f"{PROMPT}    ...", "def total(numbers: list) -> int:"),
        *("def total(numbers): ...", "def total(numbers):\n    # to be written"),
        "def total(numbers):\n    import math\n    raise NotImplementedError",
        'def total(numbers):\n    """ Sum. """\n    raise NotImplementedError("so far")',
    ],
)
def test_a_stub_counts_only_where_there_is_nothing_else(stub: str) -> None:
    assert of(f"{fenced(stub)}\nNow:\n{fenced(FUNCTION)}") == Program(FUNCTION)
    assert of(f"{fenced(FUNCTION)}\nIt was:\n{fenced(stub)}") == Program(FUNCTION)
    assert of(f"{fenced(stub)}\n{fenced('def total(x): pass')}") == Program(stub.strip())


def test_a_function_of_few_words_is_no_stub() -> None:
    short, use = "def total(numbers):\n    numbers.sort()", "numbers = [1]\ntotal(numbers)"
    assert of(f"{fenced(short)}\n{fenced(use)}") == Program(short)


def test_blocks_that_define_what_the_function_needs_go_with_it() -> None:
    first, half = "import math\n\nLIMIT = 5", "def half(x):\n    return x / DIVISOR"
    divisor, main = "DIVISOR = 2", "def total(numbers):\n    return half(math.e * LIMIT)"
    blocks = (first, main, half, divisor)
    assert of("\nand\n".join(map(fenced, blocks))) == Program("\n\n".join(blocks))
    assert of("\n\nIt's so:\n\n".join(blocks)) == Program("\n\n".join(blocks))


@pytest.mark.parametrize(
    "made",
    [
        *("helped = dict()", "import re\n\nhelped = re.compile('a')", "helped: int = 5"),
        *(
            "helped: dict[int, int] = {}",
            '"""Help."""\n\nhelped = 1',
            "from math import e as helped",
        ),
        *("def helped(x):\n    return x", "def h(x):\n    return x\n\nhelped = h(1)"),
    ],
)
def test_what_helps_is_kept_without_the_examples_of_its_use(made: str) -> None:
    main = "def total(numbers):\n    return helped"
    block = fenced(f"{made}\n\nprint(helped)\nhelped")
    assert of(f"{block}\n{fenced(main)}") == Program(f"{made}\n\n{main}")
    assert of(f"{fenced(main)}\n{block}") == Program(f"{main}\n\n{made}")


@pytest.mark.parametrize(
    "use",
    [
        "numbers = list(map(int, input().split()))\nprint(total(numbers))",
        "sum = total([1, 2])\nprint(sum)",
        "import pytest\n\n\ndef test_total():\n    assert total([]) == 0",
        "from solution import total\n\nassert total([]) == 0",
        "def total(numbers):\n    return sum(numbers)\n\n\nresult = total([1])",
    ],
)
def test_examples_of_use_are_not_taken(use: str) -> None:
    main = "def total(numbers):\n    result = sum(numbers)\n    return result"
    assert of(f"{fenced(main)}\n{fenced(use)}") == Program(main)


@pytest.mark.parametrize(
    "source",
    [
        'def total(d):\n    return f"{d["a"]}"',
        "type N = float\n\n\ndef total(x: N) -> N:\n    return x",
        "def first[T](x: T) -> T:\n    return x\n\n\ndef total(x):\n    return first(x)\n\n\nx = 1",
        f"{FUNCTION}\n\nThat's it.",
        f"{FUNCTION}\n\nDone",
        f"Here it is:\n{FUNCTION}",
        f"{BODY}\n\nThat's it.",
    ],
)
def test_a_closed_block_is_run_as_it_stands(source: str) -> None:
    other = fenced("def total(x):\n    return 0")
    for response in (fenced(source), f"Here:\n{fenced(source)}\nIt's done."):
        found = of(response)
        assert found is not None
        assert found.source == source
    if "def total" in source:
        assert of(f"{fenced(source)}\n{other}") == Program(source)


def test_what_a_block_of_newer_python_needs_goes_with_it() -> None:
    main = 'def total(d):\n    return re.sub("a", "", f"{d["a"]}")'
    assert of(f"{fenced('import re')}\n{fenced(main)}") == Program(f"import re\n\n{main}")


_WORDS = st.text(st.characters(exclude_characters="`~", exclude_categories=["Cs"]))


@given(_WORDS, _WORDS)
def test_no_words_around_a_block_matter(before: str, after: str) -> None:
    assert of(f"{before}\n{fenced(FUNCTION)}\n{after}") == Program(FUNCTION)


@given(_WORDS)
def test_nothing_in_a_block_is_cut_away(more: str) -> None:
    found = of(fenced(f"{FUNCTION}\n{more}"))
    assert found == Program(re.sub(r"\r\n?", "\n", f"{FUNCTION}\n{more}").rstrip())


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


LONG = pytest.mark.long(short="tests/grading/test_programs.py::test_nothing_takes_long")


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
        "```" + " " * 200_000 + "`",
        "x```" * 50_000,
        "> " * 100_000 + "\n> ```",
        "x = (\n" * 30_000,
        "def total(x\n" * 15_000,
        "x = 1\nIt's so, (here\n" * 9_000,
        "x = [a + 1 for a in b]\n" * 1_000 + "It's so (",
        "".join(f"import a{n}\nIt is {n}.\n" for n in range(1_500)),
        "```python\ntotal = 1\nreturn\n```\n" * 5_000,
        "```\nimport x\n```\n" * 9_000 + fenced(FUNCTION),
        pytest.param("x = [a + 1 for a in b]\n" * 5_000 + "It's so (", marks=LONG),
        pytest.param("".join(f"import a{n}\nIt is {n}.\n" for n in range(8_000)), marks=LONG),
    ],
)
def test_nothing_takes_long(text: str) -> None:
    begin = time.process_time()
    of(text)
    assert time.process_time() - begin < 40  # some 2 s: no slow machine is to decide


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


def test_replies_of_every_shape_hold_the_canonical_solution() -> None:
    words = "It's (surely) right: O(n).\n\nI've tried it, don't worry\n  - it's fine\n"
    for row in real_rows.plain("humaneval"):
        prompt, body, name = row["question"], row["answer"].rstrip(), row["entry_point"]
        whole, shown = f"{prompt}{body}".strip("\n"), prompt.strip("\n")
        for response in (
            f"{fenced(shown)}\nNow:\n{fenced(whole)}",
            f"{fenced(shown)}\nNow:\n{fenced(body)}",
            f"{body}\n\n{words}",
            f"{body.strip()}\n\n{words}",
            f"{textwrap.dedent(body)}\n\n{words}",
            f"The body is:\n\n{body}\n\n{MAIN}\n\n{words}",
            f"{body}\n\n\n{TWICE}",
            f"Sure: ```python\n{whole}\n```\n{words}",
            f"{whole}\n```\n{words}",
            f"{fenced('twice = dict()')}\n{fenced(whole)}\n{fenced(f'result = {name}(1)')}",
            f"from what I see:\n\n{whole}\n\n{words}",
            f"Like this:\n\n{textwrap.indent(whole, '    ')}\n\n{words}",
            f"{quoted(fenced(whole))}\n{words}",
            f"```python\n{whole}\n\n{words}",
        ):
            found = program(response, prompt, name)
            assert found is not None
            assert statements(found.after(prompt), name) == statements(whole, name)


def statements(source: str, name: str) -> list[str]:
    """Return what a function does, as Python itself would write it."""
    *_, function = (it for it in ast.parse(source).body if getattr(it, "name", "") == name)
    assert isinstance(function, ast.FunctionDef)
    return [ast.unparse(it) for it in function.body if not isinstance(it, ast.Expr)]
