"""A command that is ended while its store says nothing ends at once, however S3's library hangs."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import SIMULATED, STARTED
from stores import CREDENTIALS

from raybench.pipeline import hanging

_PATIENCE_S = 120
_START = f"""
import runpy, sys
from raybench.pipeline.storage import objects, storage
# S3's library would wait for much longer than the tests do, who are told, and give up, sooner.
objects.Objects.__init__.__kwdefaults__["silence_s"] = {10.0 * _PATIENCE_S}
storage._SLOW_S, storage._LEAST_S = 0.5, 0.0
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def started(module: str, *arguments: str, cwd: Path) -> "subprocess.Popen[str]":
    """Start `python -m MODULE`, in which S3's library waits long and raybench tells of it soon."""
    process = subprocess.Popen(
        [sys.executable, "-c", _START, module, *arguments],
        cwd=cwd, env={**os.environ, "NO_COLOR": "1", "XDG_CACHE_HOME": str(cwd)}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
        # Ctrl-C is heard even where the tests themselves run in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    STARTED.append(process)
    return process


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Yield a server that takes connections and says nothing."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0), backlog=50) as found:
        found.settimeout(_PATIENCE_S)
        yield found


@pytest.fixture
def mute(server: socket.socket) -> str:
    """Return where it is."""
    where = f"scheme=http&endpoint_override=127.0.0.1:{server.getsockname()[1]}"
    return f"s3://bucket/place?{where}"


@pytest.mark.process
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_who_waits_at_the_start_is_told_and_can_leave(
    mute: str, ending: signal.Signals, tmp_path: Path
) -> None:
    process = started("raybench", *SIMULATED, f"storage='{mute}'", cwd=tmp_path)
    assert process.stdout
    assert "storage s3://bucket/place" in process.stdout.readline()
    process.send_signal(ending)
    said, _ = process.communicate(timeout=_PATIENCE_S)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert not (tmp_path / "runs").exists()


@pytest.mark.process
def test_a_store_that_says_nothing_is_waited_for_as_long_as_was_said(
    mute: str, tmp_path: Path
) -> None:
    process = started(
        "raybench", *SIMULATED, f"storage='{mute}'", "storage_patience_s=1.5", cwd=tmp_path
    )
    said, _ = process.communicate(timeout=_PATIENCE_S)
    assert process.returncode == 2
    assert "1.5 s" in said
    assert "Traceback" not in said


@pytest.mark.process
@pytest.mark.parametrize(
    "command", [("raybench.compare",), ("raybench.inspect",), ("raybench.tracking", "sync")]
)
def test_who_reads_from_it_can_leave(
    server: socket.socket, mute: str, command: tuple[str, ...], tmp_path: Path
) -> None:
    where, _, query = mute.partition("?")
    process = started(*command, f"{where}/index/run?{query}", cwd=tmp_path)
    asked, _ = server.accept()
    with asked:
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=_PATIENCE_S)
        assert process.returncode == 130, said
    assert "Traceback" not in said


def test_a_process_of_which_nothing_hangs_ends_as_ever() -> None:
    hanging.end(3)  # else there would be no more tests


@pytest.mark.process
def test_what_is_to_be_done_at_the_end_is_done_with_a_call_that_hangs() -> None:
    script = (
        "import atexit, threading; from raybench.pipeline import hanging\n"
        "atexit.register(print, 'done')\n"
        "thread = threading.Thread(target=threading.Event().wait)\n"  # and no daemon
        "thread.start(); hanging.leave(thread); print('written', end=' '); hanging.end(7)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, text=True, check=False, timeout=280, env={**os.environ},
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (7, "written done\n")
