"""What measurements say of processes: perf/processes.py."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]

_BURN = "import time\nuntil = time.process_time() + {}\nwhile time.process_time() < until: pass"
_WATCHED = f"""
import json, os, signal, subprocess, sys, time
from perf.processes import Family

family = Family()
burn = [sys.executable, "-c", {_BURN.format(0.4)!r}]
script = f"import subprocess, time; subprocess.run({{burn}}); time.sleep(600)"
watched = subprocess.Popen([sys.executable, "-c", script])
until = time.monotonic() + 120
while family.cpu_s < 0.4 and time.monotonic() < until:  # its child may be seen, or only waited for
    family.look({{watched.pid}})
    time.sleep(0.05)
orphaned = subprocess.Popen(
    [sys.executable, "-c", "import subprocess; subprocess.Popen(['sleep', '600'])"]
)
orphaned.wait()
seen = set()
while time.monotonic() < until:
    there = family.look({{watched.pid}})
    seen |= {{it.role for it in there}}
    orphans = [it.name.pid for it in there if it.role == "sleep" and not it.zombie]
    if "sleep" in seen and not orphans:
        break
    for pid in orphans:
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.05)
(one,) = [it for it in family.look({{watched.pid}}) if it.name.pid == watched.pid]
cpu_s = family.cpu_s
told = {{"cpu_s": cpu_s, "seen": sorted(seen), "pss": one.pss(), "files": one.files()}}
family.end(0)
told["left"] = len([it for it in family.look() if not it.zombie])
times = os.times()
told["of all children"] = times.children_user + times.children_system
print(json.dumps(told))
"""


def test_a_family_is_known_with_its_orphans_and_with_what_ended_ones_took() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    told = json.loads(done.stdout)
    # Each second counts once: no more than the system says, which counts in hundredths.
    assert 0.4 <= told["cpu_s"] <= told["of all children"] + 0.1
    assert "sleep" in told["seen"], "an orphan is of the family"
    assert told["pss"] > 2**20
    assert told["files"] >= 3
    assert told["left"] == 0


_AMONG_PACKAGES = """
import json, subprocess, sys, time
from perf.processes import Family

family = Family()
program, told = sys.argv[1:]
ours = [
    subprocess.Popen([program, "-f", told], stdout=subprocess.DEVNULL),
    subprocess.Popen([sys.executable, told], stdin=subprocess.PIPE),
]
roles, until = set(), time.monotonic() + 120
while len(roles) < 2 and time.monotonic() < until:  # each begins as a copy of this one
    roles = {it.role for it in family.look()} & {"raylet", "default_worker"}
family.end(0)
print(json.dumps(sorted(roles)))
"""


def test_a_raylet_is_not_taken_for_one_of_its_workers(tmp_path: Path) -> None:
    tail = shutil.which("tail")
    assert tail
    program = tmp_path / "python3.11" / "raylet"
    program.parent.mkdir()
    shutil.copy(tail, program)
    (worker := tmp_path / "default_worker.py").write_text("input()")
    done = subprocess.run(
        [sys.executable, "-c", _AMONG_PACKAGES, program, worker],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert json.loads(done.stdout) == ["default_worker", "raylet"]


_BURN_AND_STAY = f"""
{_BURN.format(0.4)}
import os, sys
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
"""
_LATE = f"""
import subprocess, sys, time
from pathlib import Path
from perf.processes import Family

gate = Path(sys.argv[1])
family = Family()
burn = [sys.executable, "-c", {_BURN_AND_STAY!r}, str(gate)]
script = (
    "import signal, subprocess, sys, time\\n"
    f"child = subprocess.Popen({{burn}})\\n"
    "print('begun', flush=True)\\n"
    "sys.stdin.readline()\\n"
    "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\\n"
    "print('ignores', flush=True)\\n"
    "time.sleep(600)"
)
watched = subprocess.Popen(
    [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
watched.stdout.readline()
family.look({{watched.pid}})
print("", file=watched.stdin, flush=True)
watched.stdout.readline()

def look_until(there):
    until = time.monotonic() + 120
    while not there(family.look({{watched.pid}})) and time.monotonic() < until:
        time.sleep(0.05)

look_until(lambda _: family.cpu_s >= 0.4)
gate.touch()
look_until(lambda processes: len(processes) == 1)
print(family.cpu_s)
family.end(0)
"""


def test_a_parent_may_say_late_that_it_waits_for_nobody(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LATE, tmp_path / "gate"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=290,
    )  # fmt: skip
    assert float(done.stdout) >= 0.4, "what its child took is not forgotten"
