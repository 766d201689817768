"""What a Ray of our own is like: who listens, what runs next to it, and what it leaves.

One program starts a Ray, joins another and starts a third (tests/own_ray.py); the tests read what
it has seen.
"""

import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from listening import Listener, listeners
from own_ray import FACTS, told

from raybench.fleet.ray_environment import UNWATCHED


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def facts(home: Path, lasting_ray: str) -> dict[str, Any]:
    found: dict[str, Any] = told(FACTS, home, lasting_ray)
    return found


def test_all_that_listens_is_on_loopback_and_the_token_is_ours_alone(
    facts: dict[str, Any], home: Path
) -> None:
    found = [Listener(*each) for each in facts["own"]["listeners"]]
    # The control store, the node's manager and agents, the driver, what Serve has.
    assert {"gcs_server", "raylet"} <= {it.process for it in found}
    assert any("ServeReplica" in it.process for it in found)
    assert len(found) >= 8
    assert [it for it in found if not it.inside] == []
    assert stat.S_IMODE((home / ".ray" / "auth_token").stat().st_mode) == 0o600


@pytest.mark.parametrize(("address", "inside"), [("0.0.0.0", False), ("127.0.0.1", True)])
def test_what_counts_as_inside(address: str, inside: bool) -> None:
    with socket.create_server((address, 0)) as server:
        port = server.getsockname()[1]
        assert [it.inside for it in listeners() if it.port == port] == [inside]


def test_no_monitor_and_no_dashboard_run(facts: dict[str, Any]) -> None:
    commands = facts["own"]["commands"]
    assert any("raylet" in command for command in commands)
    scripts = [command for command in commands if "/raylet/raylet" not in command]  # names many
    for bystander in ("log_monitor.py", "monitor.py", "dashboard.py"):
        assert [command for command in scripts if f"/{bystander}" in command] == []


def test_it_keeps_no_timeline_unless_the_user_asks_for_one(facts: dict[str, Any]) -> None:
    assert not facts["own"]["seen"]  # the program waits for that of the third Ray, which has one
    assert UNWATCHED.items() <= facts["own"]["environment"].items()


def test_a_ray_that_is_joined_is_watched_as_its_operator_likes(facts: dict[str, Any]) -> None:
    # The program waits for its timeline.
    assert not UNWATCHED.keys() & facts["joined"]["environment"].keys()


def test_ray_data_starts_no_actors_next_to_a_graph(facts: dict[str, Any]) -> None:
    assert facts["own"]["rows"] == [2 * number for number in range(100)]
    assert facts["own"]["actors"] == []


def test_on_a_ray_that_is_joined_ray_data_starts_its_actors(facts: dict[str, Any]) -> None:
    assert facts["joined"]["rows"] == [2 * number for number in range(100)]
    assert len(facts["joined"]["actors"]) >= 3
    assert "ActorLocationTracker" in facts["joined"]["actors"]


def test_the_process_of_a_stage_is_not_taken_down_by_ray(facts: dict[str, Any]) -> None:
    # Without the preparation it is, and that hangs once in a hundred times.
    assert facts["own"]["destructed"] == {"plain": True, "prepared": False}


def test_a_worker_that_is_stuck_is_ended(facts: dict[str, Any]) -> None:
    assert facts["own"]["stuck is gone"]


def test_rays_that_ask_for_a_token_and_that_do_not_follow_one_another(
    facts: dict[str, Any],
) -> None:
    """Ray would keep the first one's mode for the whole process.

    The second one took its driver, whom it had turned away, for dead; the third had a control store
    that asked for a token, and clients without one.
    """
    assert facts["again"]["works"]
    assert facts["mode"] is None
