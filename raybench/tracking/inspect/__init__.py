"""Inspect's log format: what a benchmark's units become in it, and its archives of them."""

VERSION = 2
"""Of the format: what Inspect calls the version of its log schema."""


def known_as(model: str) -> str:
    """Return what Inspect calls a model: it wants a provider's name, and none of its own asked."""
    return f"raybench/{model}"
