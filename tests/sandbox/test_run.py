"""Programs in the sandbox, for real: how they end, and what is told of it."""

import errno
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from statements import code, values

from raybench import sandbox
from raybench.sandbox import Limits, Outcome, Settings, selftest, supervise
from raybench.sandbox.errors import SandboxFaultError, SandboxUnavailableError
from raybench.sandbox.inside.watch import Proc
from raybench.sandbox.runner import Runner
from raybench.sandbox.server import FaultError, Server

pytestmark = pytest.mark.sandbox

RUNS = int(os.environ.get("RAYBENCH_SANDBOX_RUNS", "2000"))
"""Of the longest test: 10,000 take minutes."""
FEW_RUNS = 100
SMALL = Limits(cpu_s=1, wall_s=2, memory_mb=128, disk_mb=4, files=64, processes=8)


@pytest.fixture
def landlock() -> Iterator[Runner]:
    """Yield runs that share the host's namespaces; skip where this kernel cannot bound them."""
    runner = Runner(Settings("landlock"))
    try:
        runner.run("", "", {}, Limits(), "plain")
    except SandboxUnavailableError as error:
        pytest.skip(str(error))
    yield runner
    runner.close()


def lines(source: str, **given: object) -> list[str]:
    outcome = sandbox.run(source, **given)  # type: ignore[arg-type]
    assert outcome.ok, outcome
    return outcome.stdout.splitlines()


# ------------------------------------------------------------------------------ how programs end


@pytest.mark.parametrize(
    ("source", "status", "exit_code", "number", "reason"),
    [
        ("", "ok", 0, None, ("ended.by_itself",)),
        ("raise SystemExit", "ok", 0, None, ("ended.by_itself",)),
        ("exit(0)", "ok", 0, None, ("ended.by_itself",)),
        ("import sys; sys.exit(3)", "error", 3, None, ("ended.exit", 3)),
        ("raise SystemExit('why')", "error", 1, None, ("ended.error", "why")),
        ("1/0", "error", 1, None, ("ended.error", "ZeroDivisionError: division by zero")),
        ("x =", "error", 1, None, ("ended.error", "SyntaxError: invalid syntax")),
        ("import os; os._exit(7)", "error", 7, None, ("ended.exit", 7)),
        ("import os; os.abort()", "error", None, signal.SIGABRT, ("ended.signal", "SIGABRT")),
        (
            "import os; os.kill(os.getpid(), 15)",
            "error",
            None,
            signal.SIGTERM,
            ("ended.signal", "SIGTERM"),
        ),
        (
            "import os; os.kill(os.getpid(), 9)",
            "killed",
            None,
            signal.SIGKILL,
            ("ended.killed", "SIGKILL"),
        ),
        (
            "import os; os.kill(os.getpid(), 24)",
            "error",
            None,
            signal.SIGXCPU,
            ("ended.signal", "SIGXCPU"),
        ),
        ("while True: pass", "timeout", None, None, ("ended.cpu", 1)),
        ("raise ValueError('a\\nb')", "error", 1, None, ("ended.error", "ValueError: a")),
        (
            "raise ExceptionGroup('all', [ValueError('b')])",
            "error",
            1,
            None,
            ("ended.error", "ValueError: b"),
        ),
        ("x = (", "error", 1, None, ("ended.error", "SyntaxError: '(' was never closed")),
        ("import time; time.sleep(60)", "timeout", None, None, ("ended.wall", 2)),
        ("bytearray(1 << 30)", "memory", 1, None, ("ended.memory_error", 128)),
        ("while True: print('x' * 9999)", "output", None, None, ("ended.output", 64)),
    ],
)
def test_every_end_is_told_as_it_was(
    source: str,
    status: str,
    exit_code: int | None,
    number: int | None,
    reason: tuple[str | int, ...],
) -> None:
    """The reason is a code, and what else it names."""
    # What waits is stopped by the clock; nothing else is to be, however busy the machine.
    limits = SMALL if "sleep" in source else replace(SMALL, wall_s=60)
    outcome = sandbox.run(source, limits=limits)
    assert (outcome.status, outcome.exit_code) == (status, exit_code)
    assert code(outcome.reason) == reason[0]
    assert {*reason[1:]} <= {*values(outcome.reason).values()}
    assert outcome.signal == number
    assert outcome.ok == (status == "ok")


def test_memory_of_all_processes_counts_together() -> None:
    source = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        held = b"x" * (60 << 20)
        time.sleep(60)
os.wait()
"""
    outcome = sandbox.run(source, limits=replace(SMALL, wall_s=60))
    assert (outcome.status, code(outcome.reason)) == ("memory", "ended.memory")
    assert values(outcome.reason) == {"mib": 128}
    assert outcome.memory_mb > 128


def test_what_processes_have_in_common_counts_once() -> None:
    source = """
import os, time
held = b"x" * (60 << 20)
for _ in range(4):
    if os.fork() == 0:
        time.sleep(0.3)
        os._exit(0)
for _ in range(4):
    os.wait()
"""
    assert sandbox.run(source, limits=replace(SMALL, wall_s=60)).ok


def test_who_takes_long_to_look_at_goes_on_afterwards() -> None:
    source = """
import mmap, os, time
held = b"x" * (60 << 20)
kind, rights = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, (mmap.PROT_READ, mmap.PROT_WRITE)
maps = [mmap.mmap(-1, mmap.PAGESIZE, kind, prot=rights[i % 2]) for i in range(6000)]
for _ in range(3):
    if os.fork() == 0:
        until = time.process_time() + 0.1
        while time.process_time() < until:
            pass
        os._exit(0)
assert all(os.wait()[1] == 0 for _ in range(3))
print("done")
"""
    outcome = sandbox.run(source, limits=replace(SMALL, wall_s=60, processes=16))
    assert (outcome.status, outcome.stdout) == ("ok", "done\n"), outcome


def test_a_program_that_starts_another_does_not_hold_its_memory_twice() -> None:
    source = """
import subprocess
held = b"x" * (80 << 20)
for _ in range(150):
    subprocess.run(["/bin/true"], check=True)
"""
    outcome = sandbox.run(source, limits=replace(SMALL, cpu_s=30, wall_s=60))
    assert (outcome.status, outcome.stderr) == ("ok", "")
    assert 70 < outcome.memory_mb < 128


def test_time_is_told_apart() -> None:
    # Its time counts from when this process sees that it has begun, which may be late.
    outcome = sandbox.run("import time; time.sleep(2)")
    assert outcome.wall_s > 0.5 > outcome.cpu_s
    outcome = sandbox.run("import time\nwhile time.process_time() < 0.3: pass")
    assert outcome.cpu_s >= 0.25


def test_a_time_out_with_cpu_time_left_may_be_the_machines_fault() -> None:
    assert sandbox.run("import time; time.sleep(60)", limits=SMALL).crowded
    assert not sandbox.run("while True: pass", limits=replace(SMALL, wall_s=60)).crowded
    assert not sandbox.run("").crowded


IDLERS = {
    "sleeps": "import time; time.sleep(60)",
    "waits for another": "import subprocess; subprocess.run(['sleep', '60'])",
    "waits for one after the other": "import os\nwhile True: os.system('sleep 0.2')",
    "waits in a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,))"
    ".start()",
    "sleeps often": "import time\nwhile True: time.sleep(0.001)",
}


@pytest.mark.parametrize("how", IDLERS)
def test_who_does_nothing_by_choice_is_stopped_for_it(how: str) -> None:
    outcome = sandbox.run(IDLERS[how], limits=replace(SMALL, idle_s=1.0, wall_s=60))
    assert (outcome.status, outcome.crowded) == ("timeout", False)
    assert code(outcome.reason) == "ended.idle" and values(outcome.reason) == {"seconds": 1}


def test_who_is_kept_from_the_processor_has_not_been_idle() -> None:
    """More of them than there are cores: each waits for longer than it may be idle."""
    limits = replace(SMALL, cpu_s=0.6, idle_s=0.3, wall_s=120)
    source = "import threading\ndef f():\n    while True: pass\n"
    sources = [
        source + "f()",
        source + "threading.Thread(target=f).start()",
        "import subprocess, sys\nwhile True: subprocess.run([sys.executable, '-Sc', '2 ** 10'])",
    ]
    crowd = sources * (2 * (os.cpu_count() or 2))
    with ThreadPoolExecutor(len(crowd)) as threads:
        ended = [*threads.map(lambda it: sandbox.run(it, limits=limits), crowd)]
    assert {code(it.reason) for it in ended} == {"ended.cpu"}
    assert max(it.wall_s - it.cpu_s for it in ended) > 0.3


def test_where_the_kernel_tells_nothing_nobody_is_said_to_be_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = Proc.read

    def silent(proc: Proc, path: str) -> str:
        return "" if path.endswith("schedstat") else read(proc, path)

    monkeypatch.setattr(Proc, "read", silent)
    outcome = sandbox.run("import time; time.sleep(60)", limits=replace(SMALL, idle_s=0.1))
    assert outcome.crowded and code(outcome.reason) == "ended.wall"


def test_peak_memory_is_the_programs_own() -> None:
    assert sandbox.run("").memory_mb < 20
    held = sandbox.run("held = b'x' * (100 << 20)").memory_mb
    assert 90 < held < 130


def test_output_is_kept_from_both_ends() -> None:
    limits = Limits(output_kept_mb=0.01)
    outcome = sandbox.run("print('begin', 'x' * 99_999, 'end')", limits=limits)
    assert outcome.truncated
    assert outcome.stdout.startswith("begin")
    assert outcome.stdout.endswith("end\n")
    assert "bytes left" in outcome.stdout
    assert len(outcome.stdout) < 11_000


def test_what_cannot_be_read_as_text_does_not_break_the_outcome() -> None:
    outcome = sandbox.run(r"import os; os.write(1, b'\xff\x00ok'); os.write(2, b'\xfe')")
    assert outcome.ok
    assert outcome.stdout == "\ufffd\x00ok"


# -------------------------------------------------------------------- what programs find in there


def test_input_files_and_folder() -> None:
    found = lines(
        "import os; print(input()); print(sorted(os.listdir('.'))); print(open('a/b').read())",
        stdin="first\nsecond",
        files={"a/b": b"content", "c": b""},
    )
    assert found == ["first", "['a', 'c']", "content"]


def test_input_that_nobody_reads_is_no_hindrance() -> None:
    assert lines("print('done')", stdin="x" * (8 << 20)) == ["done"]


def test_large_input_arrives_whole() -> None:
    text = "".join(map(str, range(400_000)))
    assert lines("import sys, zlib; print(zlib.crc32(sys.stdin.buffer.read()))", stdin=text) == [
        str(zlib.crc32(text.encode()))
    ]


def test_the_ends_of_lines_are_left_as_they_are() -> None:
    program = "import sys; print(ascii(input()), ascii(sys.stdin.read()))"
    assert lines(program, stdin="a\r\nb\rc\r\n") == [r"'a\r' 'b\rc\r\n'"]


def test_input_is_a_file_as_at_contests() -> None:
    source = """
import io, os, sys
print(len(os.read(0, os.fstat(0).st_size)))
sys.stdin.seek(0)
print(len(sys.stdin.read()))
try:
    os.write(0, b"x")
except OSError as error:
    print(error.errno)
"""
    assert lines(source, stdin="1234567\n" * 20_000) == ["160000", "160000", str(errno.EBADF)]


def test_files_may_be_modules() -> None:
    assert lines("import helper; print(helper.x)", files={"helper.py": b"x = 5"}) == ["5"]
    assert sandbox.run("import helper").status == "error"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/etc/passwd", "../up", "a/../../up", "a//b", "a/", "nul\0"]
)
def test_files_lie_below_the_programs_folder(name: str) -> None:
    with pytest.raises(ValueError, match="folder"):
        sandbox.run("", files={name: b""})


def test_arguments_that_cannot_be_are_told_before_anything_runs() -> None:
    with pytest.raises(ValueError, match="'a/b'"):
        sandbox.run("", files={"a": b"", "a/b": b""})
    with pytest.raises(ValueError, match="'a' is a str"):
        sandbox.run("", files={"a": "text"})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match=r"'scientfic'.* plain, scientific"):
        sandbox.run("", profile="scientfic")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 1e300, None, "1", True])
@pytest.mark.parametrize("name", ["cpu_s", "wall_s", "memory_mb", "files", "output_kept_mb"])
def test_limits_bound_something(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"Limits.{name} is"):
        Limits(**{name: value})


def test_how_long_a_program_may_be_idle_is_a_number_or_left_to_the_clock() -> None:
    assert Limits().idle_s is None
    with pytest.raises(ValueError, match=r"Limits\.idle_s is 0"):
        Limits(idle_s=0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"source": b"1"}, "source is a bytes"),
        ({"stdin": b"1"}, "stdin is a bytes"),
        ({"limits": {"cpu_s": 1}}, "limits is a dict"),
        ({"files": {"a": bytes(2**20)}, "limits": Limits(disk_mb=1)}, None),
        ({"files": {"a": bytes(2**20 + 1)}, "limits": Limits(disk_mb=1)}, "1,048,577 bytes"),
        (
            {"files": {str(it): b"" for it in range(9)}, "limits": Limits(files=16)},
            "9 are",
        ),
        ({"files": ["a"]}, "files is a list"),
        ({"files": {Path("a"): b""}}, "PosixPath"),
        ({"files": {"é" * 128: b""}}, "255 bytes"),
    ],
)
def test_what_nothing_could_be_run_with_is_told_at_once(
    given: dict[str, Any], told: str | None
) -> None:
    if told is None:
        assert sandbox.run(**{"source": "", **given}).status
        return
    with pytest.raises(ValueError, match=told):
        sandbox.run(**{"source": "", **given})


def test_limits_that_are_counts_are_whole() -> None:
    with pytest.raises(ValueError, match=r"Limits\.processes is 1\.5"):
        Limits(processes=1.5)  # type: ignore[arg-type]


def test_the_environment_holds_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYBENCH_SECRET", "s3cret")
    found = lines("import os; print(os.environ.get('TZ'), hash('a'), *os.environ)")
    again = lines("import os; print(os.environ.get('TZ'), hash('a'), *os.environ)")
    assert found == again
    assert "RAYBENCH_SECRET" not in found[0]


def test_a_mark_before_the_first_line_is_left_out() -> None:
    assert lines("\ufeffprint(1)") == ["1"]


def test_programs_run_in_a_main_of_their_own() -> None:
    source = """
import __main__, inspect, pickle, sys
class Thing:
    pass
print(__name__, __main__.Thing is Thing, type(pickle.loads(pickle.dumps(Thing()))) is Thing)
print(inspect.getsource(Thing).strip().splitlines()[-1].strip(), sys.argv)
"""
    assert lines(source) == ["__main__ True True", "pass ['main.py']"]


def test_tracebacks_show_the_program_and_nothing_of_ours() -> None:
    outcome = sandbox.run("def fail():\n    raise KeyError('here')\n\nfail()")
    shown = outcome.stderr.splitlines()
    frames = re.findall(r'File "(.+)", line (\d+), in (\S+)', outcome.stderr)
    assert frames == [("main.py", "4", "<module>"), ("main.py", "2", "fail")]
    assert (len(shown), shown[2].strip(), shown[-1]) == (6, "fail()", "KeyError: 'here'")


def test_what_is_left_to_do_at_the_end_is_done() -> None:
    source = """
import atexit, threading, time
atexit.register(print, "exit")
threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
print("main")
"""
    assert lines(source) == ["main", "thread", "exit"]


@pytest.mark.parametrize(
    ("source", "stdout"),
    [
        ("import sys; print('a'); sys.stdout.close()", "a\n"),
        ("import io, sys; print('a'); sys.stdout = io.StringIO(); print('b')", "a\n"),
        ("import os; out = os.fdopen(1, 'w'); out.write('a')", "a"),
        ("class A:\n    def __del__(self): print('a')\nkept = A()", "a\n"),
        ("open('helper.py', 'w').write('A = 1')\nimport helper; print(helper.A)", "1\n"),
        ("print(type(__builtins__).__name__)", "module\n"),
        ("open('/dev/stdout', 'w').write('a')", "a"),
        ("open('/proc/self/fd/1', 'a').write('a')", "a"),
    ],
)
def test_what_python_does_at_its_own_end_is_done(source: str, stdout: str) -> None:
    outcome = sandbox.run(source)
    assert (outcome.status, outcome.stdout, outcome.stderr) == ("ok", stdout, "")


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("256", 0), ("-1", 255), ("2**64", 255), ("True", 1), ("3.0", 1)],
)
def test_exit_codes_are_what_python_makes_of_them(code: str, exit_code: int) -> None:
    outcome = sandbox.run(f"raise SystemExit({code})")
    assert (outcome.exit_code, outcome.ok) == (exit_code, exit_code == 0)


def test_no_object_of_the_program_decides_how_it_ended() -> None:
    source = """
import os
for _ in range(60):
    os.dup(0)
class Code(int):
    def fail(self, *_): raise KeyError
    __bool__ = __and__ = __index__ = __int__ = __eq__ = fail
raise SystemExit(Code(3))
"""
    outcome = sandbox.run(source)
    assert (outcome.status, outcome.exit_code) == ("error", 3)


def test_ordinary_things_work() -> None:
    source = """
import asyncio, hashlib, multiprocessing, sqlite3, subprocess, sys, tempfile, threading
async def one(): return 1
def square(x): return x * x
print(asyncio.run(one()))
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(square, [1, 2, 3]))
print(subprocess.run([sys.executable, "-c", "print(2)"], capture_output=True).stdout)
with tempfile.TemporaryFile() as file:
    print(file.write(b"abc"))
print(sqlite3.connect("own.db").execute("select 3").fetchone())
sys.setrecursionlimit(10**6)
def depth(n): return n and 1 + depth(n - 1)
print(depth(50_000), hashlib.sha256(b"").hexdigest()[:8])
"""
    assert lines(source) == ["1", "[1, 4, 9]", "b'2\\n'", "3", "(3,)", "50000 e3b0c442"]


def test_chance_differs_from_run_to_run() -> None:
    source = "import random; print(random.random())"
    assert lines(source) != lines(source)


def test_nothing_is_left_to_the_next_program() -> None:
    source = """
import builtins, json, os
print(getattr(builtins, "left", None), getattr(json, "left", None), os.listdir("."))
builtins.left = json.left = 1
open("left", "w").close()
"""
    assert lines(source) == lines(source) == ["None None []"]


def test_where_it_ran_is_told() -> None:
    outcome = sandbox.run("import platform; print(platform.python_version())")
    assert outcome.python == outcome.stdout.strip()
    assert outcome.place == {
        "backend": outcome.backend,
        "python": outcome.python,
        "kernel": os.uname().release,
    }
    assert "stdout" not in outcome.to_json()


# ---------------------------------------------------------------------------------- many at once


def test_threads_have_servers_of_their_own() -> None:
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda n: sandbox.run(f"print({n})"), range(40)))
    assert [it.stdout for it in done] == [f"{number}\n" for number in range(40)]


# ------------------------------------------------------------------------------------- scientific


def test_the_scientific_profile_has_its_libraries() -> None:
    source = """
import h5py, matplotlib.pyplot as plt, numpy as np, scipy, sympy
from scipy.integrate import simps
plt.plot([1, 2]); plt.savefig("plot.png")
print(np.__version__, scipy.__version__, simps([1, 1, 1]), sympy.sqrt(4))
with h5py.File("x.h5", "w") as file:
    file["a"] = np.eye(2)
"""
    assert lines(source, profile="scientific") == ["1.26.4 1.13.1 2.0 2"]


def test_the_plain_profile_has_none() -> None:
    outcome = sandbox.run("import numpy")
    assert "'numpy'" in values(outcome.reason)["said"]


# ----------------------------------------------------------------------------------------- faults


def wait_for(look: Callable[[], list[int]], done: Callable[[list[int]], bool]) -> list[int]:
    """Look at processes again and again until it is as it should be; return the last look."""
    deadline = time.monotonic() + 60
    while not done(pids := look()):
        assert time.monotonic() < deadline, f"processes: {pids}"
        time.sleep(0.02)
    return pids


def _while_running(deed: Callable[[Server], None]) -> Outcome:
    """Run a program and do something to its server once while the program runs."""
    runner = Runner(Settings())
    try:
        runner.run("", "", {}, Limits(), "plain")
        (server,) = runner._idle["plain"]
        idle = len([*server._proc.below(server.pid)])

        def do_it() -> None:
            # What puts up the walls, init and the program.
            wait_for(lambda: [*server._proc.below(server.pid)], lambda it: len(it) >= idle + 3)
            deed(server)

        with ThreadPoolExecutor(1) as thread:
            done = thread.submit(do_it)
            source = "import time; time.sleep(3); print('done')"  # the deed comes before its end
            outcome = runner.run(source, "", {}, Limits(), "plain")
            done.result()
        return outcome
    finally:
        runner.close()


def test_a_server_that_is_killed_costs_a_retry() -> None:
    outcome = _while_running(lambda server: os.kill(server.pid, signal.SIGKILL))
    assert (outcome.status, outcome.stdout) == ("ok", "done\n")


def test_a_run_whose_init_is_killed_costs_a_retry() -> None:
    def kill(server: Server) -> None:
        _, init, *_ = server._proc.below(server.pid)
        os.kill(init, signal.SIGKILL)

    outcome = _while_running(kill)
    assert (outcome.status, outcome.stdout) == ("ok", "done\n")


def test_a_server_that_stands_still_costs_a_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raybench.sandbox.supervise._END_S", 1.0)
    runner = Runner(Settings())
    try:
        runner.run("", "", {}, Limits(), "plain")
        (server,) = runner._idle["plain"]
        source = "import time; time.sleep(600)"
        threading.Timer(0.3, os.kill, [server.pid, signal.SIGSTOP]).start()
        outcome = runner.run(source, "", {}, Limits(wall_s=3), "plain")
        assert (outcome.status, server._process.returncode) == ("timeout", -signal.SIGKILL)
    finally:
        runner.close()


def test_a_server_that_is_killed_while_it_starts_is_no_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check, killed = selftest.check, list[int]()

    def kill_first(server: Server) -> None:
        if not killed:
            killed.append(server.pid)
            os.kill(server.pid, signal.SIGKILL)
        check(server)

    monkeypatch.setattr(selftest, "check", kill_first)
    runner = Runner(Settings("namespaces"))
    try:
        assert runner.run("print(1)", "", {}, Limits(), "plain").ok
        assert killed
    finally:
        runner.close()


def test_who_does_not_hear_of_its_children_runs_programs_all_the_same() -> None:
    source = (
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from raybench import sandbox\n"
        "print(sandbox.run('raise SystemExit(3)').exit_code)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert told.stdout == "3\n"


@pytest.mark.skipif(os.getuid() != 0, reason="who is not root is one user to all servers")
def test_programs_of_two_threads_are_not_counted_together(landlock: Runner) -> None:
    source = """
import os, time
for _ in range(40):
    if os.fork() == 0:
        time.sleep(1)
        os._exit(0)
print("all")
"""
    with ThreadPoolExecutor(3) as threads:
        runs = threads.map(lambda _: landlock.run(source, "", {}, Limits(), "plain"), range(3))
        assert [run.stdout for run in runs] == ["all\n"] * 3


def test_output_that_somebody_else_took_holds_nobody_up() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    assert supervise._read(reader) is None
    os.write(writer, b"a")
    assert supervise._read(reader) == b"a"
    os.close(writer)
    assert supervise._read(reader) == b""
    os.close(reader)
    pipes = supervise.Pipes()
    ours = (pipes.stdout, pipes.stderr, pipes.report)
    assert not any(os.get_blocking(end.fileno()) for end in ours)
    pipes.close()


@pytest.mark.parametrize("closed", ["junk", "."])
def test_nothing_of_a_run_stays_on_the_host(landlock: Runner, closed: str) -> None:
    source = f"""
import os
print(os.getcwd())
os.makedirs("junk/deeper")
open("junk/deeper/file", "w").close()
os.symlink("/", "junk/root")
os.chmod("junk/deeper", 0)
os.chmod({closed!r}, 0)
"""
    folder = landlock.run(source, "", {}, Limits(), "plain").stdout.strip()
    assert folder.startswith(tempfile.gettempdir())
    assert not Path(folder).exists()


def test_what_fails_every_time_is_no_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise FaultError("the wall fell")

    monkeypatch.setattr(Server, "run", fail)
    monkeypatch.setattr("raybench.sandbox.selftest.check", lambda server: None)
    with pytest.raises(SandboxFaultError, match=r"failed 3 times.*the wall fell\."):
        Runner(Settings()).run("", "", {}, Limits(), "plain")


def test_nobody_who_is_killed_leaves_anything_running() -> None:
    source = (
        "from raybench import sandbox\n"
        "sandbox.run('')\n"
        "print('ready', flush=True)\n"
        "sandbox.run('import time; time.sleep(600)', limits=sandbox.Limits(wall_s=900))\n"
    )
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        client.stdout.readline()
        proc = Proc()
        # Server, porter, init, program.
        left = wait_for(lambda: [*proc.below(client.pid)], lambda pids: len(pids) >= 4)
        client.kill()
    wait_for(lambda: [pid for pid in left if proc.read(f"{pid}/cmdline")], lambda pids: not pids)


def check_that_nothing_is_left(runs: int) -> None:
    """Run so many programs in a process of its own, and fail where anything is left of them."""
    command = [sys.executable, str(Path(__file__).with_name("thousands.py")), str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=880, check=False)
    assert done.returncode == 0, done.stderr


def test_some_runs_leave_nothing_behind() -> None:
    check_that_nothing_is_left(FEW_RUNS)


@pytest.mark.long(short="tests/sandbox/test_run.py::test_some_runs_leave_nothing_behind")
@pytest.mark.timeout(900)
def test_thousands_of_runs_leave_nothing_behind() -> None:
    check_that_nothing_is_left(RUNS)


def test_a_program_begins_with_no_signal_blocked() -> None:
    """As from a shell; the processes of a Ray of our own have SIGTERM blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    runner = Runner(Settings())
    try:
        source = "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
        assert runner.run(source, "", {}, Limits(), "plain").stdout == "set()\n"
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        runner.close()
