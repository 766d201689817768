r"""Untrusted code: one call in, one outcome out.

outcome = sandbox.run("print(input()[::-1])", stdin="abc")
outcome.status, outcome.stdout    # 'ok', 'cba\n'
"""

import atexit

from raybench.sandbox.errors import SandboxFaultError, SandboxUnavailableError
from raybench.sandbox.outcome import Backend, Limits, Outcome, Profile, Status
from raybench.sandbox.places import Settings
from raybench.sandbox.runner import Runner

__all__ = [
    "Backend",
    "Limits",
    "Outcome",
    "Profile",
    "SandboxFaultError",
    "SandboxUnavailableError",
    "Settings",
    "Status",
    "configure",
    "run",
]

_runner = Runner()
atexit.register(lambda: _runner.close())


def run(
    source: str,
    *,
    stdin: str = "",
    files: dict[str, bytes] | None = None,
    limits: Limits = Limits(),
    profile: Profile = "plain",
) -> Outcome:
    """Run a Python program that nobody vouches for, and return what came of it.

    It runs as `__main__` in a folder that holds `files`, behind walls that this machine allows (see
    sandboxes/README.md). Raises SandboxUnavailableError where it allows none, SandboxFaultError
    where the sandbox itself fails in all tries: neither says anything about the program.
    """
    return _runner.run(source, stdin, files or {}, limits, profile)


def configure(settings: Settings) -> None:
    """Have this process run programs in another way from now on."""
    global _runner
    _runner.close()
    _runner = Runner(settings)
