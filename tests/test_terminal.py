"""Runs as people, logs and scripts meet them: a real terminal, pipes, a Ray job, Ctrl-C."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import SIMULATED, only_run, raybench
from terminals import Sitting, sit

pytestmark = pytest.mark.process

RUN = (*SIMULATED, "autobench.iterations=4")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
COLOR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-9]|9[0-7])(?:;\d+)*m")
LONG = pytest.mark.long(short="tests/test_terminal.py::test_a_log_behind_a_terminal_gets_lines[CI]")
TABLE = re.compile(r"^model +iterations ", re.MULTILINE)
"""The head of the live table."""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Sitting:
    """What somebody sees of a run, from its beginning to its end."""
    folder = tmp_path_factory.mktemp("watched")
    return sit("-m", "raybench", *RUN, cwd=folder, columns=80, lines=24)


def test_the_table_comes_goes_and_leaves_the_leaderboard(watched: Sitting) -> None:
    assert watched.code == 0
    tables = [it for it in watched.moments if TABLE.search(it)]
    assert tables
    # A moment may fall between two writes of one table.
    assert any("sim-01" in it and "sim-12" in it for it in tables)
    assert all(len(TABLE.findall(it)) == 1 for it in tables), "one was left standing"
    assert not TABLE.search(watched.screen.text)
    left = watched.screen.text.splitlines()
    assert left[0].startswith("Run runs/autobench/")
    assert left[1].startswith("4/4 iterations ")
    assert any("Score (1-5)" in line for line in left)
    assert re.search(r"^Results +runs/autobench/.*$", watched.screen.text, re.MULTILINE)


def test_the_terminal_is_given_back_as_it_was(watched: Sitting) -> None:
    assert not watched.screen.unknown
    assert not watched.screen.hidden
    assert "\x1b[?25l" in watched.written
    assert COLOR.search(watched.written)


def test_without_color_there_is_the_same_table(tmp_path: Path) -> None:
    found = sit("-m", "raybench", *RUN, cwd=tmp_path, environment={"NO_COLOR": "1"}, columns=40)
    assert found.code == 0
    assert any(TABLE.search(it) for it in found.moments)
    assert not COLOR.search(found.written)


def test_what_is_piped_away_is_plain_while_the_screen_has_the_table(tmp_path: Path) -> None:
    found = sit("-m", "raybench", *RUN, cwd=tmp_path, piped=True)
    assert found.code == 0
    assert any(TABLE.search(it) for it in found.moments)
    assert not CONTROL.search(found.out)
    assert "Score (1-5)" in found.out
    assert "Score (1-5)" not in found.screen.text


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"CI": "true"}, id="CI"),
        pytest.param({"RAY_JOB_CONFIG_JSON_ENV_VAR": "{}"}, id="job", marks=LONG),
        pytest.param({"TERM": "dumb"}, id="TERM", marks=LONG),
    ],
)
def test_a_log_behind_a_terminal_gets_lines(environment: dict[str, str], tmp_path: Path) -> None:
    found = sit("-m", "raybench", *RUN, cwd=tmp_path, environment=environment)
    assert found.code == 0
    assert not CONTROL.search(found.written.replace("\r\n", "\n"))
    assert "4/4 iterations (100%)" in found.written


def test_a_file_gets_lines(tmp_path: Path) -> None:
    environment = {"TERM": "xterm-256color", "NO_COLOR": ""}
    done = raybench(*RUN, cwd=tmp_path, environment=environment, timeout=500)
    assert done.returncode == 0
    assert not CONTROL.search(done.stdout + done.stderr)
    assert "0/4 iterations (0%)" in done.stderr
    assert "4/4 iterations (100%)" in done.stderr


def test_interrupted_on_a_terminal_it_says_what_is_kept_and_gives_the_cursor_back(
    tmp_path: Path,
) -> None:
    long = (*SIMULATED, "autobench.iterations=3000")
    found = sit("-m", "raybench", *long, cwd=tmp_path, interrupt_at="0/3000 iterations")
    assert found.code == 130
    assert not found.screen.hidden
    assert "Traceback" not in found.written
    assert "kept in runs/autobench/" in " ".join(found.screen.text.split())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_in_json_the_document_says_so(how: signal.Signals, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "raybench", *SIMULATED, "autobench.iterations=3000", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stderr is not None
        told: list[dict[str, Any]] = []
        while not told or told[-1]["event"] != "progress":
            told.append(json.loads(process.stderr.readline()))
        process.send_signal(how)
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    document = json.loads(out)
    assert process.returncode == document["exit_code"] == 130
    assert document["error"]["kind"] == "interrupted"
    assert document["paths"] == {"folder": str(only_run(tmp_path))}
    last = json.loads(err.splitlines()[-1])
    assert (last["event"], last["exit_code"]) == ("error", 130)


def test_each_job_of_a_multirun_is_a_line(tmp_path: Path) -> None:
    done = raybench(*RUN, "--json", "--multirun", "seed=1,2", cwd=tmp_path, timeout=500)
    assert done.returncode == 0
    one, other = map(json.loads, done.stdout.splitlines())
    assert (one["run"]["seed"], other["run"]["seed"]) == (1, 2)
    for line in done.stderr.splitlines():
        assert json.loads(line)["event"] in ("run", "note", "progress")


def test_whoever_reads_no_further_ends_it_quietly(tmp_path: Path) -> None:
    command = f"{sys.executable} -m raybench --json | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout in ("141\n", "0\n")  # it may have written before the other one ended
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("mode", ["json", "quiet"])
def test_nobody_else_writes_on_a_programs_stdout(mode: str, tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from raybench.tracking.console import modes, telling\n"
        f"modes.use({mode!r})\n"
        "telling.keep_stdout()\n"
        "print('a library')\n"
        "os.system('echo its child')\n"
        "telling.came_to({'run': {}}, {'results': 'runs/é/results.json'})\n"
        "telling.end(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("\n") == 1
    assert "library" not in done.stdout
    assert "a library" in done.stderr
    assert "its child" in done.stderr
