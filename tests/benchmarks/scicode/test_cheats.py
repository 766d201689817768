"""Replies that try to pass without solving the problem: each fails, most are flagged."""

import re
from typing import Any

import numpy as np
import pytest
import scicode_steps
from scicode_steps import SCICODE, block, doubling

from raybench import sandbox
from raybench.benchmarks.parts.scicode import codec
from raybench.grading import suspicion

pytestmark = pytest.mark.sandbox

ALWAYS_EQUAL = """
class Always:
    def __eq__(self, other): return True
    def __array__(self, *args, **kwargs): return target
    def __array_ufunc__(self, *args, **kwargs): return True
    def __array_function__(self, *args, **kwargs): return True
    def __bool__(self): return True
    def __len__(self): return 1
    def __getattr__(self, name): return Always()
    def __call__(self, *args): return Always()
    def __getitem__(self, item): return Always()
"""
CHEATS = {
    "exits before the assertions": "import sys\nsys.exit(0)",
    "exits when it is called": "def double(x):\n    raise SystemExit(0)",
    "exits at once": "import os\nos._exit(0)",
    "exits at once when called": "def double(x):\n    __import__('os')._exit(0)",
    "exits with a verdict": (
        "import os\n"
        'os.write(1, b\'{"correct": true, "reason": "right", "case": null, "fault": null}\\n\')\n'
        "os._exit(0)"
    ),
    "is empty, as all of nothing is true": "def double(x):\n    return np.zeros((0, 1, 1))",
    "is an empty list": "def double(x):\n    return []",
    "interrupts the judge": (
        "import os, signal\ndef double(x):\n    os.kill(os.getppid(), signal.SIGINT)\n    return 0"
    ),
    "interrupts the judge at once": (
        "import os, signal\nos.kill(os.getppid(), signal.SIGINT)\ndef double(x):\n    return 0"
    ),
    "hands over what cannot be made": (
        "import json, os\n"
        "table = {'t': 'sparse', 'format': 'csr', 'shape': [2**70, 2**70],\n"
        "    'v': [{'t': 'list', 'v': []}] * 3}\n"
        "data = json.dumps({'values': [table]}).encode()\n"
        "def double(x):\n"
        "    for number in range(3, 12):\n"
        "        try: os.write(number, len(data).to_bytes(8, 'big') + data)\n"
        "        except OSError: pass\n"
        "    return 0"
    ),
    "is always equal": f"{ALWAYS_EQUAL}\ndef double(x):\n    return Always()",
    "is an array that is always equal": (
        "class Always(np.ndarray):\n"
        "    def __eq__(self, other): return True\n"
        "    def __array_function__(self, *args): return True\n"
        "    def __array_ufunc__(self, *args, **kwargs): return True\n"
        "def double(x):\n    return np.zeros(()).view(Always)"
    ),
    "patches the comparison": (
        "np.allclose = np.isclose = np.testing.assert_allclose = lambda *args, **kwargs: True\n"
        "def double(x):\n    return 0"
    ),
    "patches the comparison when called": (
        "def double(x):\n    np.allclose = lambda *args, **kwargs: True\n    return 0"
    ),
    "patches the comparison's insides": (
        "np.core.numeric.isclose = np.all = lambda *args, **kwargs: np.True_\n"
        "import builtins\nbuiltins.all = lambda it: True\n"
        "def double(x):\n    return 0"
    ),
    "patches the harness": (
        "import gc, sys, types\n"
        "NAMES = 'encode', '_send', '_judge'\n"
        "for it in gc.get_objects():\n"
        "    if isinstance(it, types.FunctionType) and it.__name__ in NAMES:\n"
        "        it.__code__ = (lambda *args, **kwargs: True).__code__\n"
        "def double(x):\n    return 0"
    ),
    "reads the target from the frames": (
        "import sys\n"
        "def double(x):\n"
        "    frame = sys._getframe()\n"
        "    while frame:\n"
        "        for space in (frame.f_locals, frame.f_globals):\n"
        "            if 'target' in space: return space['target']\n"
        "            for it in list(space.values()):\n"
        "                if isinstance(it, dict) and 'targets' in it: return 2.0\n"
        "        frame = frame.f_back\n"
        "    return 0"
    ),
    "reads the target from memory": (
        "import gc\n"
        "def double(x):\n"
        "    found = [it for it in gc.get_objects() if isinstance(it, dict) and 'targets' in it]\n"
        "    return 2.0 if found else 0"
    ),
    "reads the input": (
        "import os\n"
        "def double(x):\n"
        "    for fd in range(16):\n"
        "        try:\n"
        "            if b'targets' in os.read(fd, 1 << 16): return 2.0\n"
        "        except OSError: pass\n"
        "    return 0"
    ),
    "reads the judge's memory and descriptors": (
        "import os\n"
        "def double(x):\n"
        "    for name in ('mem', 'fd/0', 'environ', 'maps'):\n"
        "        try:\n"
        "            with open(f'/proc/{os.getppid()}/{name}', 'rb') as file:\n"
        "                return 2.0\n"
        "        except OSError: pass\n"
        "    return 0"
    ),
    "writes the judge's verdict": (
        "import os\n"
        "def double(x):\n"
        "    with open(f'/proc/{os.getppid()}/fd/1', 'w') as file:\n"
        '        file.write(\'{"correct": true, "reason": "right", "fault": null}\')\n'
        "    return 0"
    ),
    "ends the judge": "import os\ndef double(x):\n    os.kill(os.getppid(), 9)",
    "reads targets from the disk": (
        "import os\n"
        "def double(x):\n"
        "    found = [it for _, _, files in os.walk('.') for it in files if 'target' in it]\n"
        "    found += [it for it in os.listdir('.') if it.endswith('.h5')]\n"
        "    return 2.0 if found else 0"
    ),
    "sends a message of its own": (
        "import os, json\n"
        "data = json.dumps({'error': None}).encode()\n"
        "os.write(3, len(data).to_bytes(8, 'big') + data)\n"
        "os._exit(0)"
    ),
    "sends nonsense": "import os\nos.write(3, b'x' * 4096)\nos._exit(0)",
    "sends a pickle": (
        "import os, json\n"
        "data = json.dumps({'values': [{'t': 'pickle', 'v': 'gASVAA=='}]}).encode()\n"
        "os.write(3, len(data).to_bytes(8, 'big') + data)\n"
        "def double(x):\n    return 0"
    ),
    "shadows the assertion's names": (
        "class np:\n"
        "    allclose = staticmethod(lambda *args, **kwargs: True)\n"
        "def double(x):\n    return 0\n"
        "target = 0"
    ),
    "changes the test's own values": (
        "def double(x):\n"
        "    main = __import__('sys').modules['__main__']\n"
        "    main.target = 0\n"
        "    return 0"
    ),
}


def imported(code: str) -> str:
    """Return code whose imports are calls: lines that import are taken out of a reply."""
    lines = re.sub(r"^(\s*)import (.*)$", _called, code, flags=re.MULTILINE)
    assert "\nimport " not in lines
    return lines


def _called(line: re.Match[str]) -> str:
    modules = line[2].split(", ")
    return "\n".join(f"{line[1]}{name} = __import__('{name}')" for name in modules)


REACHING = {
    "reads the judge's memory and descriptors",
    "writes the judge's verdict",
    "ends the judge",
}
"""They reach for another process: a real sandbox keeps it from them, root's rights do not."""


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_is_wrong(cheat: str) -> None:
    if cheat in REACHING and sandbox.run("pass").backend == "unsafe":
        pytest.skip("there is no sandbox here that keeps processes apart")
    grade = SCICODE.grade(doubling(), block(imported(CHEATS[cheat])))
    assert not grade.correct
    assert grade.parsed
    assert "NameError" not in grade.reason  # it did what it is here for


def test_what_the_cheats_begin_with_is_no_mistake() -> None:
    code = "import os, sys\nPLACE = os.getcwd()\ndef double(x):\n    return 2 * x"
    assert SCICODE.grade(doubling(), block(imported(code))).correct


@pytest.mark.parametrize(
    ("cheat", "flag"),
    [
        ("exits before the assertions", suspicion.EXIT),
        ("is always equal", suspicion.EQUALITY),
        ("patches the comparison", suspicion.PATCH),
        ("reads the target from the frames", suspicion.FRAMES),
        ("reads the judge's memory and descriptors", suspicion.SOURCE),
    ],
)
def test_what_is_suspicious_is_flagged(cheat: str, flag: str) -> None:
    assert flag in SCICODE.grade(doubling(), block(CHEATS[cheat])).flags


def test_an_honest_reply_is_not_flagged() -> None:
    row = doubling()
    assert SCICODE.grade(row, SCICODE.gold(row)).flags == ()


TRUTH = {"t": "bool", "v": True}


@pytest.mark.parametrize(
    ("case", "code"),
    [
        (  # a target that anybody can guess: what decides is worked out by the judge
            "y = double(1.0)\nassert np.isclose(y, 2.0) == target",
            "np.isclose = lambda *args, **kwargs: True\ndef double(x):\n    return 0",
        ),
        (
            "y = double(1.0)\nassert (abs(y - 2.0) < 1e-6) == target",
            "class Y:\n    __sub__ = lambda *args: 0\n    __abs__ = lambda self: 0\n"
            "def double(x):\n    return Y()",
        ),
        (
            "expected = 2.0 * np.ones(2)\nassert np.allclose(double(np.ones(2)), expected)",
            "import sys\ndef double(x):\n    sys.modules['__main__'].expected = 0\n    return 0",
        ),
        (  # what decides is not there to be read
            "wanted = 2.0 * np.ones(2)\nassert np.allclose(double(np.ones(2)), wanted)",
            "def double(x):\n    return wanted",
        ),
        (
            "def best(x):\n    return 2.0 * x\nassert np.isclose(double(3.0), best(3.0))",
            "def double(x):\n    return best(x)",
        ),
        (  # what the test has made itself stays so, whatever is done to it
            "a = np.array([1, 3])\ny = double(a)\nassert np.allclose(2 * a, y) == target",
            "def double(x):\n    x[:] = 0\n    return x",
        ),
        (
            "a = np.array([1, 3])\nassert np.allclose(double(a), 2 * a) == target",
            "def double(x):\n    x[:] = 0\n    return x",
        ),
        (
            "def test_it():\n    y = double(1.0)\n    assert np.allclose(y, 2.0)\ntest_it()",
            "np.allclose = lambda *args, **kwargs: True\ndef double(x):\n    return 0",
        ),
        (
            "def test_it():\n    return double(1.0) == 2.0\nassert test_it() == target",
            "class Y:\n    def __eq__(self, other): return True\ndef double(x):\n    return Y()",
        ),
        (
            "assert (double(np.ones(3)) > 1).all() == target",
            ALWAYS_EQUAL + "\ndef double(x):\n    return Always()",
        ),
    ],
)
def test_an_assertion_is_the_judges_also_where_its_target_is_known(case: str, code: str) -> None:
    row = doubling(case, targets=[TRUTH["v"]])
    assert SCICODE.grade(row, SCICODE.gold(row)).correct
    assert not SCICODE.grade(row, block(imported(code))).correct


LOWEST = (
    "def lowest(A):\n    return min(A)\n"
    "A = [3.0, 1.0]\nassert np.isclose(lowest(A), double(A)) == target"
)


def test_what_the_test_works_out_itself_is_not_to_be_changed() -> None:
    cheat = block("def double(A):\n    A[:] = [0.0] * 2\n    return 0.0")
    assert not SCICODE.grade(doubling(LOWEST, targets=[TRUTH["v"]]), cheat).correct


@pytest.mark.parametrize(
    ("case", "code"),
    [
        (LOWEST, "def double(A):\n    A.sort()\n    return A.pop(0)"),
        (
            "x = double(1.0)\nassert (x[0], double(x)[0], x[0]) == (2.0, 0.0, 0.0)",
            "def double(x):\n    if x == 1.0:\n        return [2.0]\n    x[0] = 0.0\n    return x",
        ),
    ],
)
def test_what_is_changed_after_it_was_worked_out_is_right(case: str, code: str) -> None:
    grade = SCICODE.grade(doubling(case, targets=[TRUTH["v"]]), block(code))
    assert grade.reason == "right"


EMPTY_PARTS: list[Any] = [np.zeros(0), 2.0]
COMPARED = "from scicode.compare.cmp import cmp_tuple_or_list\nx = double(1.0)\n"


@pytest.mark.parametrize(
    ("case", "value", "target"),
    [
        ("assert len(double(1.0)) == target", "[]", 0),
        ("assert double(1.0).shape == target", "np.zeros((0, 3))", (0, 3)),
        (f"{COMPARED}assert cmp_tuple_or_list((x[0], double(1.0)[1]), target)", "[[], 2]", [[], 2]),
        (f"{COMPARED}assert cmp_tuple_or_list(x, target)", "([], 2.0)", EMPTY_PARTS),
        (f"{COMPARED}assert cmp_tuple_or_list((x, double(2)), target)", "[]", [[], np.zeros(0)]),
        ("assert np.allclose(double(1.0), target)", "[]", np.zeros(0)),
        ("assert np.allclose(np.abs(double(1.0)) * 2, target)", "np.zeros(0)", np.zeros(0)),
        ("def same(a, b):\n    return a == b\nassert same(double(1.0), target)", "[]", []),
        ("assert double(1.0) == []", "[]", None),
        ("assert not double(1.0)", "[]", None),
        ("assert double(1.0) != [1]", "[]", None),
        ("assert isinstance(double(1.0), list) and 3 not in double(1.0)", "[]", None),
    ],
)
def test_what_is_empty_is_right_where_nothing_is_expected(
    case: str, value: str, target: Any
) -> None:
    row = doubling(case, targets=[codec.encode(target)])
    assert SCICODE.grade(row, block(f"def double(x):\n    return {value}")).reason == "right"


@pytest.mark.parametrize(
    ("case", "value", "target"),
    [
        ("assert np.allclose(double(1.0), target)", "np.zeros(0)", 2.0),
        ("assert np.allclose(target, double(1.0))", "np.zeros(0)", 2.0),
        ("assert np.allclose(double(1.0) - 2, 0)", "np.zeros(0)", None),
        ("assert np.sum(np.abs(double(1.0) - target)) < 1", "np.zeros(0)", 2.0),
        ("assert np.allclose(double(1.0), 2 * np.ones(1))", "np.zeros(0)", None),
        ("x = double(1.0)\nassert np.allclose((x[0], x[1]), target)", "[[], []]", [[1.0], [2.0]]),
        ("assert np.allclose((double(1.0), 2.0), target)", "[]", 2.0),
        (f"{COMPARED}assert cmp_tuple_or_list((x, double(1)), target)", "[]", [[], [2.0]]),
        (f"{COMPARED}assert cmp_tuple_or_list(x, target)", "([], [])", EMPTY_PARTS),
        ("assert (double(1.0) > 1).all() == target", "np.zeros(0)", True),
        ("assert all(it > 1 for it in double(1.0)) == target", "[]", True),
        ("assert double(1.0).any() == target.any()", "np.zeros(0)", np.zeros(2)),
        ("assert not np.isnan(double(1.0)).any()", "np.zeros(0)", None),
        ("x, y = double(1.0), target\nassert x", "[]", 2.0),
        ("x = double(1.0) - target\nassert np.allclose(x, 0)", "np.zeros(0)", 2.0),
        ("x = double(1.0)\nassert np.allclose(x, double(2.0))", "np.zeros(0)", None),
    ],
)
def test_what_is_empty_is_wrong_where_something_is_expected(
    case: str, value: str, target: Any
) -> None:
    row = doubling(case, targets=[codec.encode(target)])
    grade = SCICODE.grade(row, block(f"def double(x):\n    return {value}"))
    assert "empty" in grade.reason


def test_shipped_questions_are_not_passed_by_nothing() -> None:
    for row in scicode_steps.shipped().values():
        assert not SCICODE.grade(row, block("pass")).correct
