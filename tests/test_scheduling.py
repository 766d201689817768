"""Files of a group are tested by one worker; all others by the worker that is free."""

from types import SimpleNamespace

import pytest
from helpers import ROOT
from scheduling import GroupsOfFiles


def scope(file: str) -> str:
    """Return the scope in which the scheduler puts a test of this file."""
    scheduler = GroupsOfFiles.__new__(GroupsOfFiles)
    scheduler.config = SimpleNamespace(rootpath=ROOT)
    return str(scheduler._split_scope(f"{file}::test_it[a::b]"))


@pytest.mark.parametrize(
    "files",
    [
        ["fleet/test_host_real.py", "fleet/test_endpoint_real.py", "experiments/test_real.py"],
        ["compare/test_command.py", "experiments/hle/test_run.py", "fleet/test_own_ray.py"],
        ["fleet/test_replica.py", "fleet/on_cpu/test_worker.py", "fleet/test_deployment.py"],
    ],
    ids=["engines", "a Ray that stays up", "imports of vLLM"],
)
def test_files_of_a_group_have_one_worker(files: list[str]) -> None:
    assert len({scope(f"tests/{file}") for file in files}) == 1


def test_other_files_are_groups_of_their_own() -> None:
    plain = "tests/test_paths.py"
    assert scope(plain) == plain
    assert scope("tests/test_demo.py") != scope("tests/fleet/test_replica.py")
