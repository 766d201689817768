"""Tiers: every long form has a short one that `make test` runs."""

from pathlib import Path

import pytest
import tiers


def test_every_long_form_has_a_short_one(request: pytest.FixtureRequest) -> None:
    """As far as the files of both are collected; in `make check` and `make test` all are."""
    suite = request.config.stash[tiers.SUITE]
    collected = {node.partition("::")[0] for node in suite.tiers}
    for long, short in suite.short_forms.items():
        file = short.partition("::")[0]
        assert Path(request.config.rootpath, file).is_file(), f"{long}: there is no {file}"
        if file in collected:
            found = {tier for node, tier in suite.tiers.items() if _is_of(node, short)}
            assert found, f"{long}: there is no {short}"
            assert "long" not in found or len(found) > 1, f"{long}: {short} is long as well"


def _is_of(node: str, test: str) -> bool:
    """Tell whether a collected item is a test or one of its cases."""
    return node == test or node.startswith(f"{test}[")
