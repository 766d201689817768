"""Runs that another version left, or that lack something: told in words, never a traceback."""

import copy
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from compare.making import named, run, units
from compare.test_other_ways import ablations, learned, phrased, planted, screened, suite
from compare.test_ways import iteration, match, peers, result, tournament
from refusals import refused

from raybench.compare import judging, ways
from raybench.compare.runs import Stored
from raybench.compare.shown import terminal
from raybench.compare.shown.told import told
from raybench.errors import RaybenchError

Made = Callable[[Path], Stored]


def _played(folder: Path) -> Stored:
    made: Stored = tournament(folder, [match(n, "x", "y", n % 2) for n in range(4)], ["x", "y"])
    points = {"value": 50.0, "stderr": 20.0, "ci95": [10.0, 90.0], "n": 30, "method": "BT"}
    line = {"of": "chess", "model": "x", "above": "y", "points": points, "p": 0.012}
    (folder / "pairs.jsonl").write_text(json.dumps(line) + "\n")
    return made


MADE: dict[str, Made] = {
    "index": lambda folder: run(folder, units("m", [True, False])),
    "autobench": lambda folder: peers(
        folder, [iteration(1, folder.name, x=2.0)], results=result(3.0, 0.03)
    ),
    "ablations": lambda folder: ablations(
        folder, {"full": [2.0, 2.5], "uniform_weights": [2.0, 3.0]}, 0.8
    ),
    "biases": lambda folder: planted(folder, [4, 5]),
    "games": _played,
    "phrasings": lambda folder: phrased(folder, "x", [True, False], (80.0, 120.0)),
    "optimise_players": lambda folder: learned(folder, [(0.2, 0.4), (0.3, 0.3)]),
    "hle_screen": lambda folder: screened(folder, {"p": True, "q": False}, right=True),
    "suite": lambda folder: suite(folder, [False] * 3, 2, 0.3),
}
"""A run of each experiment."""


def shown(*runs: Stored) -> str:
    """Compare runs and show them; return why that cannot be, or ''."""
    try:
        found, notes = ways.compared([named(it) for it in runs], ways.Wanted())
        concluded = judging.concluded(found)
        json.dumps(told(concluded, notes), allow_nan=False)
        terminal.show(concluded, notes, io.StringIO())
    except RaybenchError as error:
        return str(error)
    return ""


def without(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a document as often as it has keys, each time without one of them."""
    if isinstance(value, list):
        for at, it in enumerate(value):
            yield from ((name, [*value[:at], less, *value[at + 1 :]]) for name, less in without(it))
    if not isinstance(value, dict):
        return
    for key in value:
        yield key, {name: copy.deepcopy(it) for name, it in value.items() if name != key}
        yield from ((f"{key}/{name}", value | {key: less}) for name, less in without(value[key]))


def lacking(folder: Path) -> Iterator[str]:
    """Leave a key out of each document of a run in turn; yield which it is while it is gone."""
    for path in sorted([*folder.rglob("*.json"), *folder.rglob("*.jsonl")]):
        text = path.read_text()
        lines = text.splitlines() if path.suffix == ".jsonl" else [text]
        for name, less in without(json.loads(lines[0])) if text.strip() else ():
            path.write_text("".join(f"{it}\n" for it in [json.dumps(less), *lines[1:]]))
            yield f"{path.name}: {name}"
        path.write_text(text)


@pytest.mark.parametrize("of", MADE)
def test_whatever_one_side_lacks_there_is_a_comparison_or_a_reason(of: str, tmp_path: Path) -> None:
    one, other = MADE[of](tmp_path / "a"), MADE[of](tmp_path / "b")
    assert shown(one, other) == ""
    gone = []
    for name in lacking(other.folder):
        gone.append(name)
        why = shown(one, Stored.at(other.folder))
        assert "Traceback" not in why, name
    assert len(gone) > 5


def aged(run_: Stored, version: str) -> Stored:
    """Return a run as if another version of raybench had made it."""
    path = run_.folder / "config.yaml"
    path.write_text(path.read_text().replace("# raybench 0.1.0", f"# raybench {version}"))
    return Stored.at(run_.folder)


def test_a_field_that_another_version_did_not_write_is_named_with_both_versions(
    tmp_path: Path,
) -> None:
    records = [{k: v for k, v in it.items() if k != "by"} for it in units("m", [True])]
    one, old = run(tmp_path / "a", units("m", [True])), run(tmp_path / "b", records)
    with refused("journal.version") as told_:
        ways.compared([named(one), named(aged(old, "0.0.7"))], ways.Wanted())
    assert told_.value.given.endswith("units.jsonl, line 1")
    assert "'by'" in str(told_.value) and "0.0.7" in str(told_.value)


def test_a_score_that_another_version_did_not_write_is_named_with_both_versions(
    tmp_path: Path,
) -> None:
    one = peers(tmp_path / "a", [iteration(1, "a", x=2.0)], results=result(3.0, 0.03))
    old = peers(
        tmp_path / "b", [iteration(1, "b", x=2.0)], results={"run": {}, "models": {"x": {}}}
    )
    with refused("compare.nothing") as told_:
        ways.compared([named(one, "x"), named(aged(old, "0.0.7"), "x")], ways.Wanted())
    assert "'autobench/score'" in str(told_.value) and "0.0.7" in str(told_.value)
