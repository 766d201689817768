"""What the methodology's regexes find, and that nothing a model writes takes long to read."""

import re
import time
from collections.abc import Callable

import methodology
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.grading import extract

CHOICE = r"(?i)[\*\_]{0,2}Answer[\*\_]{0,2}\s*:[\s\*\_]{0,2}\s*([A-Z])(?![a-zA-Z0-9])"
CODE = r"(?<=```python\n)((?:\n|.)+?)(?=\n```)"
MEGABYTE = 1_000_000


def test_the_regexes_are_the_methodologys() -> None:
    lines = methodology.text().splitlines()
    assert CHOICE in lines
    assert CODE in lines


# ------------------------------------------------------------------------------------------ choice


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("Answer: C", "C"),
        ("**Answer:** C", "C"),
        ("**Answer: C**", "C"),
        ("__Answer__: C", "C"),
        ("ANSWER : c", "C"),
        ("answer:c", "C"),
        ("Answer: C.", "C"),
        ("Answer: C)", "C"),
        ("Answer: C or D", "C"),
        ("The final answer: J", "J"),
        ("Answer: P", "P"),  # no option anywhere, and captured all the same
        ("I think.\n\nAnswer: C\n \n\n", "C"),
    ],
)
def test_a_letter_in_the_asked_form_is_read(response: str, letter: str) -> None:
    assert extract.choice(response) == letter


@pytest.mark.parametrize(
    "response",
    [
        "Answer: **C**",
        "Answer: ***C***",
        "Answer: (C)",
        "Answer: [C]",
        "Answer: $C$",
        "Answer: \\boxed{C}",
        "The answer is: C",
        "The answer is C.",
        "Answer - C",
        "Answer C",
        "Answer: Carbon",
        "Answer: C4",
        "Answer: 3",
        "Answer: А",  # Cyrillic
        "C",
        "",
        "\n \n",
        "The form is 'Answer: A'.\nLet me think.\nIt is not easy.\nI cannot tell.",
        "Answer: A\n" + "And so on.\n" * 50,
        # Seed 001 reads the last line; earlier versions read the last three.
        "Answer: C\nI hope this helps",
        "I would say Answer: B\nBut I do not know.\nSorry.",
        "Answer:\nB",
        "Answer: B\n```",
    ],
)
def test_other_forms_are_not_read(response: str) -> None:
    assert extract.choice(response) is None


@pytest.mark.parametrize(
    "response",
    [
        "Answer: A looks right at first. But no.\nAnswer: B",
        "Answer: A\nAnswer: C\n**Answer: B**",
        "Answer: Answer: B",
        "Answer: A\nAnswer: C, or rather Answer: B",
    ],
)
def test_the_last_answer_counts(response: str) -> None:
    assert extract.choice(response) == "B"


pieces = st.sampled_from(
    [
        "Answer",
        "answer",
        ":",
        " ",
        "*",
        "_",
        "\n",
        "A",
        "b",
        "Z",
        "9",
        ")",
        "is",
        "$",
        "(",
        "é",
        "ſ",
    ]
)


@given(st.lists(pieces, max_size=30).map("".join))
def test_choice_is_the_last_match_of_the_regex_in_the_last_line(response: str) -> None:
    found = re.findall(CHOICE, response.rstrip().rpartition("\n")[2])
    assert extract.choice(response) == (found[-1].upper() if found else None)


# ------------------------------------------------------------------------------------------- boxed


@pytest.mark.parametrize(
    ("response", "held"),
    [
        (r"\boxed{5}", "5"),
        (r"So $\boxed{\frac{1}{2}}$.", r"\frac{1}{2}"),
        (r"\boxed{a_{b_{c}}} and more {", r"a_{b_{c}}"),
        (r"\boxed{1}, no: \boxed{2}", "2"),
        (r"\boxed{\boxed{7}}", "7"),
        (r"\boxed {5}", "5"),
        ("\\boxed{\n5\n}", "\n5\n"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{\left\{ x \right.}", r"\left\{ x \right."),
        (r"\boxed{a \\ {b}}", r"a \\ {b}"),
        (r"\boxed{}", ""),
        (r"\boxed{五}", "五"),
        (r"\\boxed{5}", "5"),
    ],
)
def test_the_last_box_is_read_with_its_braces_balanced(response: str, held: str) -> None:
    assert extract.boxed(response) == held


@pytest.mark.parametrize(
    "response",
    [
        "",
        "5",
        r"\boxed",
        r"\boxed 5",  # the prompt asks for braces
        r"\fbox{5}",
        r"boxed{5}",
        r"\boxed{5",
        r"\boxed{\frac{1}{2}",
        r"\boxed{5\}",
        r"\boxed{1} and then \boxed{2",  # cut off: the first is not what it meant to end with
    ],
)
def test_a_box_that_never_closes_is_none(response: str) -> None:
    assert extract.boxed(response) is None


balanced = st.recursive(
    st.text("ab1 \\,^_$").map(lambda text: text.rstrip("\\")),
    lambda inner: st.lists(inner.map(lambda held: f"{{{held}}}"), max_size=3).map("".join),
)


@given(before=st.text("abc{}\\"), held=balanced, after=st.text("abc{} "))
def test_what_is_put_in_a_box_comes_out(before: str, held: str, after: str) -> None:
    assert extract.boxed(f"{before} \\boxed{{{held}}}{after}") == held


# --------------------------------------------------------------------------------------- last line


@pytest.mark.parametrize(
    ("response", "line"),
    [
        ("So it is 42.", "So it is 42."),
        ("So it is:\n\n$$\n  42 \n$$\n", "42"),
        ("x\r\nThe answer is ½\r\n\r\n", "The answer is ½"),
        ("a" * 2000 + " 7", "a" * 498 + " 7"),
        ("", None),
        ("\n$$\n", None),
    ],
)
def test_the_last_line_that_says_something_is_found(response: str, line: str | None) -> None:
    assert extract.last_line(response) == line


# -------------------------------------------------------------------------------------------- code


@pytest.mark.parametrize(
    ("response", "block"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("Here:\n```python\nx = 1\n\ny = 2\n```\nDone.", "x = 1\n\ny = 2"),
        ("```python\ndef f(): ...\n```\nFor example:\n```python\nf()\n```", "def f(): ..."),
        ("```python\n# Background: ```\nx = 1\n```", "# Background: ```\nx = 1"),
        ("```python\n\n```\nx\n```", "\n```\nx"),
        ("```python\nx = 1\r\n```", "x = 1\r"),
    ],
)
def test_the_first_block_of_python_is_read(response: str, block: str) -> None:
    assert extract.code(response) == block


@pytest.mark.parametrize(
    "response",
    [
        "x = 1",
        "```\nx = 1\n```",
        "```py\nx = 1\n```",
        "```Python\nx = 1\n```",
        "```python x = 1\n```",
        "```python\nx = 1",
        "```python\nx = 1```",
        "```python\n```",
        "",
    ],
)
def test_what_is_no_closed_block_of_python_is_not_read(response: str) -> None:
    assert extract.code(response) is None


@given(st.lists(st.sampled_from(["```", "python", "\n", "x", " ", "\r", "`"]), max_size=20))
def test_code_is_the_first_match_of_the_regex(parts: list[str]) -> None:
    response = "".join(parts)
    found = re.search(CODE, response)
    assert extract.code(response) == (found[0] if found else None)


# ---------------------------------------------------------------------------------------- any text


@given(st.text())
def test_no_text_breaks_an_extraction(text: str) -> None:
    for function in (extract.choice, extract.boxed, extract.code):
        found = function(text)
        assert found is None or found.casefold() in text.casefold()


@pytest.mark.parametrize(
    "function", [extract.choice, extract.boxed, extract.code, extract.last_line]
)
@pytest.mark.parametrize(
    "hostile",
    [
        "Answer" + " " * MEGABYTE,
        "Answer:" + " " * MEGABYTE,
        "Answer:" + "*_" * (MEGABYTE // 2),
        "Answer: " * (MEGABYTE // 8),
        "Answer:A " * (MEGABYTE // 9),
        "**" * (MEGABYTE // 2),
        "\\boxed" + " " * MEGABYTE,
        "\\boxed{" * (MEGABYTE // 7),
        "\\boxed{" + "{" * MEGABYTE,
        "\\boxed{" + "\\" * MEGABYTE,
        "\\boxed{}" * (MEGABYTE // 8),
        "x```python\n" * (MEGABYTE // 11),
        "```python\n" + "\n" * MEGABYTE,
        "```python\n" + "`" * MEGABYTE,
        "{" * MEGABYTE,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_hostile_megabyte_is_read_quickly(
    function: Callable[[str], str | None], hostile: str
) -> None:
    begun = time.process_time()
    function(hostile)
    # Some 0.4 s at worst; what is quadratic takes hours. No slow machine is to decide.
    assert time.process_time() - begun < 30
