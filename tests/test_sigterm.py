"""SIGTERM reaches Python's handler, whatever handler libraries put in its place."""

import signal
import subprocess
import sys
import textwrap

import pytest
from helpers import ROOT

from raybench import sigterm

pytestmark = pytest.mark.process

# Ray's core registers, past Python, a handler that aborts the process; the default one kills it.
ENDS_BY_SIGTERM = """
    import ctypes, os, signal, threading, time
    from raybench import sigterm

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with sigterm.received():
        threading.Thread(target=time.sleep, args=[60], daemon=True).start()
        ctypes.CDLL(None).signal(signal.SIGTERM, None)
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            {wait}
        except KeyboardInterrupt:
            raise SystemExit(7) from None
"""


@pytest.mark.parametrize("wait", ["time.sleep(60)", "threading.Event().wait(60)", "input()"])
def test_no_handler_but_pythons_runs_whatever_is_waited_for(wait: str) -> None:
    code = textwrap.dedent(ENDS_BY_SIGTERM.format(wait=wait))
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        assert process.wait(50) == 7


SAYS_WHAT_IS_BLOCKED = [
    sys.executable,
    "-c",
    "import signal; print(signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, ()))",
]


def test_a_process_ends_by_it_where_that_is_wanted() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with sigterm.received():
        inherited = subprocess.check_output(SAYS_WHAT_IS_BLOCKED, text=True).strip()
        with sigterm.unblocked():
            usual = subprocess.check_output(SAYS_WHAT_IS_BLOCKED, text=True).strip()
    assert (inherited, usual) == ("True", "False")
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
