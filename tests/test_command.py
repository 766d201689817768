"""The command line in the process of the tests says what one in a process of its own says."""

import json
import logging
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from command import run_command
from helpers import SIMULATED, raybench
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from refusals import json_refusals

from raybench.tracking.console import modes, telling

_TIME = re.compile(r'"time": "[^"]+"')
WRONG = (*SIMULATED, "autobench.iterations=0")


def state() -> list[object]:
    """Return the state of this process that a command changes."""
    return [
        [*sys.argv],
        [id(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        dict(os.environ),
        Path.cwd(),
        [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)],
        [[*logging.getLogger().handlers], logging.getLogger().level],
        [GlobalHydra.instance().is_initialized(), HydraConfig.instance().cfg],
        [modes._mode, id(telling._ending), telling._kept],
        sorted(Path("/proc/self/fd").iterdir()),
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (WRONG, 2),
        ((*WRONG, "--json"), 2),
        ((*WRONG, "--quiet"), 2),
        (("--multirun", *WRONG), 2),
        ((*SIMULATED, "dry_run=true"), 0),
        (("--version",), 0),
        ((), 0),
        (("--no-such-flag",), 2),
    ],
    ids=["refusal", "json", "quiet", "multirun", "plan", "version", "alone", "flag"],
)
def test_a_command_in_this_process_leaves_it_as_it_was(
    arguments: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    before = state()
    done = run_command(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert state() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
@pytest.mark.parametrize(
    "arguments",
    [WRONG, ("--multirun", *WRONG), (*WRONG, "--json"), (*SIMULATED, "dry_run=true")],
    ids=["refusal", "multirun", "json", "plan"],
)
def test_a_process_of_its_own_says_the_same(arguments: tuple[str, ...], tmp_path: Path) -> None:
    own = raybench(*arguments, cwd=tmp_path)
    assert "Traceback" not in own.stdout + own.stderr
    assert list(tmp_path.iterdir()) == []
    here = run_command(*arguments, cwd=tmp_path)
    assert own.returncode == here.returncode == (0 if "dry_run=true" in arguments else 2)
    assert own.stdout == here.stdout
    assert _TIME.sub("", own.stderr) == _TIME.sub("", here.stderr)
    if "--json" in arguments:
        document = json.loads(own.stdout)
        assert document["exit_code"] == 2
        assert json_refusals(document) == [("setting.range", "autobench.iterations")]
    elif own.returncode:
        assert own.stderr.startswith("raybench: autobench.iterations")
