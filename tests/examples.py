"""Numbers of examples for properties that cost more than the others."""

from typing import Any

from hypothesis import settings

_IN_PROFILE = 50
"""Examples of a property in the profile of `make test` (tests/conftest.py)."""


def examples(number: int, **others: Any) -> settings:
    """Return settings for this many examples; a thorough profile has as many times more of them."""
    most = settings.default.max_examples if settings.default else _IN_PROFILE
    return settings(max_examples=max(1, number * most // _IN_PROFILE), **others)
