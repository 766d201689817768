"""Which of the sandbox's places has the libraries that a program asks for."""

import re

from raybench.sandbox import Profile

_SCIENTIFIC = re.compile(
    r"(?:^|[;:])[ \t]*(?:import|from)[ \t][^#\n]*\b(?:numpy|scipy|sympy)\b", re.MULTILINE
)
"""Lines, not syntax: this Python may be older than the one that will read the program."""


def profile(program: str) -> Profile:
    """Return where a program finds its libraries: beside Python's own only if it imports any."""
    return "scientific" if _SCIENTIFIC.search(program) else "plain"
