"""Decisions of the PRM800K script, kept; and answers that would stop it, survived."""

import json
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.grading.math import decide, equivalent

_DECISIONS = Path(__file__).with_name("decisions.jsonl")
_DATASETS = Path(__file__).parents[2].parent / "shared" / "datasets"
_SECONDS = 120
_MEMORY = 2 * 1024**3

latex_like = st.lists(
    st.sampled_from(
        [
            *"0123456789xye+-*/^().,! =_%$&|<>'\"#~`°π√²\n\\{}[]", r"\frac", r"\sqrt", r"\text{",
            r"\left(", r"\right)", r"\pi", r"\cdot", r"\begin{pmatrix}", r"\end{pmatrix}", r"\\",
            "sqrt(", "ln(", "**", "//", " and ", "million", "degrees", r"\mathbf", r"\hat", r"\(",
            r"\)", "0.5", "1,000", "1e9", "9**9", "99!", "oo", "if", "lambda", "__",
        ]
    ),
    max_size=25,
).map("".join)  # fmt: skip
answers = st.one_of(latex_like, st.text(max_size=40))


def _recorded() -> list[dict[str, object]]:
    return [json.loads(line) for line in _DECISIONS.read_text(encoding="utf-8").splitlines()]


def test_recorded_decisions_of_the_script_are_kept() -> None:
    rows = _recorded()
    differing = [
        row for row in rows if equivalent(str(row["given"]), str(row["truth"])) != row["right"]
    ]
    assert len(rows) > 400
    assert differing == []


@pytest.mark.parametrize(
    ("given", "truth"),
    [
        # one spelling of what LaTeX writes
        (r"\dfrac{3}{4}", r"\frac34"),
        (r"\left( 1, 2 \right)", "(1,2)"),
        ("3/4", r"\frac{3}{4}"),
        (".5", r"\frac{1}{2}"),
        ("x = 7", "7"),
        (r"45^\circ", "45"),
        (r"12 \text{ cm}", "12"),
        (r"\$3.50", "3.50"),
        # plain text without units, spaces, braces and capitals
        (r"\text{Blue}", "blue"),
        ("12 inches", "12"),
        ("4.5 million", "4.5*10^6"),
        ("1,234,567", "1234567"),
        ("3 or 4", "3, 4"),
        (r"2\frac{1}{2}", "2 1/2"),
        (r"3\times 4", "3*4"),
        (r"\sqrt2", "sqrt(2)"),
        # element by element
        ("(0.5, 2/3)", r"\left(\frac{1}{2}, \frac{2}{3}\right)"),
        ("[-1.0, x+1)", "[-1, 1+x)"),
        # the difference is 0
        ("(x-1)(x+1)", "x^2-1"),
        ("sqrt(12)", r"2\sqrt{3}"),
        (r"\frac{1}{\sqrt{2}}", "sqrt(2)/2"),
        ("1/(sqrt(3)-1)", "(sqrt(3)+1)/2"),
        ("pi/2", r"0.5\pi"),
        ("2.4", "12/5"),
        ("4!/7", "24/7.0"),
        ("x**y*x", "x**(y+1)"),
        ("2**(1/3)*2**(1/6)", "sqrt(2)"),
        ("ln(8)/ln(2)/2", "3/2"),
        ("n!/2", r"\frac{n!}{2}"),
        ("n(n-1)!", "n!"),
    ],
)
def test_what_the_script_calls_right_is_right(given: str, truth: str) -> None:
    assert decide(given, truth) == "right"


@pytest.mark.parametrize(
    ("given", "truth"),
    [
        ("6/8", r"\frac{3}{4}"),
        ("7.5", "7"),
        ("21/3", "7"),
        ("(1,2]", "(1,2)"),
        ("(2,1)", "(1,2)"),
        ("1,2,3", "1,2"),
        ("0.33", "1/3"),
        ("x^2+1", "y^2+1"),
        ("", "1"),
        (r"\frac{1}{0}", "1/2"),
        ("0/0", "1/2"),
        ("oo-oo", "1/2"),
        ("x=y", "y=x"),
        ("sqrt(x^2)", "x"),
    ],
)
def test_what_the_script_calls_wrong_is_wrong(given: str, truth: str) -> None:
    assert decide(given, truth) == "wrong"


@pytest.mark.parametrize(
    ("given", "truth"),
    [("5 days", "5 years"), ("0.99999999", "1"), ("ab", "ba"), ("x+1/2", r"\frac{x+1}{2}")],
)
def test_what_the_script_wrongly_calls_right_stays_right(given: str, truth: str) -> None:
    assert equivalent(given, truth)


@pytest.mark.parametrize(
    ("given", "truth"),
    [
        ("3, 2", "2, 3"),
        ("2/4", "1/2"),
        ("1024", "2^{10}"),
        ("1, 3", r"2 \pm 1"),
        ("c+b+a", "a+b+c"),
        ("e+i+x", "x+i+e"),
        ("42.", "forty-two"),
        ("x+y.", "x+y"),
        ("−3", "-3"),
        (r"√2+x", r"x+\sqrt{2}"),
        (r"\mathbf{x}+1", "x+1"),
        ("5 dollars", "5"),
        ("0.1*3", "3/10"),
    ],
)
def test_what_the_script_wrongly_calls_wrong_stays_wrong(given: str, truth: str) -> None:
    assert decide(given, truth) == "wrong"


@pytest.mark.parametrize(
    "given",
    [
        "9**9**9**9", "10**10**10", "99999999!", "(20!)!", "1e999999999", "1/2+1e-999999999",
        "(x+1)**9999999", "1.5**1e9", "0x1f", "re(1/2)", "x//x", "3!!", "(x+99)!/x!/x!*x!",
        "(" * 60 + "1/2" + ")" * 60, "{" * 60 + "\\pi" + "}" * 60, "9" * 5000,
    ],
)  # fmt: skip
def test_what_might_never_end_or_is_not_read_is_undecided(given: str) -> None:
    assert decide(given, "1/2") == "undecided"
    assert not equivalent(given, "1/2")


def test_the_first_element_that_is_not_right_decides() -> None:
    assert decide("(9**9**9,x)", "(1/2,x+0)") == "undecided"
    assert decide("(9**9**9,x)", "(1/2,y)") == "undecided"
    assert decide("(y,9**9**9)", "(x,1/2)") == "wrong"


def test_what_sympy_takes_too_long_for_is_undecided_and_leaves_it_usable() -> None:
    slow = (
        "(sqrt(3+2*sqrt(2))+sqrt(5+2*sqrt(6)))/(1+2*sqrt(2)+sqrt(3))"
        "+(sqrt(8+2*sqrt(15))+sqrt(10+2*sqrt(21)))/(sqrt(3)*2+sqrt(5)+sqrt(7))"
    )
    assert decide(slow, "4/2.0") == "undecided"
    assert decide("2**(1/3)*4**(1/3)/4", "1/2") == "right"


def test_a_trace_function_that_was_there_is_there_afterwards() -> None:
    seen = []

    def trace(*_: object) -> None:
        seen.append(1)

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert decide("2**(1/3)*4**(1/3)/4", "1/2") == "right"
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


def test_threads_decide_alike() -> None:
    pairs = [("2**(1/3)*4**(1/3)/4", "1/2"), ("9**9**9**9", "1/2"), ("ln(4)", "2ln(2)")]
    alone = [decide(*pair) for pair in pairs]
    together: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: together.append([decide(*pair) for pair in pairs]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [alone] * 4


@given(answers, answers)
def test_any_text_gets_a_decision(given: str, truth: str) -> None:
    assert decide(given, truth) in ("right", "wrong", "undecided")


@given(answers)
def test_an_answer_equals_itself(answer: str) -> None:
    assert equivalent(answer, answer)
    assert equivalent(f"  {answer.strip()} ", answer.strip())


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_terms_does_not_matter(coefficients: list[int], random: object) -> None:
    terms = [f"{c:+d}x^{power}" for power, c in enumerate(coefficients)]
    assert decide("".join(reversed(terms)), "".join(terms)) == "right"


@given(
    st.integers(-50, 50),
    st.sampled_from(
        [Fraction(above, below) for below in range(2, 31) for above in range(1, below)]
    ),
    st.integers(1, 40),
)
def test_another_fraction_is_another_answer(whole: int, part: Fraction, step: int) -> None:
    fraction = whole + part
    other = fraction + step
    assert decide(f"x+({other})", f"x+({fraction})") == "wrong"
    assert decide(f"({fraction})+x+({step})", f"x+({other})") == "right"


def test_gold_answers_equal_themselves_in_any_dress() -> None:
    if not _DATASETS.is_dir():
        pytest.skip("the benchmark datasets are not beside this checkout")
    rows = (_DATASETS / "math500.jsonl").read_text(encoding="utf-8").splitlines()
    for gold in (json.loads(row)["answer"] for row in rows):
        for dress in ("{}", " {}\n", r"\text{{{}}}", r"\left {} \right", r"{}\%"):
            assert equivalent(dress.format(gold), gold), (dress, gold)


@pytest.mark.process
def test_hostile_answers_harm_nothing() -> None:
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))\n"
        f"resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))\n"
        "from perf.math_pairs import hostile\n"
        "from raybench.grading.math import decide\n"
        "pairs = [pair for pair in hostile() if pair[1] in ('1/2', 'x^2+y')]\n"
        "assert len([decide(*pair) for pair in pairs]) > 400\n"
        "print('unharmed')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert (run.returncode, run.stdout.strip()) == (0, "unharmed"), run.stderr[-2000:]
