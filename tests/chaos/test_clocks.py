"""All by which a Python program is told the time can be set wrong, also while it goes on."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from chaos.world import set_clock, told_by

pytestmark = pytest.mark.process

_DAY_S = 86400
_SAYS = """\
import pickle, time
from datetime import UTC, date, datetime
began = time.monotonic()
while input():
    now = datetime.now(UTC)
    found = [
        time.time(), time.time_ns() / 1e9, datetime.today().timestamp(), datetime.now().timestamp(),
        now.timestamp(), datetime.utcnow().replace(tzinfo=UTC).timestamp(),
    ]
    assert pickle.loads(pickle.dumps(now)) == now and type(now) is datetime
    print(*found, time.monotonic() - began, flush=True)
"""


def test_every_clock_of_a_program_is_wrong_by_as_much(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    set_clock(clock, -2 * _DAY_S)
    program = subprocess.Popen(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _SAYS],
        env=told_by(clock), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with program:
        assert program.stdin is not None and program.stdout is not None
        for days in (-2, 3, 0):
            set_clock(clock, days * _DAY_S)
            wrong, until = set[int](), time.monotonic() + 60
            while wrong != {days}:  # it looks at its clock now and then
                assert time.monotonic() < until, f"days wrong: {wrong}"
                program.stdin.write("now\n")
                program.stdin.flush()
                *told, lasted = map(float, program.stdout.readline().split())
                assert len(told) == 6
                assert 0 <= lasted < _DAY_S / 2  # what measures how long something takes is right
                wrong = {round((it - time.time()) / _DAY_S) for it in told}
        program.stdin.write("\n")
    assert program.returncode == 0
