import ast

import pytest
import real_rows

from raybench.benchmarks.parts.scicode import split as module
from raybench.benchmarks.parts.scicode.split import Inseparable, split

IMPORTS = "import numpy as np\nimport random\nfrom scipy.special import erfc"


def judged(*cases: str, candidates: tuple[str, ...] = ("f", "g")) -> list[list[str]]:
    parts = split(cases, IMPORTS, candidates)
    return [[step.get("judge") or f"run {step['run']}" for step in case] for case in parts.judge]


def shipped(*cases: str) -> list[list[str]]:
    parts = split(cases, IMPORTS, ("f", "g"))
    return [[it for step in case for it in step.get("ship", ())] for case in parts.candidate]


def test_the_candidates_side_hands_over_what_it_alone_knows() -> None:
    case = "A = np.eye(3)\nassert np.allclose(f(A), target)"
    assert shipped(case) == [["f(A)"]]
    assert judged(case) == [["assert np.allclose(_0, target)"]]


def test_the_candidates_side_never_sees_a_target() -> None:
    case = "x = f(1)\na, b = target\nassert np.allclose(x, a) and g(2) == b"
    parts = split([case], IMPORTS, ("f", "g"))
    assert parts.candidate == [[{"run": "x = f(1)"}, {"ship": ["x", "g(2)"]}]]
    assert judged(case) == [["a, b = target", "assert np.allclose(_0, a) and _1 == b"]]


@pytest.mark.parametrize(
    ("assertion", "by_the_judge", "from_the_candidate"),
    [
        ("np.isclose(x, y) == target", "np.isclose(_0, _1) == target", ["x", "y"]),
        ("(x - y < 1e-6) == target", "(_0 - _1 < 1e-06) == target", ["x", "y"]),
        ("(x > 0).all() == target", "(_0 > 0).all() == target", ["x"]),
        ("x.any() == target.any()", "_0.any() == target.any()", ["x"]),
        ("x.value(y) == target", "_0 == target", ["x.value(y)"]),
        ("all(i > 9 for i in x) == target", "all(_0) == target", ["[i > 9 for i in x]"]),
        ("np.allclose(x[0], target[0])", "np.allclose(_0[0], target[0])", ["x"]),
        ("erfc(x) == target", "erfc(_0) == target", ["x"]),
        ("np.mean(np.random.rand(3)) == target", "np.mean(_0) == target", ["np.random.rand(3)"]),
        ("(x, len(y)) == target", "(_0, len(_1)) == target", ["x", "y"]),
    ],
)
def test_the_judge_works_out_all_it_can(
    assertion: str, by_the_judge: str, from_the_candidate: list[str]
) -> None:
    case = f"x, y = f(1)\nassert {assertion}"
    assert judged(case) == [[f"assert {by_the_judge}"]]
    assert shipped(case) == [from_the_candidate]


def test_what_the_candidate_has_no_part_in_is_the_judges_own() -> None:
    case = "n = 3\nexpected = np.ones(n)\nunused = 5\nassert np.allclose(f(n), expected)"
    assert judged(case) == [
        ["run n = 3", "run expected = np.ones(n)", "assert np.allclose(_0, expected)"]
    ]


@pytest.mark.parametrize(
    "case",
    [
        "A = np.eye(2)\nf(A)\nassert np.allclose(A, target)",
        "A = np.eye(2)\nB = A\nf(B)\nassert np.allclose(A, target)",
        "A = np.eye(2)\nB = A[0]\nf(B)\nassert np.allclose(A, target)",
        "A = np.eye(2)\nunused = f(A)\nassert np.allclose(A, target)",
        "A = np.eye(2)\nfor i in range(3):\n    x = f(A)\nassert np.allclose(A, x)",
        "A = [1]\nx = A.append(f(A))\nassert np.allclose(A, x)",
        "A = [1]\nx = f(A.append(2))\nassert np.allclose(A, x)",
        "A = [1]\nassert f(A.append(2)) == target\nassert np.allclose(A, target)",
        "A = [1]\ndef own(A):\n    A[0] = 2\nx = f(own(A))\nassert np.allclose(A, x)",
    ],
)
def test_what_the_candidate_is_to_change_comes_from_there(case: str) -> None:
    assert "A" in shipped(case)[0]


@pytest.mark.parametrize(
    "case",
    [
        "A = np.eye(2)\nx = f(A)\nassert np.allclose(A, x)",
        "A = np.eye(2)\nassert np.allclose(f(A), A)",
        "A = np.eye(2)\nx, y = f(A, b=g(A[0]))\nassert np.allclose(A, x)",
        "A = np.eye(2)\nx = np.sum(f(np.sort(A)))\nassert np.allclose(A, x)",
        "A = np.eye(2)\nx = f(A)\nB = 2 * A[0]\nassert np.allclose(B, x)",
        "A = np.eye(2)\nB = A[0]\nx = f(B)\nassert np.allclose(A, x)",
    ],
)
def test_what_the_candidate_is_given_for_what_it_returns_stays_the_tests_own(case: str) -> None:
    assert not {"A", "B"} & set(shipped(case)[0])


@pytest.mark.parametrize(
    ("assertion", "by_the_judge", "from_the_candidate"),
    [
        ("np.isclose(best(A), f(A))", "np.isclose(best(A), _0)", ["f(A)"]),
        ("np.isclose(f(A), best(A))", "np.isclose(_0, best(A))", ["f(A)"]),
        ("np.isclose(a=best(A), b=f(A))", "np.isclose(a=best(A), b=_0)", ["f(A)"]),
        ("A[0] < f(A) < A[1]", "A[0] < _0 < A[1]", ["f(A)"]),
        ("(A, [g(A), f(1)], A) == target", "(A, [_0, _1], A) == target", ["g(A)", "f(1)"]),
        ("np.allclose(A, [f(A) for i in A])", "np.allclose(A, _0)", ["[f(A) for i in A]"]),
    ],
)
def test_only_what_the_candidate_works_out_is_handed_over(
    assertion: str, by_the_judge: str, from_the_candidate: list[str]
) -> None:
    case = f"A = np.ones(2)\ndef best(A):\n    return A.max()\nassert {assertion}\n"
    assert judged(case)[0][-1] == f"assert {by_the_judge}"
    assert shipped(case) == [from_the_candidate]


def beside(*cases: str) -> list[list[str]]:
    parts = split(cases, IMPORTS, ("f", "g"))
    return [[step["run"] for step in case if "run" in step] for case in parts.candidate]


@pytest.mark.parametrize(
    "case",
    [
        "E = 2.0 * np.ones(2)\nassert np.allclose(f(1), E)",
        "def E(x):\n    return 2 * x\nassert np.allclose(f(1), E(1))",
        "E = []\nfor i in range(3):\n    E.append(2 * i)\nassert np.allclose(f(1), E)",
        "E = np.ones(2)\nE *= 2\nE[0] = 2\nassert np.allclose(f(1), E)",
        "E = [3, 2]\nlast = E.pop()\nassert np.allclose(f(1), E)",
        "E = 2 * np.ones(2)\nnp.fill_diagonal(E, 3)\nassert (abs(f(1) - E) < 1).all() == target",
    ],
)
def test_what_only_the_judge_needs_is_not_beside_the_candidates_code(case: str) -> None:
    assert beside(case) == [[]]
    (found,) = judged(case)
    assert found == [f"run {it}" for it in map(ast.unparse, ast.parse(case).body[:-1])] + found[-1:]


@pytest.mark.parametrize(
    "case",
    [
        "A = np.eye(2)\nB = A\nB[0] = 5\nassert np.allclose(f(A), target)",
        "A = [3, 2]\nlast = A.pop()\nassert np.allclose(f(A), target)",
        "A = []\nfor i in range(3):\n    A.append(i)\nassert np.allclose(f(A), target)",
        "A = []\ndef add():\n    A.append(3)\nx = add()\nassert np.allclose(f(A), target)",
        "np.seterr(all='ignore')\nassert np.allclose(f(1), target)",
        "np.random.seed(1)\nA = np.random.rand(2)\nassert np.allclose(f(A), target)",
    ],
)
def test_what_the_candidates_code_is_called_with_is_made_beside_it(case: str) -> None:
    assert beside(case) == [[ast.unparse(it) for it in ast.parse(case).body[:-1]]]


JUDGED = "assert (_0 < limit) == target"


def test_a_number_stays_the_judges_whoever_was_given_it() -> None:
    case = "limit = 5\ny = f(limit)\nassert (y < limit) == target"
    ((setup, check),) = judged(case)
    assert (setup, check) == ("run limit = 5", JUDGED)


def test_names_carry_on_from_case_to_case() -> None:
    first, second = "x = f(1)\nk = 2\nassert x == target", "assert (x < k) == target"
    assert shipped(first, second) == [["x"], ["x"]]
    assert judged(first, second) == [
        ["run k = 2", "assert _0 == target"],
        ["assert (_0 < k) == target"],
    ]


def test_a_function_that_only_holds_the_test_is_spread_out() -> None:
    case = "def test_it():\n    y = f(1)\n    assert np.allclose(y, 2)\ntest_it()"
    assert judged(case) == [["assert np.allclose(_0, 2)"]]
    assert shipped(case) == [["_test_it_y"]]


def test_a_function_of_the_test_compares_where_it_needs_no_object() -> None:
    closes = "def same(a, b):\n    return a.shape == b.shape and np.allclose(a, b)\n"
    assert judged(f"{closes}assert same(f(1), target)")[0][-1] == "assert same(_0, target)"
    asks = "def energy(wave):\n    return wave.value(1)\n"
    assert shipped(f"{asks}assert np.allclose(energy(f(1)), target)") == [["energy(f(1))"]]


def test_what_the_candidate_defines_is_no_library() -> None:
    case = "assert erfc(1) == target"
    parts = split([case], IMPORTS, ["erfc"])
    assert parts.candidate == [[{"ship": ["erfc(1)"]}]]


@pytest.mark.parametrize(
    "case",
    [
        "assert f(target) == 1",
        "x = f(target)\nassert x == 1",
        "for t in target:\n    assert f(1) == t",
        "print(target)",
        "assert f(lambda: target)",
        "from scicode.compare.cmp import cmp_tuple_or_list as c\nassert c(f(1), target)",
    ],
)
def test_what_hands_a_target_over_is_refused(case: str) -> None:
    with pytest.raises(Inseparable):
        split([case], IMPORTS, ["f"])


def test_every_published_test_case_is_split_and_no_target_crosses() -> None:
    cases = 0
    for stem in ("scicode_dev", "scicode_test"):
        for problem in real_rows.plain(stem):
            for step in problem["sub_steps"]:
                parts = split(step["test_cases"], problem["required_dependencies"], ())
                assert [bool(case) for case in parts.judge] == [True] * len(step["test_cases"])
                for case in parts.candidate:
                    cases += 1
                    for text in (
                        it for part in case for it in [part.get("run"), *part.get("ship", ())]
                    ):
                        assert text is None or not module.needs_target(text)
                        assert text is None or ast.parse(text)
    assert cases == 1082
