"""What can be wrong with the sandbox itself, which is never held against a program."""

from raybench.errors import RaybenchError, RunFailed


class SandboxUnavailableError(RunFailed):
    """This machine does not let us confine programs."""


class SandboxFaultError(RaybenchError):
    """A run came to nothing in all its tries, through no doing of its program."""
