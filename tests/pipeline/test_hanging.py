"""A command that is ended while its store says nothing ends at once, however S3's library hangs."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import SIMULATED, STARTED, raybench, start_raybench
from stores import CREDENTIALS

from raybench.pipeline import hanging


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Yield a server that takes connections and says nothing."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0), backlog=50) as found:
        found.settimeout(100)
        yield found


@pytest.fixture
def mute(server: socket.socket) -> str:
    """Return where it is."""
    where = f"scheme=http&endpoint_override=127.0.0.1:{server.getsockname()[1]}"
    return f"s3://bucket/place?{where}"


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_who_waits_at_the_start_is_told_and_can_leave(
    mute: str, ending: signal.Signals, tmp_path: Path
) -> None:
    process = start_raybench(*SIMULATED, f"storage='{mute}'", cwd=tmp_path)
    assert process.stdout
    assert "storage s3://bucket/place has not answered for 3 s" in process.stdout.readline()
    since = time.monotonic()
    process.send_signal(ending)
    told = process.stdout.read()
    assert process.wait() == 130
    assert time.monotonic() - since < 8  # of itself S3's library would be waited for for a minute
    assert "Traceback" not in told
    assert not (tmp_path / "runs").exists()


def test_a_store_that_says_nothing_is_waited_for_as_long_as_was_said(
    mute: str, tmp_path: Path
) -> None:
    done = raybench(*SIMULATED, f"storage='{mute}'", "storage_patience_s=2", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot be written to: it has not answered for 10 s" in done.stderr
    assert "see that it can be reached" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command", [("raybench.compare",), ("raybench.inspect",), ("raybench.tracking", "sync")]
)
def test_who_reads_from_it_can_leave(
    server: socket.socket, mute: str, command: tuple[str, ...], tmp_path: Path
) -> None:
    where, _, query = mute.partition("?")
    process = subprocess.Popen(
        [sys.executable, "-m", *command, f"{where}/index/run?{query}"],
        cwd=tmp_path, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    STARTED.append(process)
    assert process.stdout
    asked, _ = server.accept()
    since = time.monotonic()
    with asked:
        process.send_signal(signal.SIGINT)
        told = process.stdout.read()
        assert process.wait() == 130, told
    assert time.monotonic() - since < 8
    assert "Traceback" not in told


def test_a_process_of_which_nothing_hangs_ends_as_ever() -> None:
    hanging.end(3)  # else there would be no more tests


def test_what_is_to_be_done_at_the_end_is_done_with_a_call_that_hangs() -> None:
    script = (
        "import atexit, threading; from raybench.pipeline import hanging\n"
        "atexit.register(print, 'done')\n"
        "thread = threading.Thread(target=threading.Event().wait)\n"  # and no daemon
        "thread.start(); hanging.leave(thread); print('written', end=' '); hanging.end(7)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, text=True, check=False, timeout=60, env={**os.environ},
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (7, "written done\n")
