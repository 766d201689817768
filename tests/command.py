"""Run the command line in the process of the tests: for refusals and plans, which start nothing.

A process of its own costs 0.8 to 1.1 CPU seconds, most of them for imports. A few tests of
tests/test_cli.py start one, and so prove the way from a process to a refusal. Whole runs start
processes (helpers.raybench): what Ray and event loops leave behind does not stay in this one.
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from pytest import MonkeyPatch

from raybench import cli
from raybench.tracking.console import modes, telling

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)


def run_command(
    *arguments: str,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    main: Callable[[], None] = cli.main,
) -> subprocess.CompletedProcess[str]:
    """Run `raybench`, or another command, with these arguments; return its exit code and output."""
    written = {}
    with ExitStack() as stack:
        patched = stack.enter_context(MonkeyPatch.context())
        # Files, not StringIO: the command line duplicates and redirects the descriptors of its
        # streams. What it has written is therefore read through descriptors of our own.
        for name in ("stdout", "stderr"):
            written[name] = stack.enter_context(TemporaryFile("w+", encoding="utf-8"))
            stream = os.fdopen(os.dup(written[name].fileno()), "w", encoding="utf-8")
            patched.setattr(sys, name, stack.enter_context(stream))
        stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - closed by the stack
        patched.setattr(sys, "stdin", stack.enter_context(stdin))
        patched.setattr(sys, "argv", ["raybench", *arguments])
        for name, value in {"NO_COLOR": "1", **(environment or {})}.items():
            patched.setenv(name, value)
        with _as_in_a_new_process(), chdir(cwd):
            code = _exit_code(main)
        for name, file in written.items():
            getattr(sys, name).flush()
            file.seek(0)
        stdout, stderr = (file.read() for file in written.values())
    return subprocess.CompletedProcess(["raybench", *arguments], code, stdout, stderr)


def _exit_code(main: Callable[[], None]) -> int:
    """Call the command line; an exception that it lets through fails the test as it is."""
    try:
        main()
    except SystemExit as ending:
        if ending.code is None or isinstance(ending.code, int):
            return ending.code or 0
        print(ending.code, file=sys.stderr)  # as the interpreter does
        return 1
    return 0


@contextmanager
def _as_in_a_new_process() -> Iterator[None]:
    """Hide the state that a command leaves in its process, and restore what was there before."""
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    root = logging.getLogger()
    logged, level = [*root.handlers], root.level
    composed = HydraConfig.instance().cfg
    hydra = GlobalHydra.instance().hydra
    with MonkeyPatch.context() as patched:
        patched.setattr(modes, "_mode", "auto")
        patched.setattr(telling, "_ending", telling._Ending())
        patched.setattr(telling, "_kept", None)
        HydraConfig.instance().cfg = None
        GlobalHydra.instance().hydra = None
        try:
            yield
        finally:
            if telling._kept is not None:
                os.close(telling._kept)
            HydraConfig.instance().cfg = composed
            GlobalHydra.instance().hydra = hydra
            root.handlers[:] = logged
            root.setLevel(level)
            for number, handler in handlers.items():
                signal.signal(number, handler)
