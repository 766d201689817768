"""What stands in for the actors of Ray Data; tests/fleet/test_own_ray.py runs a graph on it."""

import pickle
from importlib import import_module
from types import FunctionType

from raybench.pipeline.alone import _STANDINS, Either, Standin, settle


def test_ray_data_finds_them_by_functions_of_these_names() -> None:
    settle()
    settle()  # and once is enough
    for path in _STANDINS:
        module, _, name = path.rpartition(".")
        found = getattr(import_module(module), name)
        assert isinstance(found, Either)
        assert isinstance(found._plain, FunctionType)


def test_a_standin_travels_and_answers_only_what_is_waited_for() -> None:
    there = pickle.loads(pickle.dumps(Standin(asked=max)))
    assert there.anything.remote(1, name=2) is None
    assert there.asked._answer is max
