"""Programs with both verdicts: a judge's, which counts, and the official harness'."""

import json
from typing import Any

import pytest
from contest import HEADS, SUMS, graded, heads, reply, row
from statements import values

from raybench import sandbox
from raybench.benchmarks.parts.livecodebench import running
from raybench.benchmarks.parts.livecodebench.cases import Case, Cases
from raybench.grading import suspicion
from raybench.sandbox import Limits, Outcome

RIGHT = {
    "input": ("input()\nprint(sum(map(int, input().split())))", True),
    "read": ("import sys\nprint(sum(map(int, sys.stdin.read().split()[1:])))", True),
    "readline": (
        "import sys\ninput = sys.stdin.readline\ninput()\nprint(sum(map(int, input().split())))",
        True,
    ),
    "readlines": ("import sys\nprint(sum(map(int, sys.stdin.readlines()[1].split())))", True),
    "buffer read": ("import sys\nprint(sum(map(int, sys.stdin.buffer.read().split()[1:])))", True),
    # It gives the first line whenever it is asked for one.
    "buffer readline": (
        """
        import sys
        read = sys.stdin.buffer.readline
        read()
        print(sum(map(int, read().split())))
        """,
        False,
    ),
    "one buffer readline": (
        """
        import sys
        count = int(sys.stdin.buffer.readline())
        print(sum(map(int, sys.stdin.buffer.read().split()[-count:])))
        """,
        True,
    ),
    "iteration": (
        "import sys\nlines = [line for line in sys.stdin]\nprint(sum(map(int, lines[1].split())))",
        False,
    ),
    "taken early": (
        "from sys import stdin\nstdin.readline()\nprint(sum(map(int, stdin.readline().split())))",
        False,
    ),
    "open(0)": ("print(sum(map(int, open(0).read().split()[1:])))", False),
    "os.read": ("import os\nprint(sum(map(int, os.read(0, 1 << 20).split()[1:])))", False),
    "os.write": (
        "import os\ninput()\nos.write(1, str(sum(map(int, input().split()))).encode())",
        False,
    ),
    "stdout.write": (
        "import sys\ninput()\nsys.stdout.write(str(sum(map(int, input().split()))) + '\\n')",
        True,
    ),
    "stdout.buffer": (
        """
        import sys
        input()
        sys.stdout.buffer.write(str(sum(map(int, input().split()))).encode())
        """,
        False,
    ),
    "no line end": (
        "input()\nfor x in str(sum(map(int, input().split()))): print(x, end='')",
        True,
    ),
    "global": (
        """
        total = 0
        def add(number):
            global total
            total += number
        input()
        for number in map(int, input().split()):
            add(number)
        print(total)
        """,
        False,
    ),
    "main, last": (
        """
        def main():
            input()
            print(sum(map(int, input().split())))
        if __name__ == '__main__':
            main()
        """,
        True,
    ),
    "main, not last": (
        """
        def main():
            input()
            print(sum(map(int, input().split())))
        if __name__ == '__main__':
            main()
        done = True
        """,
        False,
    ),
    "class Solution": (
        """
        class Solution:
            def solve(self):
                input()
                return sum(map(int, input().split()))
        print(Solution().solve())
        """,
        False,
    ),
    "generators and classes": (
        """
        from dataclasses import dataclass
        @dataclass
        class Numbers:
            numbers: list
            def __iter__(self):
                yield from self.numbers
        input()
        print(sum(number for number in Numbers([*map(int, input().split())])))
        """,
        True,
    ),
    "from the future": (
        """
        from __future__ import annotations
        def add(numbers: list[int]) -> int:
            return sum(numbers)
        input()
        print(add([*map(int, input().split())]))
        """,
        False,
    ),
    "sys.exit(0)": (
        "import sys\ninput()\nprint(sum(map(int, input().split())))\nsys.exit(0)",
        True,
    ),
    "exit()": ("input()\nprint(sum(map(int, input().split())))\nexit()", True),
    "quit()": ("input()\nprint(sum(map(int, input().split())))\nquit()", False),
    "os._exit": (
        "import os\ninput()\nprint(sum(map(int, input().split())), flush=True)\nos._exit(0)",
        False,
    ),
    "atexit": (
        "import atexit\ninput()\natexit.register(print, sum(map(int, input().split())))",
        False,
    ),
    "a thread with a large stack": (
        """
        import sys, threading
        sys.setrecursionlimit(10 ** 6)
        threading.stack_size(128 * 2 ** 20)
        def add(numbers):
            return numbers.pop() + add(numbers) if numbers else 0
        def main():
            input()
            numbers = [*map(int, input().split())]
            assert add([1] * 50_000) == 50_000
            print(add(numbers))
        thread = threading.Thread(target=main)
        thread.start()
        thread.join()
        """,
        True,
    ),
    "a hundred thousand calls deep": (
        """
        import sys
        sys.setrecursionlimit(200_000)
        def down(depth):
            return down(depth - 1) if depth else 0
        input()
        print(sum(map(int, input().split())) + down(100_000))
        """,
        True,
    ),
    "fork": (
        """
        import os
        input()
        if os.fork():
            os.wait()
        else:
            print(sum(map(int, input().split())))
        """,
        False,
    ),
}
"""Programs that are right, and whether the official harness says so."""


@pytest.mark.sandbox
@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_are_right_in_every_style(name: str) -> None:
    program, official = RIGHT[name]
    grade = graded(program)
    assert (grade.correct, grade.reason) == (True, "right")
    assert (grade.details["passed"], grade.details["tests"]) == (2, 2)
    assert grade.details["official"] is official, grade.details["official_reason"]
    assert graded(program, compat="official").correct is official


@pytest.mark.sandbox
def test_the_last_line_of_an_input_ends_as_at_the_contest() -> None:
    cut = row([("12\n34", "46\n")])
    source = """
        import sys
        print(sum(int(sys.stdin.readline()[:-1]) for _ in range(2)))
    """
    assert graded(source, cut).reason == "right"


@pytest.mark.sandbox
def test_what_is_said_beside_the_output_does_not_count() -> None:
    source = """
        import sys
        for _ in range(60_000): print("so far, so good: " * 2, file=sys.stderr)
        input()
        print(sum(map(int, input().split())))
    """
    assert graded(source).reason == "right"


@pytest.mark.sandbox
def test_an_empty_line_is_an_end_to_the_official_harness() -> None:
    question = row([("1\n\n2\n", "3\n")])
    grade = graded("a = input()\ninput()\nprint(int(a) + int(input()))", question)
    assert grade.correct
    assert "EOFError" in values(grade.details["official_reason"])["wrong"]


LENIENT = {
    "its imports": "input()\nprint(reduce(add, map(int, input().split())))",
    "its recursion limit": (
        "def down(depth):\n    return down(depth - 1) if depth else 0\n"
        "input()\nprint(sum(map(int, input().split())) + down(20_000))"
    ),
    "an exit code": "import sys\ninput()\nprint(sum(map(int, input().split())))\nsys.exit(3)",
}
"""Programs that only the official harness calls right."""


@pytest.mark.sandbox
@pytest.mark.parametrize("name", LENIENT)
def test_what_only_the_official_harness_passes_is_wrong(name: str) -> None:
    grade = graded(LENIENT[name])
    assert (grade.correct, grade.details["official"]) == (False, True)
    assert values(grade.reason)["number"] == 1
    assert values(grade.reason)["wrong"].startswith("runtime error: ")
    assert graded(LENIENT[name], compat="official").correct


def assert_failed(reason: str, number: int, wrong: str) -> None:
    """Look at which test failed and how."""
    told = values(reason)
    assert told["number"] == number and told["wrong"].startswith(wrong)


WRONG = {
    "first": ("print(0)", (1, "wrong answer"), 0),
    "second": ("print(6)", (2, "wrong answer"), 1),
    "silent": ("pass", (1, "wrong answer"), 0),
    "more": (
        "input()\nprint(sum(map(int, input().split())), 'done')",
        (1, "wrong answ"),
        0,
    ),
    "error": ("1 / 0", (1, "runtime error: ZeroDivisionError: division by zero"), 0),
    "after its answer": (
        "input()\nprint(sum(map(int, input().split())))\nraise KeyError('late')",
        (1, "runtime error: KeyError: 'late'"),
        0,
    ),
    "syntax": ("print(", (1, "runtime error: SyntaxError: '(' was never closed"), 0),
    "asks for more": ("input(), input(), input()", (1, "runtime error: EOFError: EOF"), 0),
}


@pytest.mark.sandbox
@pytest.mark.parametrize("name", WRONG)
def test_wrong_programs_are_wrong_and_told_why(name: str) -> None:
    program, reason, passed = WRONG[name]
    grade = graded(program)
    assert not grade.correct
    assert_failed(grade.reason, *reason)
    assert (grade.details["passed"], grade.details["official"]) == (passed, False)
    assert grade.parsed


@pytest.mark.sandbox
@pytest.mark.parametrize("program", ["while True: pass", "import time\ntime.sleep(60)"])
def test_slow_programs_are_stopped(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "TEST_S", 1)
    grade = graded(program)
    assert grade.reason == grade.details["official_reason"]
    assert values(grade.reason) == {"number": 1, "total": 2, "wrong": running.LATE}
    assert grade.details["slowest_s"] >= 1


@pytest.mark.sandbox
def test_a_program_that_survives_the_official_alarm_is_stopped_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "TEST_S", 1)
    monkeypatch.setattr(running, "_SPARE_S", 0)
    grade = graded("while True:\n    try:\n        while True: pass\n    except Exception: pass")
    assert values(grade.details["official_reason"])["wrong"] == running.LATE


# ---------------------------------------------------------------------------------------- functions

FUNCTIONS = {
    "method": ("class Solution:\n    def head(self, a: List[int], k: int): return a[:k]", True),
    "function": ("def head(a, k): return a[:k]", True),
    "tuple": ("def head(a, k): return tuple(a[:k])", True),
    "its imports": ("def head(a, k): return list(islice(a, k)) + [inf] * 0", True),
    "numpy": ("import numpy as np\ndef head(a, k): return [np.int64(x) for x in a[:k]]", True),
    "prints": ("def head(a, k):\n    print('[9]')\n    return a[:k]", True),
    "writes": ("import os\ndef head(a, k):\n    os.write(1, b'[9]')\n    return a[:k]", True),
    "a dataclass of the future": (
        """
        from __future__ import annotations
        from dataclasses import dataclass
        @dataclass
        class Part:
            list: List[int]
        def head(a, k): return Part(a[:k]).list
        """,
        False,
    ),
    "what stays behind": (
        """
        seen = []
        class Solution:
            def head(self, a, k):
                seen.extend(a[:k])
                return seen
        """,
        False,
    ),
    "a function beside a class": (
        "class Solution: pass\ndef head(a, k): return a[:k]",
        False,
    ),
    "not the main program": (
        "def head(a, k): return a[:k]\nif __name__ == '__main__': raise SystemExit(1)",
        True,
    ),
    "deep": (
        "def down(n): return down(n - 1) if n else 0\ndef head(a, k): return a[down(20000):k]",
        True,
    ),
}


@pytest.mark.sandbox
@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_functions_are_right(name: str) -> None:
    program, official = FUNCTIONS[name]
    grade = heads(program)
    assert (grade.correct, grade.reason, grade.details["passed"]) == (True, "right", 3)
    assert grade.details["official"] is official, grade.details["official_reason"]


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("def head(a, k): return a", (1, "wrong answer")),
        ("def head(a, k): return a[:k] or [5]", (2, "wrong answer")),
        ("def head(a, k): yield from a[:k]", (1, "wrong answer")),
        ("def head(a, k): return str(a[:k])", (1, "wrong answer")),
        ("def head(a): return a", (1, "runtime error: TypeError: head() takes 1 posi")),
        ("def tail(a, k): return a", (1, "runtime error: AttributeError: module 'solut")),
        ("def head(a, k): return a[", (1, "runtime error: SyntaxError: '[' was never cl")),
    ],
)
def test_wrong_functions_are_wrong_and_told_why(program: str, reason: tuple[int, str]) -> None:
    grade = heads(program)
    assert not grade.correct
    assert_failed(grade.reason, *reason)
    assert grade.details["official"] is False


@pytest.mark.sandbox
@pytest.mark.parametrize("given", ["[[1,2]]", "[[2,1]]"])
def test_a_tuple_is_a_list_only_as_the_whole_result(given: str) -> None:
    question = row([(given, given)], function="same")
    assert graded("def same(a): return tuple(a)", question).correct
    grade = graded("def same(a): return [tuple(x) for x in a]", question)
    assert (grade.correct, grade.details["official"]) == (False, False)


# ------------------------------------------------------------------------------------------- cheats

CHEATS = {
    "equal to everything": """
        class Any(list):
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            __hash__ = None
        def head(a, k): return Any()
        """,
    "equal to everything, no list": """
        class Any:
            def __eq__(self, other): return True
        def head(a, k): return Any()
        """,
    "its type's own idea of its items": """
        class Any(list):
            def __iter__(self): return iter([1, 2])
            def __len__(self): return 2
            def __getitem__(self, item): return [1, 2][item]
        def head(a, k): return Any()
        """,
    "exit at once": "import sys\nsys.exit(0)",
    "exit in the function": "import os\ndef head(a, k): os._exit(0)",
    "claims on the way out": """
        import os
        def head(a, k):
            for descriptor in range(3, 64):
                for text in (b'true', b'{"right": true}', b'{"passed": 3}', b'null'):
                    try: os.write(descriptor, text)
                    except OSError: pass
            os._exit(0)
        """,
    "patched encoders": """
        import json, builtins, os
        json.dumps = lambda value, **_: '{"tuple": "right"}'
        json.encoder.JSONEncoder.encode = lambda self, value: 'true'
        builtins.isinstance = lambda value, kind: True
        builtins.list = builtins.tuple = object
        def head(a, k): return object()
        """,
    "what the harness knows": """
        import gc, sys
        def head(a, k):
            frame, found = sys._getframe(), []
            while frame:
                found += [*frame.f_locals.values(), *frame.f_globals.values()]
                frame = frame.f_back
            found += gc.get_objects()
            for each in found:
                if isinstance(each, dict):
                    for name in ('expected', 'output', 'outputs', 'gt_out'):
                        if name in each: return each[name]
                if hasattr(each, 'expected'): return each.expected
            return None
        """,
    "what lies about": """
        import glob, os
        def head(a, k):
            paths = ['/proc/self/environ', '/proc/self/cmdline']
            for path in [*paths, *glob.glob('**', recursive=True)]:
                try: text = open(path).read()
                except Exception: continue
                if '"output"' in text or 'expected' in text:
                    return text
            return None
        """,
    "the harness, replaced": """
        import sys
        main = sys.modules['__main__']
        for name in ('encoded', 'apart', 'functional', 'official'):
            if hasattr(main, name): setattr(main, name, lambda *_: [1, 2])
        def head(a, k): raise SystemExit(0)
        """,
}


@pytest.mark.sandbox
@pytest.mark.parametrize("name", CHEATS)
def test_cheating_functions_do_not_pass(name: str) -> None:
    grade = heads(CHEATS[name])
    assert not grade.correct
    assert grade.details["passed"] == 0
    assert grade.details["official"] is False


PRINTED = {
    "exit": "import sys\nsys.exit(0)",
    "patched print": "import builtins\nbuiltins.print = lambda *_: True\nprint('6')",
    "always equal text": """
        class Any(str):
            def __eq__(self, other): return True
            __hash__ = str.__hash__
        print(Any())
        """,
    "claims": 'print(\'right\')\nprint(\'{"right": true, "gave": "6"}\')',
    "official frames": """
        import sys
        frame = sys._getframe()
        while frame:
            for values in (frame.f_locals, frame.f_globals):
                for name in ('expected', 'outputs', 'all_outputs', 'gt_out', 'in_outs'):
                    if name in values: print(values[name])
            frame = frame.f_back
        """,
}


@pytest.mark.sandbox
@pytest.mark.parametrize("name", PRINTED)
def test_cheating_programs_do_not_pass(name: str) -> None:
    grade = graded(PRINTED[name])
    assert (grade.correct, grade.details["official"]) == (False, False)


@pytest.mark.sandbox
def test_a_result_that_is_forged_has_to_be_right_all_the_same() -> None:
    """A program may answer through whatever it finds; knowing the answer is no cheat."""
    forged = """
        import os
        def head(a, k):
            for descriptor in range(3, 64):
                try: os.write(descriptor, str(a[:k]).encode())
                except OSError: pass
            os._exit(0)
        """
    assert heads(forged).correct
    assert not heads(forged.replace("a[:k]", "a")).correct


class Sandbox:
    """Notes what it is given, and runs it."""

    def __init__(self) -> None:
        self.given: list[tuple[str, dict[str, Any]]] = []
        self._run = sandbox.run

    def run(self, source: str, **how: Any) -> Outcome:
        self.given.append((source, how))
        return self._run(source, **how)


@pytest.fixture
def noting(monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    found = Sandbox()
    monkeypatch.setattr(sandbox, "run", found.run)
    return found


@pytest.mark.sandbox
@pytest.mark.parametrize("function", [None, "head"])
def test_expected_outputs_stay_out_of_the_sandbox(noting: Sandbox, function: str | None) -> None:
    question = row([("[1,2]\n1", "[918273]")] * 2, [("[3]\n1", "[918273]")], function=function)
    assert not graded("def head(a, k): return a[:k]\nprint(1)", question).correct
    assert len(noting.given) == 2
    assert "918273" not in str(noting.given)


@pytest.mark.sandbox
def test_inputs_are_given_one_at_a_time_with_the_limits_of_the_methodology(
    noting: Sandbox,
) -> None:
    assert graded(RIGHT["input"][0]).correct
    *strict, (source, official) = noting.given
    assert [how["stdin"] for _, how in strict] == [given for given, _ in SUMS]
    for program, how in strict:
        assert reply(program).strip() == reply(RIGHT["input"][0]).strip()
        limits = how["limits"]
        assert (limits.cpu_s, limits.wall_s, limits.memory_mb) == (6, 12, 4096)
    assert (official["limits"].cpu_s, official["limits"].wall_s) == (19, 19)
    assert RIGHT["input"][0] not in source


@pytest.mark.sandbox
def test_the_official_harness_gets_no_more_inputs_than_it_needs_to_fail(noting: Sandbox) -> None:
    grade = heads("def head(a, k): return a[:k] or [7]")
    assert grade.details["official_reason"] == grade.reason
    assert values(grade.reason)["number"] == 2
    assert HEADS[1][0].split("\n")[0] in noting.given[-1][1]["stdin"]
    assert HEADS[2][0].split("\n")[0] not in noting.given[-1][1]["stdin"]


@pytest.mark.sandbox
def test_what_the_official_harness_passes_up_to_there_it_gets_whole(noting: Sandbox) -> None:
    question = row([*SUMS, ("1\n7\n", "7\n")])
    grade = graded(LENIENT["its imports"], question)
    assert (grade.correct, grade.details["official"]) == (False, True)
    assert [how["stdin"].count("inputs") for _, how in noting.given] == [0, 1, 1]


@pytest.mark.sandbox
def test_the_profile_is_the_programs(noting: Sandbox) -> None:
    assert heads("import numpy\ndef head(a, k): return a[:k]").correct
    assert {how["profile"] for _, how in noting.given} == {"scientific"}
    noting.given.clear()
    assert heads("def head(a, k): return a[:k]").correct
    assert {how["profile"] for _, how in noting.given} == {"plain"}


# ------------------------------------------------------------------------------ what a run comes to


def outcome(**changes: Any) -> Outcome:
    values: dict[str, Any] = {
        "status": "ok", "reason": "", "exit_code": 0, "signal": None, "cpu_s": 0.1, "wall_s": 0.2,
        "memory_mb": 9.0, "stdout": "6\n", "stderr": "", "cut": (),
        "backend": "namespaces", "kernel": "6.1", "python": "3.12.1", "limits": Limits(),
    }  # fmt: skip
    return Outcome(**values | changes)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": "memory"}, (1, "memory limit")),
        ({"status": "output"}, (1, "output limit")),
        ({"cut": ("stdout",)}, (1, "wrong answer: too much output")),
        (
            {"status": "killed", "reason": "killed by signal 9", "signal": 9},
            (1, "runtime error: killed by signal 9"),
        ),
        (
            {"status": "error", "stderr": "Trace\nOops: \x1b[31m" + "a b" * 200 + "\n\n"},
            (1, "runtime error: Oops: [31m"),
        ),
    ],
)
def test_how_a_run_ended_is_told_in_words(
    changes: dict[str, Any], reason: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "run", lambda *_, **__: outcome(**changes))
    verdict = running.strictly("", Cases(None, (Case("", "6"),)))
    assert (verdict.right, verdict.passed) == (False, 0)
    assert_failed(verdict.reason, *reason)
    assert len(verdict.reason) < 300


@pytest.mark.parametrize(
    "stdout",
    ["", "[]", "6", "null", '{"gave": "6"}', "[1]", '[{"gave": "7"}]', "[{}]", "[" * 100_000],
)
def test_what_the_official_harness_did_not_tell_is_no_pass(
    stdout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "run", lambda *_, **__: outcome(stdout=stdout))
    assert not running.officially("", Cases(None, (Case("", "6"),))).right


def test_room_for_output_grows_with_what_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def run(source: str, **how: Any) -> Outcome:
        given.append(how["limits"])
        return outcome(stdout="1" * 2**25)

    monkeypatch.setattr(sandbox, "run", run)
    assert running.strictly("", Cases(None, (Case("", "1" * 2**25),))).right
    assert given[0].output_kept_mb > 32 * 2
    assert given[0].output_killed_mb > given[0].output_kept_mb


@pytest.mark.sandbox
def test_details_hold_what_the_journal_keeps() -> None:
    details = graded(RIGHT["input"][0]).details
    assert details.keys() == {
        *("tests", "passed", "slowest_s", "memory_mb", "backend", "python", "kernel"),
        *("official", "official_reason", "crowded"),
    }
    assert details["slowest_s"] > 0


@pytest.mark.parametrize(
    ("status", "cpu_s", "stdout", "crowded"),
    [
        ("ok", 0.1, "6\n", False),
        ("timeout", 6.5, "", False),
        ("timeout", 1.0, "", True),
        ("error", 0.1, "", False),
    ],
)
def test_a_time_limit_that_may_be_others_doing_is_marked(
    status: str, cpu_s: float, stdout: str, crowded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(source: str, *, limits: Limits, **how: Any) -> Outcome:
        official = json.dumps([{"gave": "6"}] * 2) if "official(" in source else stdout
        limits = Limits(cpu_s=6, wall_s=12)
        return outcome(status=status, cpu_s=cpu_s, wall_s=12.0, stdout=official, limits=limits)

    monkeypatch.setattr(sandbox, "run", run)
    assert graded("print(6)", row([SUMS[0]] * 2)).details["crowded"] is crowded


def test_an_official_alarm_that_a_judge_did_not_hear_is_marked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(source: str, **how: Any) -> Outcome:
        late = json.dumps([{"error": running.LATE}])
        return outcome(stdout=late if "official(" in source else "6")

    monkeypatch.setattr(sandbox, "run", run)
    details = graded("print(6)", row([SUMS[0]])).details
    assert (details["official"], details["crowded"]) == (False, True)
    assert running.LATE in running._INSIDE


@pytest.mark.sandbox
def test_suspicious_constructs_are_flagged() -> None:
    assert heads(CHEATS["equal to everything"]).flags == (suspicion.EQUALITY,)
    assert heads(FUNCTIONS["writes"][0]).flags == (suspicion.DESCRIPTORS,)
    for honest in ("input", "os.write", "sys.exit(0)", "atexit", "a thread with a large stack"):
        assert graded(RIGHT[honest][0]).flags == ()
