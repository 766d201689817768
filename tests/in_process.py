"""Runs of the command line in the process of the tests: its imports take longer than small runs."""

import io
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from raybench import cli
from raybench.compare import command

_NO_PLOT = '<svg width="9pt" height="9pt" viewBox="0 0 9 9"></svg>'


@dataclass(frozen=True)
class Ended:
    """The exit code and the output of a command."""

    returncode: int
    stdout: str
    stderr: str


def run_here(*arguments: str, cwd: Path, plots: bool = False) -> Ended:
    """Run a command that needs no Ray in a folder, in this process.

    Its plots are empty unless `plots` is set: to draw them is half the work of a small run.
    """
    out, err = io.StringIO(), io.StringIO()
    drawing = nullcontext() if plots else without_plots()
    with drawing, chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        given = cli.with_tables(cli.own_roster(cli.at_home(arguments)))
        code = cli._job(cli.compose(given))
    return Ended(code, out.getvalue(), err.getvalue())


def compare_here(*arguments: str, cwd: Path, environment: Mapping[str, str] | None = None) -> Ended:
    """Run `python -m raybench.compare` in a folder, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patched, chdir(cwd):
        for name, value in {"NO_COLOR": "1", **(environment or {})}.items():
            patched.setenv(name, value)
        patched.setattr(sys, "argv", ["raybench.compare", *arguments])
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            command.main()
    assert isinstance(ended.value.code, int)
    return Ended(ended.value.code, out.getvalue(), err.getvalue())


@contextmanager
def without_plots() -> Iterator[None]:
    """Have matplotlib write empty images."""
    from matplotlib.figure import Figure

    def save(_: Figure, out: io.StringIO, **_options: Any) -> None:
        out.write(_NO_PLOT)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Figure, "savefig", save)
        yield
