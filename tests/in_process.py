"""Runs of the command line in the process of the tests: its imports take longer than small runs."""

import io
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from raybench import cli


@dataclass(frozen=True)
class Ended:
    """The exit code and the output of a command."""

    returncode: int
    stdout: str
    stderr: str


def run_here(*arguments: str, cwd: Path) -> Ended:
    """Run a command that needs no Ray in a folder, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        given = cli.with_tables(cli.own_roster(cli.at_home(arguments)))
        code = cli._job(cli.compose(given))
    return Ended(code, out.getvalue(), err.getvalue())
