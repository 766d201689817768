"""Sort tests into kinds and tiers by their markers.

A kind says what a test uses. `make check` runs the pure ones, `make test` all but the long ones,
and `make test-long` the long ones. `pytest --tiers` lists the tier and kind of every test.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import scheduling

KINDS = ("engine", "cluster", "browser", "ray", "sandbox", "process", "slow")
"""Markers by cost. The first one that a test bears is its kind; a test without any is `pure`."""

KIND_BY_FIXTURE = {
    "chromium": "browser",
    "seen": "browser",
    "lasting_ray": "ray",
    "on_lasting_ray": "ray",
    "own_ray": "ray",
    "served": "engine",
    "shared_runs": "process",
    "with_inspect": "process",
}
"""Fixtures that give the tests which use them a kind."""


_OTHERS_END = 0.85
"""Files that are not pure start within this share of the order."""
_ANSWERS = {
    "raybench.sandbox.environments": ("_configured", "_prepared"),
    "raybench.sandbox.interpreters": ("_configured", "_found"),
    "raybench.sandbox.places": ("_best",),
}
"""Functions by module that start a program once and remember its answer."""


@dataclass(frozen=True)
class Suite:
    """What pytest has collected, before `-m` takes anything away."""

    tiers: dict[str, str] = field(default_factory=dict)
    """The tier of every test."""
    short_forms: dict[str, str] = field(default_factory=dict)
    """The short form of every long test."""


SUITE = pytest.StashKey[Suite]()


def suite_of(items: list[pytest.Item]) -> Suite:
    """Return the tiers and short forms of what was collected."""
    suite = Suite()
    for item in items:
        suite.tiers[item.nodeid] = tier_of(item)
        for marker in item.iter_markers("long"):
            suite.short_forms[item.nodeid] = marker.kwargs["short"]
    return suite


def kind_of(item: pytest.Item) -> str:
    """Return the kind of a test: the most expensive thing that it uses."""
    marked = {marker.name for marker in item.iter_markers()}
    used = {
        KIND_BY_FIXTURE[name]
        for name in getattr(item, "fixturenames", ())
        if name in KIND_BY_FIXTURE
    }
    return next((kind for kind in KINDS if kind in marked | used), "pure")


def tier_of(item: pytest.Item) -> str:
    """Return the tier of a test: check, test or long."""
    if item.get_closest_marker("long"):
        return "long"
    return "check" if kind_of(item) == "pure" else "test"


def mark_kinds(items: list[pytest.Item]) -> None:
    """Give every test the marker of its kind, so that `-m pure` and `-m ray` select it."""
    for item in items:
        item.add_marker(kind_of(item))


def sort_by_cost(items: list[pytest.Item]) -> None:
    """Put the files with the most expensive kinds first, and the pure ones evenly between them.

    Groups of files that one worker runs (scheduling.py) start before all others. Expensive files
    mostly wait, pure ones compute: together they keep all processors busy. The run ends with pure
    files, which are short.
    """
    cost = {kind: place for place, kind in enumerate((*KINDS, "pure"))}
    costs: dict[Path, int] = {}
    for item in items:
        costs[item.path] = min(cost[kind_of(item)], costs.get(item.path, cost["pure"]))
    pure = [file for file in costs if costs[file] == cost["pure"]]
    others = sorted(
        (file for file in costs if file not in pure),
        key=lambda file: (scheduling.rank(file), costs[file]),
    )
    places = {file: place / len(pure) for place, file in enumerate(pure)}
    places |= {file: _OTHERS_END * place / len(others) for place, file in enumerate(others)}
    items.sort(key=lambda item: places[item.path])


def forget_programs() -> None:
    """Clear these caches: an earlier answer hides that a pure test starts a program."""
    for module, names in _ANSWERS.items():
        if module in sys.modules:
            for name in names:  # without a memory where a test has replaced it
                getattr(getattr(sys.modules[module], name), "cache_clear", lambda: None)()


def impurity(programs: list[str], slept: float) -> str | None:
    """Return why a test that did this is not pure, or None where it is."""
    if programs:
        return f"it starts a program ({programs[0]}): mark it with one of {', '.join(KINDS[:-1])}"
    if slept > 0.2:
        return f"it sleeps for {slept:.1f} s: wait for an event, or inject the clock"
    return None
