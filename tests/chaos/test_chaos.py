"""Runs that are disturbed and cut off come to what they would have come to.

All tests share one cluster of three hosts. An hour of this, by hand: `__main__.py`.
"""

from collections.abc import Iterator

import pytest
from chaos.rounds import Round, calm, disturbed, figures
from chaos.scenarios import BRIEF, SCENARIOS, Scenario, later
from chaos.schedule import drawn
from chaos.world import FAR, World, right, world
from host_failures import check_that_others_finish
from hosts import NEEDS_HOSTS

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200), NEEDS_HOSTS]
_SEED = 11
_ROUNDS = 4
_BRIEF_S = 1.0
"""How long a fault of the short form lasts at most."""
_NO_ENGINES = ("letters", "programs", "games", "endpoint")
"""Engines take minutes to come up again, each time: by hand only, with the rest."""


@pytest.fixture(scope="module")
def here() -> Iterator[World]:
    """Yield the three hosts and the services that runs speak to."""
    with world() as started:
        yield started


def check_that_faults_change_nothing(
    here: World, scenario: Scenario, name: str, **longest: float
) -> None:
    """Disturb a run until every fault of its scenario has happened; compare with a calm run.

    A fault for which a run ended too early happens in the next one.
    """
    undisturbed = calm(here, scenario, name)
    rounds, left = list[Round](), list(scenario.faults)
    while left and len(rounds) < _ROUNDS:
        events = drawn(_SEED + len(rounds), left, **longest)
        rounds.append(disturbed(here, scenario, undisturbed, events, f"{name}-{len(rounds)}"))
        left = rounds[-1].late
    print(figures(rounds))
    assert left == []
    assert all(it.whole for it in rounds), rounds


@pytest.mark.parametrize("name", BRIEF)
def test_a_disturbed_run_ends_as_an_undisturbed_one(name: str, here: World) -> None:
    check_that_faults_change_nothing(here, BRIEF[name], f"{name}-brief", longest_s=_BRIEF_S)


def test_others_finish_what_a_dead_host_began(here: World) -> None:
    """Peers, in the short form of `test_hosts.py`."""
    right(here)
    here.lan.bring_all_back(*FAR)
    # Models take their time: else a busy machine cuts the host off when all is done.
    arguments = ["autobench.iterations=120", "autobench.at_once=16", *later(0.3)]
    check_that_others_finish(here.lan, here.disk, "autobench", arguments, "_Seated", units=1)
    here.lan.bring_all_back(*FAR)


@pytest.mark.long(
    short="tests/chaos/test_chaos.py::test_a_disturbed_run_ends_as_an_undisturbed_one"
)
@pytest.mark.parametrize("name", _NO_ENGINES)
def test_every_fault_changes_nothing(name: str, here: World) -> None:
    check_that_faults_change_nothing(here, SCENARIOS[name], name)
