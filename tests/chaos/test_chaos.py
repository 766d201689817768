"""The short form: what can break does so once, and every run comes to its end all the same."""

from collections.abc import Iterator

import pytest
from chaos.rounds import Round, calm, disturbed, figures
from chaos.scenarios import SCENARIOS
from chaos.schedule import drawn
from chaos.world import World, world
from hosts import NEEDS_HOSTS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), NEEDS_HOSTS]
_SEED = 11
_ROUNDS = 4
_SHORT = ("letters", "programs", "games", "endpoint")
"""Engines take minutes to come up again, each time: by hand, with the rest (`__main__.py`)."""


@pytest.fixture(scope="module")
def here() -> Iterator[World]:
    with world() as found:
        yield found


@pytest.mark.parametrize("name", _SHORT)
def test_a_run_comes_to_what_it_would_have_come_to(name: str, here: World) -> None:
    scenario = SCENARIOS[name]
    undisturbed = calm(here, scenario, name)
    rounds, left = list[Round](), list(scenario.faults)
    while left and len(rounds) < _ROUNDS:  # what a run was over for happens in another one
        events = drawn(_SEED + len(rounds), left)
        rounds.append(disturbed(here, scenario, undisturbed, events, f"{name}-{len(rounds)}"))
        left = rounds[-1].late
    print(figures(rounds))
    assert left == []
    assert all(it.whole for it in rounds), rounds
