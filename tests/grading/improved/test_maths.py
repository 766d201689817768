"""What an answer says, not how it is written: the script's known mistakes, mended and bounded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.grading.improved.maths import decide

_DATASETS = Path(__file__).parents[3].parent / "shared" / "datasets"
_SECONDS = 120
_MEMORY = 2 * 1024**3

latex_like = st.lists(
    st.sampled_from(
        [
            *"0123456789xyei+-*/^().,! =_%$&|<>'\"#~`°π√²½\n\\{}[]:;", r"\frac", r"\sqrt",
            r"\text{", r"\left(", r"\right)", r"\pi", r"\cdot", r"\begin{pmatrix}",
            r"\end{pmatrix}", r"\\",
            r"\pm", r"\cup", r"\infty", r"\le", r"\log", r"\sin", r"\overline", r"\binom", r"\%",
            "sqrt(", "ln(", "**", " and ", "million", "degrees", "cm", r"\mathbf", r"\(", r"\)",
            "0.5", "1,000", "9**9", "99!", "x = ", r"\approx", r"\in", r"\{", r"\}", r"\$",
        ]
    ),
    max_size=25,
).map("".join)  # fmt: skip
answers = st.one_of(latex_like, st.text(max_size=40))


@pytest.mark.parametrize(
    ("given", "truth"),
    [
        # several answers
        ("3, 2", "2, 3"),
        (r"7, -2, \text{ and } -5", "-5, -2, 7"),
        (r"\{1, 2\}", "2, 1"),
        ("x=3, x=5", "3, 5"),
        ("x = 3 or x = 5", "5, 3"),
        ("1, 3", r"2 \pm 1"),
        (r"\{1\pm\sqrt{5},-2\}", r"-2, 1-\sqrt5, 1+\sqrt5"),
        (r"\text{B, E, G}", r"\text{G, B, E}"),
        (r"(3,4) \cup (1,2)", r"(1,2)\cup(3,4)"),
        ("100, 200", "100,200"),
        # numbers
        ("2/4", "1/2"),
        ("1024", "2^{10}"),
        ("2^10", "2^{10}"),
        ("−3", "-3"),
        ("½", "1/2"),
        ("3√2", r"3\sqrt{2}"),
        (r"2\frac{1}{2}", "5/2"),
        ("7 3/4", "31/4"),
        (r"0.\overline{3}", r"\frac13"),
        ("0.1*3", "3/10"),
        ("1,234,567", "1234567"),
        (r"32,\!348", "32348"),
        (r"10\,000", "10000"),
        ("4.5 million", r"4.5 \times 10^6"),
        (r"\log_2 8", "3"),
        (r"\binom{5}{2}", "10"),
        (r"\sqrt[3]{16}", r"2\sqrt[3]{2}"),
        ("five", "5"),
        # letters
        ("c+b+a", "a+b+c"),
        ("e+i+x", "x+i+e"),
        ("1+i", "i+1"),
        (r"\frac{1}{i}", "-i"),
        ("x+y.", "x+y"),
        (r"\mathbf{x}+1", "1+x"),
        ("x²", "x^2"),
        ("x^{-1}", r"\frac{1}{x}"),
        (r"\frac{1}{2}x", "x/2"),
        ("**18**", "18"),
        (r"\(18\)", "18"),
        # names, equations, inequalities
        ("x = 5", "5"),
        ("5", "x = 5"),
        (r"\text{Area} = 5", "5"),
        ("12 + 5 = 17", "17"),
        (r"\frac13 \approx 0.333", r"\frac13"),
        ("y = 3 + 2x", "y = 2x + 3"),
        ("2x - y + 3 = 0", "y = 2x + 3"),
        (r"x \in [-2,7]", "[-2,7]"),
        (r"-2 \le x \le 7", "[-2,7]"),
        (r"x \geq 2", r"[2,\infty)"),
        ("(-inf, 5)", r"(-\infty, 5)"),
        # units and words
        ("5 dollars", "5"),
        (r"\$5", "5 dollars"),
        (r"45^\circ", r"45\text{ degrees}"),
        (r"864 \mbox{ inches}^2", r"864 \text{ square inches}"),
        ("50 mph", r"50 \text{ miles per hour}"),
        (r"(2, 3) \text{ cm}", "(2, 3)"),
        ("10", r"10\%"),
        ("0.1", r"10\%"),
        (r"\text{(A)}", "A"),
        (r"\text{Even}", "even"),
        ("1010_2", "1010"),
        (r"1010_{\text{two}}", "1010_2"),
        # vectors and matrices
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{bmatrix} 1 \\ 2 \end{bmatrix}"),
        (r"\begin{pmatrix} 0.5 \\ 2 \end{pmatrix}", r"\begin{pmatrix} 1/2 \\ 2 \end{pmatrix}"),
    ],
)
def test_the_same_answer_is_right_however_it_is_written(given: str, truth: str) -> None:
    assert decide(given, truth) == decide(truth, given) == "right"


@pytest.mark.parametrize(
    ("given", "truth"),
    [
        ("", "1"),
        ("5 days", "5 years"),
        ("0.99999999", "1"),
        ("0.33", "1/3"),
        ("1.234", "1234"),
        ("10", "2^4"),
        ("x^2a", "x^{2a}"),
        (r"\sqrt{2}x", r"\sqrt{2x}"),
        ("x+1/2", r"\frac{x+1}{2}"),
        ("-6t-5", "6t-5"),
        ("115,000i", "115,000"),
        ("1, 2, 3", "1, 2"),
        (r"200 \text{ and } 1", "200"),
        ("(2,1)", "(1,2)"),
        ("(1,2]", "(1,2)"),
        ("1:2", "2:1"),
        ("x = 5", "x = 6"),
        ("1011_2", "1010_2"),
        (r"\text{odd}", r"\text{even}"),
        (r"x < 5", r"x \le 5"),
        ("1/0", "1/2"),
        (r"x^2+y^2=13", "x^2+y^2=14"),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}2\\1\end{pmatrix}"),
    ],
)
def test_another_answer_is_wrong(given: str, truth: str) -> None:
    assert decide(given, truth) == decide(truth, given) == "wrong"


@pytest.mark.parametrize(
    ("given", "truth"),
    [
        ("ab", "ba"),  # a product, or names of two things
        ("east", "seat"),
        ("y = 5", "x = 5"),
        ("(1,2)", "1, 2"),
        ("(1,2)", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
        ("3:2", "3/2"),
        ("100 cm", r"1 \text{ m}"),
        ("5 dozen", "5"),
        ("5 squared", "5"),
        (r"2 \text{ thirds}", "2"),
        ("12 kids", r"12 \text{ students}"),
        (r"\cos 13^\circ", r"\sin 77^\circ"),
        ("2x = 4", "4"),
        ("6x - 3y + 9 = 0", "y = 2x + 3"),
        (r"\text{no solution}", r"\text{none at all}"),
        (r"\int x", "x"),
        (r"\frac.53", "x"),
    ],
)
def test_what_cannot_be_told_is_undecided(given: str, truth: str) -> None:
    assert decide(given, truth) == decide(truth, given) == "undecided"


@pytest.mark.parametrize(
    "given",
    ["9**9**9**9", "10**10**10", "99999999!", "(20!)!", "(x+1)**9999999", "(x+99)!/x!/x!*x!"],
)
def test_what_might_never_end_is_undecided(given: str) -> None:
    assert decide(given, "1/2") == "undecided"


@given(answers, answers)
def test_any_two_texts_get_one_decision_in_either_order(given: str, truth: str) -> None:
    assert decide(given, truth) == decide(truth, given) in ("right", "wrong", "undecided")


@given(answers.map(lambda answer: answer if answer.strip() else f"{answer}x"))
def test_an_answer_equals_itself(answer: str) -> None:
    assert decide(answer, f" {answer}\n") == "right"


@given(st.lists(st.fractions(-99, 99, max_denominator=20), min_size=1, max_size=5), st.randoms())
def test_the_order_of_solutions_does_not_matter(solutions: list[object], random: object) -> None:
    shuffled = random.sample(solutions, len(solutions))  # type: ignore[attr-defined]
    given, truth = ", ".join(map(str, shuffled)), ", ".join(map(str, solutions))
    assert decide(given, truth) == "right"
    assert decide(given + ", 100", truth) == "wrong"


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
def test_whole_numbers_are_right_where_they_are_equal(one: int, other: int) -> None:
    for written in (str(one), f"{one:,}", f"${one}$", f"{one} "):
        assert decide(written, str(other)) == ("right" if one == other else "wrong")
        assert decide(written, str(one)) == "right"


def test_gold_answers_equal_themselves_in_any_dress() -> None:
    if not _DATASETS.is_dir():
        pytest.skip("the benchmark datasets are not beside this checkout")
    rows = (_DATASETS / "math500.jsonl").read_text(encoding="utf-8").splitlines()
    for gold in (json.loads(row)["answer"] for row in rows):
        for dress in ("{}", " {}.\n", "${}$", r"\({}\)", r"\left {} \right", r"\mathbf{{{}}}"):
            assert decide(dress.format(gold), gold) == "right", (dress, gold)


@pytest.mark.process
def test_hostile_answers_harm_nothing() -> None:
    code = (
        "import resource\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))\n"
        f"resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))\n"
        "from perf.math_pairs import hostile\n"
        "from raybench.grading.improved.maths import decide\n"
        "pairs = [pair for pair in hostile() if pair[1] in ('1/2', 'x^2+y')]\n"
        "pairs += [(r'\\frac' * 900, '1/2'), (r'\\sqrt' * 900, '1/2'), (r'\\text{' * 600, '1/2')]\n"
        "pairs += [('|' * 3_999, '1/2'), ('1,' * 1_999 + '1', '2,' * 1_999 + '2')]\n"
        "pairs += [('x=' * 1_999 + 'x', '1/2'), (r'\\pm' * 1_300 + '1', '1/2')]\n"
        "pairs += [('x_' * 1_999, 'x'), ('(1,' * 1_300 + '1', '1/2'), ('0.' * 1_999, '1')]\n"
        "assert len([decide(*pair) for pair in pairs]) > 400\n"
        "print('unharmed')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert (run.returncode, run.stdout.strip()) == (0, "unharmed"), run.stderr[-2000:]
