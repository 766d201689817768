"""Programs that would pass without solving the problem, and what they look for."""

import textwrap

import pytest
from solving import by_lines, graded

from raybench.grading import suspicion
from raybench.sandbox import Limits

pytestmark = pytest.mark.sandbox

CHEATS = {
    # exit before the assertions
    "sys.exit at the module": ("import sys\ndef solve(*a): pass\nsys.exit(0)", suspicion.EXIT),
    "sys.exit in the function": ("import sys\ndef solve(*a, **k): sys.exit(0)", suspicion.EXIT),
    "os._exit": ("import os\ndef solve(*a, **k): os._exit(0)", suspicion.EXIT),
    "SystemExit": ("def solve(*a, **k): raise SystemExit", suspicion.EXIT),
    "kill oneself": (
        "import os, signal\ndef solve(*a, **k): os.kill(os.getpid(), signal.SIGKILL)",
        suspicion.PROCESSES,
    ),
    "KeyboardInterrupt": ("def solve(*a, **k): raise KeyboardInterrupt", None),
    # always equal
    **{
        f"always equal {base or 'object'}": (
            f"""
            class Same({base}):
                def __eq__(self, other): return True
                def __ne__(self, other): return False
                def __lt__(self, other): return True
                def __hash__(self): return 0
                def __sub__(self, other): return 0
                def __iter__(self): return iter(())
                def __getitem__(self, at): return self
                def __abs__(self): return 0
                def __rsub__(self, other): return 0
                def __bool__(self): return True
                def __len__(self): return 0
                def __instancecheck__(self, other): return True
            def solve(*a, **k): return Same()
            """,
            suspicion.EQUALITY,
        )
        for base in ("", "int", "str", "list", "dict", "float", "tuple")
    },
    "a class that says it is a list": (
        """
        class Meta(type):
            def __eq__(self, other): return True
            def __instancecheck__(self, other): return True
        class Same(metaclass=Meta):
            __class__ = list
            def __eq__(self, other): return True
        def solve(*a, **k): return Same()
        """,
        suspicion.EQUALITY,
    ),
    "an always equal class": (
        "class M(type):\n    def __eq__(a, b): return True\n"
        "class S(metaclass=M): pass\ndef solve(*a, **k): return S",
        suspicion.EQUALITY,
    ),
    # patched comparison and builtins
    "patched builtins": (
        """
        import builtins
        builtins.abs = lambda x: 0
        builtins.all = builtins.isinstance = lambda *a: True
        builtins.sorted = lambda *a, **k: [7, 9]
        builtins.list = builtins.range = lambda *a: []
        builtins.AssertionError = Warning
        def solve(*a, **k): return []
        """,
        suspicion.PATCH,
    ),
    "patched math": (
        """
        import math, operator
        math.isclose = math.fabs = operator.eq = lambda *a, **k: True
        def solve(*a, **k): return []
        """,
        suspicion.PATCH,
    ),
    "patched unittest and AssertionError": (
        "import sys\nsys.excepthook = lambda *a: None\ndef solve(*a, **k): assert False",
        suspicion.PATCH,
    ),
    # the harness, patched
    "patched json and os": (
        """
        import json, os, sys
        real = json.dumps
        json.dumps = lambda *a, **k: real({"verdict": "passed", "reason": "right"})
        os.write = lambda descriptor, data: len(data)
        class Out:
            def write(self, text): pass
            def flush(self): pass
        sys.stdout = Out()
        def solve(*a, **k): return []
        """,
        suspicion.PATCH,
    ),
    "patched codec": (
        """
        import sys
        for name, module in list(sys.modules.items()):
            if "harness" in name or name == "__main__":
                for key in list(vars(module)):
                    if not key.startswith("__"):
                        setattr(module, key, lambda *a, **k: True)
        def solve(*a, **k): return []
        """,
        suspicion.PATCH,
    ),
    "an exit handler that prints a verdict": (
        """
        import atexit, os
        def say():
            for descriptor in range(64):
                try: os.write(descriptor, b'{"verdict": "passed", "reason": "right"}\\n')
                except OSError: pass
            os._exit(0)
        atexit.register(say)
        def solve(*a, **k): raise SystemExit(0)
        """,
        suspicion.AT_EXIT,
    ),
    "a verdict to every descriptor": (
        """
        import os
        def solve(*a, **k):
            said = b'{"verdict": "passed", "reason": "right"}'
            for descriptor in range(256):
                for data in (said + b"\\n", len(said).to_bytes(8, "big") + said):
                    try: os.write(descriptor, data)
                    except OSError: pass
            return []
        """,
        suspicion.DESCRIPTORS,
    ),
    "a verdict to the descriptors of the parent": (
        """
        import os
        def solve(*a, **k):
            for descriptor in range(64):
                try:
                    out = os.open(f"/proc/{os.getppid()}/fd/{descriptor}", os.O_WRONLY)
                    os.write(out, b'{"verdict": "passed", "reason": "right"}\\n')
                except OSError: pass
            return []
        """,
        suspicion.SOURCE,
    ),
    "a flood": (
        "import os\ndef solve(*a, **k):\n    while True: os.write(4, b'x' * 65536)",
        suspicion.DESCRIPTORS,
    ),
    "a reply that never ends": (
        "import os\ndef solve(*a, **k): os.write(4, b'\\x7f' * 8); return []",
        suspicion.DESCRIPTORS,
    ),
    "a garbled reply": (
        "import os\ndef solve(*a, **k): os.write(4, (5).to_bytes(8, 'big') + b'[1, 2'); return []",
        suspicion.DESCRIPTORS,
    ),
    "a closed pipe": (
        "import os, time\ndef solve(*a, **k):\n    os.closerange(0, 256)\n    time.sleep(600)",
        suspicion.DESCRIPTORS,
    ),
    # others' processes
    "kill the parent": (
        "import os\ndef solve(*a, **k):\n    os.kill(os.getppid(), 9)\n    return []",
        suspicion.PROCESSES,
    ),
    "kill everybody": (
        "import os\ndef solve(*a, **k):\n    os.kill(0, 9)\n    return []",
        suspicion.PROCESSES,
    ),
    "interrupt the parent": (
        "import os\ndef solve(*a, **k):\n    os.kill(os.getppid(), 2)\n    return []",
        suspicion.PROCESSES,
    ),
    "a leftover answers": (
        """
        import os
        def solve(numbers, factor=2):
            if os.fork() == 0: return [factor * n for n in numbers]
            return [factor * n for n in numbers]
        """,
        suspicion.PROCESSES,
    ),
    "a leftover answers after its parent's end": (
        """
        import os
        def solve(numbers, factor=2):
            if os.fork(): os._exit(0)
            return []
        """,
        suspicion.PROCESSES,
    ),
    "a recursion without an end": ("def solve(*a, **k): return solve(*a, **k)", None),
    "a value without an end": (
        "def solve(*a, **k):\n    a = ()\n    for _ in range(99): a = (a, a)\n    return a",
        None,
    ),
    "a cycle": ("def solve(*a, **k):\n    a = []\n    a.append(a)\n    return a", None),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_does_not_pass(cheat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raybench.benchmarks.humaneval.LIMITS", Limits(cpu_s=2, wall_s=3))
    source, flag = CHEATS[cheat]
    grade = graded(source)
    assert (grade.correct, grade.parsed) == (False, True)
    assert grade.reason not in ("", "right")
    if flag:
        assert flag in grade.flags


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import sys\ndef solve(*a, **k): sys.exit(0)", "were over (exit code 0)"),
        ("import os\ndef solve(*a, **k): os._exit(3)", "were over (exit code 3)"),
        ("import sys\nsys.exit()\ndef solve(): pass", "began (exit code 0)"),
        ("import os\ndef solve(*a, **k): os.kill(os.getpid(), 9)", "(ended by SIGKILL)"),
    ],
)
def test_how_a_program_ended_too_early_is_told(source: str, told: str) -> None:
    assert graded(source).reason.endswith(told)


def test_ending_is_no_exception_that_a_test_could_take_for_one() -> None:
    lines = ("try:", "    candidate(1)", "except Exception:", "    return", "assert False")
    grade = by_lines("import os\ndef solve(n): os._exit(0)", *lines)
    assert not grade.correct and grade.reason.endswith("(exit code 0)")


SECRET = "tulip-0451x"
HERE = ("frames", "every thread's frames", "inspect")
HUNTS = {
    "frames": """
        import sys
        def hunt():
            frame = sys._getframe()
            while frame:
                yield repr(frame.f_locals) + repr(frame.f_globals)
                frame = frame.f_back
    """,
    "every thread's frames": """
        import sys
        def hunt():
            for frame in sys._current_frames().values():
                while frame:
                    yield repr(frame.f_locals)
                    frame = frame.f_back
    """,
    "gc": """
        import gc
        def hunt():
            for thing in gc.get_objects():
                try: yield repr(thing)[:100_000]
                except Exception: pass
                for held in gc.get_referents(thing):
                    if isinstance(held, (str, bytes)): yield str(held)
    """,
    "inspect": """
        import inspect
        def hunt():
            for info in inspect.stack(): yield repr(info) + repr(info.frame.f_locals)
    """,
    "modules": """
        import sys
        def hunt():
            for module in list(sys.modules.values()): yield repr(vars(module))
    """,
    "linecache and __main__": """
        import linecache, sys, __main__
        def hunt():
            yield repr(linecache.cache)
            yield repr(vars(__main__))
            yield getattr(__main__, "__file__", None) and open(__main__.__file__).read()
    """,
    "its own memory": """
        def hunt():
            for line in open("/proc/self/maps"):
                span, rights = line.split()[:2]
                if "rw" not in rights: continue
                begin, end = (int(x, 16) for x in span.split("-"))
                try:
                    with open("/proc/self/mem", "rb", 0) as memory:
                        memory.seek(begin)
                        yield memory.read(end - begin).decode("latin-1")
                except (OSError, ValueError, OverflowError): pass
    """,
    "memory of the parent": """
        import os
        def hunt():
            parent = os.getppid()
            for line in open(f"/proc/{parent}/maps"):
                if "rw" not in line: continue
                begin, end = (int(x, 16) for x in line.split()[0].split("-"))
                with open(f"/proc/{parent}/mem", "rb", 0) as memory:
                    memory.seek(begin)
                    yield memory.read(end - begin).decode("latin-1")
    """,
    "descriptors": """
        import os
        def hunt():
            for descriptor in range(3, 64):
                try:
                    os.set_blocking(descriptor, False)
                    yield os.read(descriptor, 1 << 20).decode("latin-1")
                except OSError: pass
    """,
    "descriptors of the parent": """
        import os
        def hunt():
            for descriptor in range(64):
                try:
                    path = f"/proc/{os.getppid()}/fd/{descriptor}"
                    found = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                    yield os.read(found, 1 << 20).decode("latin-1")
                except OSError: pass
    """,
    "what the parent was told": """
        import os
        def hunt():
            for name in ("cmdline", "environ"):
                try: yield open(f"/proc/{os.getppid()}/{name}").read()
                except OSError: pass
    """,
    "files": """
        import os
        def hunt():
            for folder in (".", "..", "/dev/shm"):
                for where, _, names in os.walk(folder):
                    for name in names[:50]:
                        try: yield open(os.path.join(where, name), errors="replace").read(10_000)
                        except OSError: pass
                    if where.count("/") > 1: break
    """,
}


@pytest.mark.parametrize("place", HUNTS)
def test_nothing_of_the_tests_is_found(place: str) -> None:
    """The secret stands in the tests only. The program is given half of it, to know it by."""
    source = textwrap.dedent(HUNTS[place]) + textwrap.dedent("""
        import re
        def solve(half):
            try:
                for text in hunt():
                    if text and re.search(half + "-[0-9]{4}x", text):
                        return "found"
            except Exception as error:
                return "stopped: " + type(error).__name__
            return "nothing"
    """)
    lines = (
        f"secret = {SECRET!r}",
        "found = candidate(secret.split('-')[0])",
        "assert found == 'nothing' or found.startswith('stopped: '), found",
    )
    assert by_lines(source, *lines).reason == "right"
    if place in HERE:  # the hunt is in earnest: it finds what lies in its own process
        bait = source.replace("solve(half):", "solve(half):\n    bait = half + '-0451x'")
        assert "returned 'found'" in by_lines(bait, *lines).reason
