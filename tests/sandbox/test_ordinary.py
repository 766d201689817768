"""What programs may expect works in the sandbox as it does outside."""

from textwrap import dedent

import pytest

from raybench import sandbox
from raybench.sandbox import Limits

pytestmark = pytest.mark.sandbox

LIMITS = Limits(cpu_s=20, wall_s=40, memory_mb=1024, processes=32)

PROGRAMS = {
    "fork": """
        import os
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.write(writer, b"child")
            os._exit(7)
        _, status = os.wait()
        assert os.waitstatus_to_exitcode(status) == 7
        assert os.read(reader, 9) == b"child"
        """,
    "threads": """
        import threading
        done = []
        threads = [threading.Thread(target=done.append, args=(n,)) for n in range(20)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert sorted(done) == list(range(20))
        """,
    "thread_pool": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(abs, range(-100, 0))) == 5050
        """,
    "thread_that_outlives_main": """
        import threading, time
        def late():
            time.sleep(0.1)
            print("late")
        threading.Thread(target=late).start()
        """,
    "subprocess_of_python": """
        import subprocess, sys
        told = subprocess.run([sys.executable, "-I", "-c", "print(6 * 7)"], capture_output=True)
        assert told.stdout == b"42\\n", told
        """,
    "subprocess_of_the_shell": """
        import subprocess
        assert subprocess.check_output("echo a | tr a b", shell=True) == b"b\\n"
        """,
    "jobs_of_the_shell": """
        import os, subprocess
        script = "sleep 0.05 & echo a | tr a b; (exit 3); echo $?; x=$(echo c); echo $x;"
        script += "sleep 0.2; wait"
        assert subprocess.check_output(script, shell=True) == b"b\\n3\\nc\\n"
        assert os.popen("echo d").read() == "d\\n"
        assert os.waitstatus_to_exitcode(os.system("exit 4")) == 4
        """,
    "process_pool": """
        from concurrent.futures import ProcessPoolExecutor
        with ProcessPoolExecutor(2) as pool:
            assert list(pool.map(abs, range(-3, 0))) == [3, 2, 1]
        """,
    "signals": """
        import os, signal
        heard = []
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, lambda number, frame: heard.append(number))
            os.kill(os.getpid(), number)
        assert heard == [signal.SIGUSR1, signal.SIGTERM, signal.SIGPIPE]
        assert signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        if os.fork() == 0: os._exit(0)
        assert signal.sigwait([signal.SIGCHLD]) == signal.SIGCHLD
        os.wait()
        """,
    "multiprocessing_pool": """
        import multiprocessing
        def square(n): return n * n
        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(4) as pool:
                assert pool.map(square, range(50)) == [n * n for n in range(50)]
        """,
    "multiprocessing_queue": """
        import multiprocessing as mp
        mp.set_start_method("fork")
        queue, lock, shared = mp.Queue(), mp.Lock(), mp.Value("i", 0)
        def work():
            with lock: shared.value += 1
            queue.put("done")
        workers = [mp.Process(target=work) for _ in range(4)]
        for worker in workers: worker.start()
        assert [queue.get() for _ in workers] == ["done"] * 4
        for worker in workers: worker.join()
        assert shared.value == 4
        """,
    "asyncio": """
        import asyncio
        async def one(n):
            await asyncio.sleep(0.01)
            return n
        async def all_of_them():
            child = await asyncio.create_subprocess_exec(
                "/bin/echo", "hi", stdout=asyncio.subprocess.PIPE)
            assert (await child.communicate())[0] == b"hi\\n"
            return await asyncio.gather(*map(one, range(100)))
        assert asyncio.run(all_of_them()) == list(range(100))
        """,
    "tempfile": """
        import pathlib, tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a", "b")
            path.parent.mkdir()
            path.write_text("kept")
            assert path.read_text() == "kept"
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write("x")
        """,
    "files_in_the_working_folder": """
        import os, shutil
        with open("a.txt", "w") as file: file.write("1")
        os.rename("a.txt", "b.txt")
        os.chmod("b.txt", 0o600)
        os.symlink("b.txt", "c.txt")
        shutil.copy("c.txt", "d.txt")
        assert sorted(os.listdir()) == ["b.txt", "c.txt", "d.txt"]
        """,
    "import_of_an_own_module": """
        import sys
        with open("helper.py", "w") as file: file.write("answer = 42")
        sys.path.insert(0, "")
        import helper
        assert helper.answer == 42
        """,
    "sqlite": """
        import sqlite3
        for where in (":memory:", "base.db"):
            base = sqlite3.connect(where)
            base.execute("create table t (n)")
            base.executemany("insert into t values (?)", [(n,) for n in range(1000)])
            base.commit()
            assert base.execute("select sum(n) from t").fetchone() == (499500,)
        """,
    "dbm_and_shelve": """
        import shelve
        with shelve.open("shelf") as shelf: shelf["a"] = [1, 2]
        with shelve.open("shelf") as shelf: assert shelf["a"] == [1, 2]
        """,
    "deep_recursion": """
        import sys
        sys.setrecursionlimit(60_000)
        def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
        assert depth(50_000) == 50_000
        """,
    "deep_recursion_in_a_thread": """
        import sys, threading
        sys.setrecursionlimit(60_000)
        threading.stack_size(256 << 20)
        def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
        found = []
        thread = threading.Thread(target=lambda: found.append(depth(50_000)))
        thread.start()
        thread.join()
        assert found == [50_000]
        """,
    "deep_recursion_of_a_cached_function": """
        import functools, sys, threading
        sys.setrecursionlimit(60_000)
        @functools.cache
        def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
        assert depth(20_000) == 20_000
        depth.cache_clear()
        found = []
        thread = threading.Thread(target=lambda: found.append(depth(3_000)))
        thread.start()
        thread.join()
        assert found == [3_000]
        """,
    "endless_recursion_of_a_cached_function": """
        import functools, sys
        sys.setrecursionlimit(10**9 if sys.version_info[:2] in ((3, 12), (3, 13)) else 20_000)
        @functools.cache
        def depth(n): return 1 + depth(n + 1)
        try:
            depth(0)
        except RecursionError:
            pass
        else:
            raise SystemExit("it came to an end")
        """,
    "a_larger_stack": """
        import resource, sys
        resource.setrlimit(resource.RLIMIT_STACK, (100 << 20, resource.RLIM_INFINITY))
        assert resource.getrlimit(resource.RLIMIT_STACK)[0] == 100 << 20
        """,
    "large_integers": """
        import sys
        sys.set_int_max_str_digits(0)
        assert len(str(3 ** 20_000)) == 9543
        """,
    "hashes": """
        import hashlib, hmac, secrets, zlib
        assert hashlib.sha256(b"").hexdigest().startswith("e3b0c442")
        assert hashlib.blake2b(b"").digest_size == 64 and hashlib.md5(b"").digest()
        assert len(secrets.token_bytes(16)) == 16 and zlib.crc32(b"a") == 0xe8b7be43
        """,
    "random_differs_by_seed_only": """
        import random
        assert random.Random(1).random() == 0.13436424411240122
        assert random.random() != random.random()
        """,
    "own_input_files": """
        with open("given.txt") as file: assert file.read() == "given"
        with open("given.txt", "a") as file: file.write(" more")
        """,
    "pickle": """
        import copy, pickle
        class Point:
            def __init__(self, x): self.x = x
        again = pickle.loads(pickle.dumps(Point(3)))
        assert type(again) is Point and again.x == 3 and copy.deepcopy(again).x == 3
        """,
    "dataclasses_and_enums": """
        from dataclasses import dataclass, field
        from enum import Enum
        from typing import NamedTuple, get_type_hints
        class Kind(Enum):
            A = 1
        class Pair(NamedTuple):
            a: int
        @dataclass(order=True, slots=True)
        class Item:
            n: int
            kind: Kind = Kind.A
            rest: list = field(default_factory=list)
        assert Item(1) < Item(2) and get_type_hints(Item)["n"] is int and Pair(1).a == 1
        """,
    "traceback_shows_the_line": """
        import traceback
        def fails(): raise ValueError("this one")
        try: fails()
        except ValueError: text = traceback.format_exc()
        assert 'def fails(): raise ValueError("this one")' in text, text
        """,
    "inspect": """
        import inspect, __main__
        def known(a, b=1): return a + b
        assert str(inspect.signature(known)) == "(a, b=1)"
        assert inspect.getsource(known).startswith("def known"), inspect.getsource(known)
        assert __main__.known is known and __name__ == "__main__"
        """,
    "alarm": """
        import signal, time
        rung = []
        signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        signal.sigwait if False else time.sleep(0.2)
        assert rung == [1]
        """,
    "interrupt_is_an_exception": """
        import os, signal
        try: os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt: pass
        else: raise AssertionError
        """,
    "exit": "exit()",
    "quit": "quit(0)",
    "exit_by_system": "raise SystemExit",
    "atexit": """
        import atexit
        atexit.register(print, "last")
        """,
    "standard_streams": """
        import io, os, sys
        sys.stdout.buffer.write(b"bytes\\n")
        sys.stdout.flush()
        os.write(1, b"raw\\n")
        print("err", file=sys.stderr)
        assert open(0).read() == "given"
        assert sys.stdin.encoding == "utf-8"
        """,
    "socketpair": """
        import socket
        a, b = socket.socketpair()
        a.send(b"x")
        assert b.recv(1) == b"x"
        """,
    "mmap": """
        import mmap
        with mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as block:
            block[:3] = b"abc"
        with open("mapped", "w+b") as file:
            file.truncate(4096)
            with mmap.mmap(file.fileno(), 4096) as block: block[0] = 7
            assert file.read(1) == b"\\7"
        """,
    "compression": """
        import bz2, gzip, io, lzma, tarfile, zipfile
        data = bytes(range(256)) * 100
        for tool in (bz2, gzip, lzma): assert tool.decompress(tool.compress(data)) == data
        with zipfile.ZipFile("a.zip", "w") as file: file.writestr("x", data)
        assert zipfile.ZipFile("a.zip").read("x") == data
        """,
    "time": """
        import datetime, time, zoneinfo
        assert time.tzname[0] == "UTC" and datetime.datetime.now().year > 2000
        assert time.perf_counter() <= time.perf_counter()
        """,
    "ctypes": """
        import ctypes
        assert ctypes.CDLL(None).abs(-3) == 3
        """,
    "decimals_and_fractions": """
        from decimal import Decimal, getcontext
        from fractions import Fraction
        getcontext().prec = 50
        assert str(Decimal(1) / 7).startswith("0.142857") and Fraction(1, 3) * 3 == 1
        """,
    "text_of_the_world": """
        import unicodedata
        print("Grüße, 世界, \\N{SNOWMAN}")
        assert unicodedata.name("ß") == "LATIN SMALL LETTER SHARP S"
        with open("世界.txt", "w") as file: file.write("ü")
        """,
    "unittest_and_doctest": """
        import doctest, unittest
        def twice(n):
            '''
            >>> twice(2)
            4
            '''
            return 2 * n
        assert doctest.testmod().attempted == 1 and doctest.testmod().failed == 0
        class Test(unittest.TestCase):
            def test(self): self.assertEqual(twice(1), 2)
        assert unittest.main(exit=False).result.wasSuccessful()
        """,
    "who_am_i": """
        import getpass, os, platform, sys
        assert os.getuid() != 0 and platform.system() == "Linux" and sys.argv == [sys.argv[0]]
        assert os.path.isdir(os.path.expanduser("~")) and os.cpu_count() > 0
        """,
    "no_environment_but_this": """
        import os
        assert os.environ["TZ"] == "UTC" and os.environ["PYTHONHASHSEED"] == "0"
        assert os.environ["LANG"] == "C.UTF-8"
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_works(name: str) -> None:
    outcome = sandbox.run(
        dedent(PROGRAMS[name]),
        stdin="given",
        files={"given.txt": b"given"} if name == "own_input_files" else None,
        limits=LIMITS,
    )
    assert outcome.status == "ok", f"{outcome.reason}\n{outcome.stdout}\n{outcome.stderr}"
    assert outcome.exit_code == 0


def test_what_happens_at_the_end_is_heard() -> None:
    late = sandbox.run(dedent(PROGRAMS["thread_that_outlives_main"]), limits=LIMITS)
    last = sandbox.run(dedent(PROGRAMS["atexit"]), limits=LIMITS)
    assert (late.stdout, last.stdout) == ("late\n", "last\n")


def test_a_program_with_a_nul_is_an_error_of_its_own() -> None:
    outcome = sandbox.run("print(1)\0", limits=LIMITS)
    assert outcome.status == "error" and "null bytes" in outcome.stderr


def test_a_program_that_is_no_text_is_an_error_of_its_own() -> None:
    outcome = sandbox.run("print('\ud800')", limits=LIMITS)
    assert outcome.status in {"ok", "error"} and "Sandbox" not in outcome.stderr


def test_a_program_of_many_megabytes_runs() -> None:
    source = "x = '" + "a" * (16 << 20) + "'\nprint(len(x))"
    outcome = sandbox.run(source, limits=LIMITS)
    assert (outcome.status, outcome.stdout) == ("ok", f"{16 << 20}\n")


def test_an_empty_program_ends_well() -> None:
    assert sandbox.run("", limits=LIMITS).status == "ok"


@pytest.mark.parametrize(
    "source",
    ["pass", "input()", "import os; os.close(0)", "import sys; sys.stdin.close()"],
    ids=["unread", "partly read", "closed", "closed in Python"],
)
def test_input_that_nobody_reads_holds_nothing_up(source: str) -> None:
    outcome = sandbox.run(source, stdin="line\n" * (10 << 20), limits=LIMITS)
    assert outcome.status == "ok", outcome.reason


def test_input_of_many_megabytes_arrives() -> None:
    given = "line\n" * (10 << 20)
    outcome = sandbox.run("import sys; print(len(sys.stdin.read()))", stdin=given, limits=LIMITS)
    assert (outcome.status, outcome.stdout) == ("ok", f"{len(given)}\n")


def test_input_that_is_no_text_arrives() -> None:
    source = "import sys; print(sys.stdin.buffer.read())"
    outcome = sandbox.run(source, stdin="\ud800\0é", limits=LIMITS)
    assert outcome.stdout == repr("\ud800\0é".encode("utf-8", "surrogatepass")) + "\n"


def test_output_beyond_what_is_kept_is_cut_in_the_middle() -> None:
    limits = Limits(output_kept_mb=0.1, output_killed_mb=4)
    outcome = sandbox.run("print('a' + 'b' * (2 << 20) + 'c')", limits=limits)
    assert (outcome.status, outcome.truncated) == ("ok", True)
    assert outcome.stdout.startswith("ab") and outcome.stdout.endswith("bc\n")
    assert len(outcome.stdout) < 0.2 * (1 << 20)


def test_threads_and_processes_up_to_the_limit_are_let_be() -> None:
    source = """
        import os, signal, threading
        children = []
        for _ in range(7):
            if (child := os.fork()) == 0: signal.pause()
            children.append(child)
        stop = threading.Event()
        threads = [threading.Thread(target=stop.wait) for _ in range(7)]
        for thread in threads: thread.start()
        stop.set()
        for child in children: os.kill(child, signal.SIGKILL)
        """
    outcome = sandbox.run(dedent(source), limits=Limits(processes=16, wall_s=20))
    assert outcome.status == "ok", outcome.stderr


def test_memory_up_to_the_limit_is_let_be() -> None:
    outcome = sandbox.run("bytearray(b'1' * (200 << 20))", limits=Limits(memory_mb=512))
    assert outcome.status == "ok", outcome.reason
    assert 200 <= outcome.memory_mb <= 512
