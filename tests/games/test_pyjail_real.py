"""PyJail with the real sandbox as the manager: jails open as they should, attacks come to nothing.

Every program here runs in the sandbox and nowhere else.
"""

import asyncio
import random
import time
from pathlib import Path
from textwrap import dedent

import pytest
from confined import or_skip

from raybench.arena.manager import Programs
from raybench.games import MANAGER, Program, State
from raybench.games.parts.pyjail import harness
from raybench.games.parts.pyjail.jails import JAILS, Jail
from raybench.games.pyjail import GAME, Jailed

pytestmark = pytest.mark.sandbox
OPEN = "import os\ndef jail(user_input):\n    return os.environ['FLAG']"
EVAL = "def jail(user_input):\n    return eval(user_input)"
FLAG = "__import__('os').environ['FLAG']"


@pytest.fixture(autouse=True)
def confined() -> None:
    """Run nothing where nothing is confined."""
    or_skip()


def managed(state: State) -> State:
    """Return the state after the manager has run what is needed."""
    while state.to_move == MANAGER:
        assert isinstance(state.needed, Program)
        state = state.apply(asyncio.run(Programs(1).run(state.needed)))
    return state


def tried(jail: str, *inputs: str, seed: int = 7, **rules: int) -> Jailed:
    state: State = GAME.new(seed, **{"seconds": 2, **rules}).apply(jail)
    for each in inputs:
        state = managed(state.apply(each))
    assert isinstance(state, Jailed)
    return state


def came(jail: str, tried_: str) -> str:
    """Return what the first try of a jail printed; it must not have opened it."""
    (one,) = tried(jail, tried_).proofs
    assert not one.solved
    return one.came.partition(" It printed:\n")[2]


@pytest.mark.parametrize("ours", JAILS)
def test_jails_of_our_own_open_to_what_opens_them_and_nothing_else(ours: Jail) -> None:
    for opening in ours.opening:
        assert tried(ours.source, opening).proven
    for closed in ours.closed:
        assert not tried(ours.source, closed).proven


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("good", [True, False])
def test_whole_matches(seed: int, good: bool) -> None:
    state, rng = GAME.new(seed), random.Random(seed)
    while not state.over:
        state = managed(state.apply(state.good(rng) if good else state.sample(rng)))
    assert isinstance(state, Jailed)
    known = next(each for each in JAILS if each.source == state.challenge)
    for one in (*state.proofs, *state.tries):
        assert one.solved == (one.given in known.opening)
    assert not good or state.proofs[0].solved


@pytest.mark.parametrize(
    ("how", "opens"),
    [
        ("print(os.environ['FLAG'])", True),
        ("print(os.environ['FLAG'], file=sys.stderr)", True),
        ("os.write(1, os.environb[b'FLAG'])", True),
        ("os.system('echo $FLAG')", True),
        ("raise ValueError(os.environ['FLAG'])", True),
        ("return os.environ['FLAG'][::-1]", True),
        ("print(os.environ['FLAG'], flush=True); os._exit(3)", True),
        ("print(os.environ['FLAG'], flush=True); os.abort()", True),
        ("return os.environ['FLAG'][:-3]", False),
        ("return hash(os.environ['FLAG'])", False),
        ("os.close(1); os.close(2); return os.environ['FLAG']", False),
    ],
)
def test_a_jail_opens_by_what_it_prints(how: str, opens: bool) -> None:
    assert tried(f"import os, sys\ndef jail(user_input):\n    {how}", "x").proven is opens


LUCKY = {
    "draws": "random.random() < 0.25",
    "draws from the system": "os.urandom(1)[0] < 64",
    "goes by the clock": "time.time_ns() // 1000 % 4 == 0",
    "goes by the flag": "os.environ['FLAG'][5] in '0123'",
}


@pytest.mark.parametrize("how", LUCKY)
def test_luck_proves_nothing(how: str) -> None:
    """Three runs have to open a jail: each of these opens in one of four."""
    opens = "import os, random, time\ndef jail(user_input):\n    return os.environ['FLAG'] if {}"
    lucky = f"{opens.format(LUCKY[how])} else 'shut'"
    once = [tried(lucky, "x", seed=it, proofs=1, openings=1).proven for it in range(32)]
    thrice = [tried(lucky, "x", seed=it, proofs=1).proven for it in range(32)]
    assert sum(once) >= 1 and sum(thrice) <= 6
    certain = f"{opens.format('user_input')} else 'shut'"
    assert all(tried(certain, "x", seed=it, proofs=1).proven for it in range(6))


@pytest.mark.parametrize("open_again", [True, False])
def test_who_opens_a_jail_by_the_clock_has_to_open_it_in_the_end(open_again: bool) -> None:
    for seconds in (2, 8, 32):  # a slow machine has more of them
        shut_at = time.time() + seconds
        jail = dedent(
            f"""
            import os, time
            def jail(user_input):
                if user_input == "warden" and ({open_again} or time.time() < {shut_at}):
                    return os.environ["FLAG"]
            """
        )
        state: State = tried(jail, "warden")
        if state.to_move == "prisoner":
            break
    assert state.to_move == "prisoner"
    time.sleep(max(0, shut_at - time.time()))
    for _ in range(3):
        state = managed(state.apply("prisoner"))
    assert state.over and state.scores()["warden"] == (1 if open_again else -1)


ATTACKS = {
    "exits at once": ("import os\nos._exit(0)", ""),
    "loops": ("while True: pass", "stopped (timeout)"),
    "sleeps": ("import time\ntime.sleep(60)", "stopped (timeout)"),
    "forks without end": (
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "",
    ),
    "eats memory": ("kept = [bytearray(2**20) for _ in range(4000)]", "memory|MemoryError"),
    "prints without end": ("while True: print('y' * 1000)", "stopped (output)"),
    "fills the disk": ("open('f', 'wb').write(bytes(2**27))", "output|OSError"),
    "kills everybody": ("import os\nos.kill(-1, 9)", ""),
    "kills itself": ("import os\nos.kill(os.getpid(), 9)", "stopped (killed)"),
    "recurses": ("def f(): f()\nf()", "RecursionError"),
}
"""What jails do, with what is told of it: one of these."""


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_in_a_jail_end_as_tries_that_failed(attack: str) -> None:
    code, told = ATTACKS[attack]
    state = tried(f"{code}\n{EVAL}", "1", proofs=1)
    assert state.over and state.scores() == {"warden": -1, "prisoner": 1}
    assert any(each in state.proofs[0].came for each in told.split("|"))
    assert tried(OPEN, "x").proven  # the sandbox goes on as before


@pytest.mark.parametrize("attack", ["loops", "kills itself", "exits at once"])
def test_a_prisoner_cannot_get_out_of_a_match_by_breaking_the_run(attack: str) -> None:
    jail = "import os\ndef jail(user_input):\n    exec(user_input)"
    opening = "print(os.environ['FLAG'])"
    state = tried(jail, opening, ATTACKS[attack][0], attempts=1)
    assert state.proven and state.scores() == {"warden": 1, "prisoner": -1}


def test_files_of_the_machine_are_out_of_reach(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the manager's")
    assert "the manager's" not in came(EVAL, f"open({str(secret)!r}).read()")
    for path in (tmp_path / "written", Path(__file__).with_name("written.by.a.jail")):
        came(EVAL, f"open({str(path)!r}, 'w').write('x')")
        assert not path.exists()


def test_nothing_of_a_try_survives_to_the_next() -> None:
    """Neither files, nor variables, nor processes, nor what was imported."""
    jail = dedent(
        """
        import builtins, os, pathlib, tempfile
        folders = [".", tempfile.gettempdir(), "/dev/shm", "/var/tmp"]
        places = [pathlib.Path(folder) for folder in folders if os.path.isdir(folder)]
        seen = [str(place) for place in places if (place / "left").exists()]
        for place in places:
            try:
                (place / "left").write_text(os.environ["FLAG"])
            except OSError:
                pass
        if hasattr(builtins, "left"):
            seen.append("builtins")
        builtins.left = os.environ["FLAG"]
        def jail(user_input):
            if os.fork() == 0:
                os.setsid()
                for fd in (0, 1, 2): os.close(fd)
                import time; time.sleep(30)
            return f"seen: {seen}"
        """
    )
    state = tried(jail, "1", "2", "3")
    told = harness.failed({"status": "ok", "stdout": "seen: []"}, 0, 1000)
    assert [each.came for each in state.proofs] == [told] * 3


HUNT = dedent(
    """
    import gc, sys, os, linecache
    mark, found = "fl" + "ag{", []
    def look(where, thing):
        if isinstance(thing, bytes):
            thing = thing.decode("latin-1")
        if isinstance(thing, str) and mark in thing and thing != mark:
            found.append(where)
    reached, met = gc.get_objects(), set()
    while reached:
        it = reached.pop()
        if id(it) not in met:
            met.add(id(it))
            look("kept", it)
            reached += gc.get_referents(it)
    frame = sys._getframe()
    while frame:
        for part in (*frame.f_locals.values(), *frame.f_globals.values()):
            look("frames", part)
        frame = frame.f_back
    look("lines", str(linecache.cache))
    look("input", sys.stdin.read())
    try:
        os.lseek(0, 0, 0)
        look("rewound", os.read(0, 10**6))
    except OSError:
        pass
    for name in ("environ", "cmdline", "fd/0"):
        try:
            look(name, open(f"/proc/self/{name}", "rb").read())
        except OSError:
            pass
    print("found", sorted(set(found)))
    """
)


@pytest.mark.parametrize(
    ("taken_away", "found"),
    [("pass", "| found ['kept']"), ("del os.environ['FLAG']", "| found []")],
)
def test_the_flag_lies_in_the_environment_and_nowhere_else(taken_away: str, found: str) -> None:
    """A jail that takes it away has it away: neither standard input nor our program holds it."""
    jail = f"import os\n{taken_away}\ndef jail(user_input):\n    exec(user_input, {{}})"
    assert came(jail, HUNT) == found


def test_a_hidden_source_is_not_in_what_is_printed() -> None:
    printed = came("def jail(user_input):\n    secret_word = 1 / 0", "x")
    assert "ZeroDivisionError" in printed and "secret_word" not in printed
    assert "main.py" not in printed
    for ends in ("KeyboardInterrupt", "type('Mine', (BaseException,), {})", "GeneratorExit"):
        printed = came(f"def jail(user_input):\n    raise {ends}", "x")
        assert "in jail" in printed and "main.py" not in printed


def test_a_hidden_source_is_no_longer_there_when_it_runs() -> None:
    jail = "def jail(user_input):\n    secret_word = 1\n    return eval(user_input)"
    frames = "__import__('sys')._getframe(1).f_back"
    printed = came(jail, f"[{frames}.f_locals, {frames}.f_back.f_globals]")
    assert "user_input" in printed and "given" in printed and "secret_word" not in printed


@pytest.mark.parametrize(
    ("printed", "opens"),
    [
        ("print('y' * 20_000 + flag + 'y' * 100_000)", True),
        ("print('y' * 100_000 + flag)", True),
        ("print('y' * 100_000 + flag + 'y' * 100_000)", False),
        ("os.write(1, b'\\xff\\xfe' + flag.encode('utf-16') + b'\\x80')", True),
        ("os.write(2, b'\\xff\\x80' * 100)", False),
        ("print(flag[:9], end='', flush=True); print(flag[9:], file=sys.stderr)", True),
        ("sys.stdout = sys.stderr = None; 1 / 0", False),
        ("if os.fork() == 0: time.sleep(1); os.write(1, flag.encode())", False),
    ],
)
def test_what_is_printed_in_odd_ways(printed: str, opens: bool) -> None:
    head = "import os, sys, time\ndef jail(user_input):\n    flag = os.environ['FLAG']\n    "
    assert tried(head + printed, "x", proofs=1).proven is opens
