"""Runs of strangers, in which any value may be anything: told in words, never a traceback."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from compare.test_older import MADE

from raybench.compare import command
from raybench.errors import RaybenchError

HOSTILE: tuple[Any, ...] = (
    *(None, [], {}, "", "x", "1", -1, 10**30, 1.5, True, [None], {"x": None}, [[1]], "\ud800"),
    *("../x", "<script>", float("nan"), float("inf"), {"value": "x"}, [1, "x"]),
)
SOME = 60
"""Of what can be changed in a run so many, drawn by chance, always the same."""


def mangled(value: Any, rng: random.Random) -> Iterator[tuple[str, Any]]:
    """Yield a document as often as it has values, each time with another one of them changed."""
    yield from (("", it) for it in rng.sample(HOSTILE, 3))
    if isinstance(value, dict):
        for key, it in value.items():
            for name, other in mangled(it, rng):
                yield f"{key}/{name}", {**copy.deepcopy(value), key: other}
    elif isinstance(value, list):
        for at, it in enumerate(value):
            for name, other in mangled(it, rng):
                yield f"{at}/{name}", [*value[:at], other, *value[at + 1 :]]


def changed(folder: Path, rng: random.Random) -> Iterator[tuple[str, Path, str]]:
    """Yield what a file of a run may be instead."""
    for path in sorted([*folder.rglob("*.json"), *folder.rglob("*.jsonl")]):
        text = path.read_text()
        lines = text.splitlines() if path.suffix == ".jsonl" else [text]
        for number, line in enumerate(lines):
            for name, other in mangled(json.loads(line), rng) if line.strip() else ():
                put = [*lines[:number], json.dumps(other), *lines[number + 1 :]]
                yield f"{path.name}:{number}: {name}", path, "\n".join([*put, ""])


@pytest.mark.parametrize("of", MADE)
def test_whatever_a_run_holds_there_is_a_comparison_or_a_reason(
    of: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = MADE[of](tmp_path / "a"), MADE[of](tmp_path / "b")
    rng, told = random.Random(of), 0
    every = list(changed(other.folder, rng))
    for _, path, text in rng.sample(every, min(SOME, len(every))):
        whole = path.read_text()
        path.write_text(text)
        try:
            command.run([str(one.folder), str(other.folder), "--json"])
            json.loads(capsys.readouterr().out)
        except RaybenchError as error:
            told += bool(str(error))
        path.write_text(whole)
    assert len(every) > 10
    assert told > 0
