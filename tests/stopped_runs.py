"""Runs that stop at an exact place: they signal themselves, or their journals are cut off.

A run that signals itself after a given line of a journal needs no polling and no slow model, and is
never over before the signal comes.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

_PATIENCE_S = 280
_PROGRAM = """\
import os, signal, sys
import psutil
from raybench import cli
from raybench.pipeline.journal import Journal

name, line, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
del sys.argv[1:4]
extend = Journal.extend

def extend_and_signal(journal, records):
    before = len(journal.records)
    extend(journal, records)
    if journal.path.stem == name and before < line <= len(journal.records):
        if number == signal.SIGTERM:  # as systemd and Slurm do, whatever groups there are
            for process in psutil.Process().children(recursive=True):
                process.send_signal(number)
        os.killpg(0, number)

Journal.extend = extend_and_signal
{also}
cli.main()
"""


def run_until(
    journal: str, line: int, number: signal.Signals, *command: str, cwd: Path
) -> tuple[int, str]:
    """Run a command that signals all its processes once a journal has this many lines.

    Return its exit code and its output, stdout and stderr together.
    """
    with TemporaryFile("w+") as output:  # daemons of Ray may hold a pipe open
        process = _start(journal, line, number, *command, cwd=cwd, output=output)
        try:
            code = process.wait(timeout=_PATIENCE_S)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        return code, output.read()


def _start(
    journal: str,
    line: int,
    number: signal.Signals,
    *command: str,
    cwd: Path,
    output: IO[str] | int,
    also: str = "",
) -> subprocess.Popen[str]:
    program = _PROGRAM.replace("{also}", also)
    return subprocess.Popen(
        [sys.executable, "-c", program, journal, str(line), str(int(number)), *command],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def kill_at(journal: str, line: int, *command: str, cwd: Path) -> None:
    """Run a command that is killed (SIGKILL) once a journal has this many lines."""
    code, output = run_until(journal, line, signal.SIGKILL, *command, cwd=cwd)
    assert code == -signal.SIGKILL, output


def cut_off(run: Path, to: Path, lines: Mapping[str, int], torn: str = '{"half of a li') -> Path:
    """Return a copy of a finished run, as a kill would have left it, in the folder `to`.

    Of each journal named in `lines` the copy has that many; `torn` follows in all of them. The
    other journals are whole. Of the files that end a run the copy has none.
    """
    folder = to / run.parent.name / run.name
    shutil.copytree(run / "journal", folder / "journal")
    for name in ("config.yaml", "inputs.json"):
        if (run / name).exists():
            shutil.copy(run / name, folder)
    for name, count in lines.items():
        path = folder / "journal" / f"{name}.jsonl"
        whole = path.read_bytes().splitlines(keepends=True)
        assert 0 <= count < len(whole), f"{name} has {len(whole)} lines"
        path.write_bytes(b"".join(whole[:count]) + torn.encode())
    return folder


@contextmanager
def held_at(
    journal: str, line: int, *command: str, cwd: Path, also: str = ""
) -> Iterator[subprocess.Popen[str]]:
    """Stop a command (SIGSTOP) once a journal has this many lines; kill it at the end.

    It keeps its files open and locked meanwhile. `go_on` lets it run again. Its output is that of
    the process that is returned. `also` is Python that it runs before it starts.
    """
    process = _start(
        journal, line, signal.SIGSTOP, *command, cwd=cwd, output=subprocess.PIPE, also=also
    )
    try:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), f"it ended before line {line} of {journal}"
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout:
            process.stdout.close()


def go_on(process: subprocess.Popen[str]) -> None:
    """Let a process run that `held_at` has stopped."""
    os.killpg(process.pid, signal.SIGCONT)
