"""Every experiment tells MLflow alike: a child per model, by the keys that results.json has."""

import ast

import pytest
from helpers import ROOT

from raybench.cli import experiments

CHECKED = {
    "autobench": "autobench/test_run.py",
    "autobench_ablations": "autobench_ablations/test_run.py",
    "autobench_biases": "test_autobench_biases.py",
    "games": "games/test_run.py",
    "games_phrasings": "games_phrasings/test_run.py",
    "hle": "hle/test_run.py",
    "hle_screen": "hle_screen/test_run.py",
    "index": "index/test_run.py",
    "optimise_players": "optimise_players/test_run.py",
    "suite": "suite/test_run.py",
}
"""Where a run, which is made there already, is held to it (`keyed.check`)."""
UNTRACKED = {"compiled_players", "serve"}
"""They rank nothing, and leave no run."""


def held(source: str) -> set[str]:
    """Return the experiments whose finished runs the tests of a file always hold to it."""
    tree = ast.parse(source)
    if not any(
        isinstance(it, ast.ImportFrom) and it.module == "keyed" and it.names[0].name == "check"
        for it in tree.body
    ):
        return set()
    texts = {
        it.targets[0].id: it.value
        for it in tree.body
        if isinstance(it, ast.Assign) and isinstance(it.targets[0], ast.Name)
    }
    return {
        str(ast.literal_eval(texts.get(name.id, name) if isinstance(name, ast.Name) else name))
        for test in tree.body
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
        if not test.decorator_list  # nothing skips it
        for line in test.body
        if isinstance(line, ast.Assert | ast.Assign | ast.Expr)  # and no condition stands before
        for call in ast.walk(line)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "check"
        for run, name in [call.args]
        if ast.unparse(run) == "finished"
    }


def test_no_experiment_is_left_out() -> None:
    assert {*CHECKED, *UNTRACKED} == {*experiments()}
    for name, file in CHECKED.items():
        assert held((ROOT / "tests" / "experiments" / file).read_text()) == {name}, file


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("def test_it(finished): assert check(finished, 'games')", {"games"}),
        ("NAME = 'games'\ndef test_it(finished): read = check(finished, NAME)", {"games"}),
        ("# check(finished, 'games')", set()),
        ("def helper(finished): check(finished, 'games')", set()),
        ("def test_it(finished):\n if finished: check(finished, 'games')", set()),
        ("@pytest.mark.skip\ndef test_it(finished): check(finished, 'games')", set()),
        ("def test_it(other): check(other, 'games')", set()),
    ],
)
def test_only_what_is_always_called_counts(lines: str, names: set[str]) -> None:
    assert held(f"from keyed import check\n{lines}") == names
    assert held(lines) == set()
