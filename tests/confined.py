"""For tests that run what nobody vouches for: only where it is confined."""

import pytest

from raybench import sandbox
from raybench.sandbox import SandboxUnavailableError


def or_skip() -> None:
    """Skip the test where programs are not confined."""
    try:
        backend = sandbox.run("").backend
    except SandboxUnavailableError as error:
        pytest.skip(str(error))
    if backend == "unsafe":
        pytest.skip("programs are not confined here")
