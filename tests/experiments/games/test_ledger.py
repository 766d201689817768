"""The journal of turns as a run that goes on reads it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from refusals import refused

from raybench.experiments.games.ledger import Ledger
from raybench.pipeline.journal import Journal
from raybench.tournament import records
from raybench.tournament.fixtures import Fixture
from raybench.tournament.turns import Turn

BEGUN = records.begun(7, Fixture("liars_dice", ("a", "b"), 3))


def turned(place: int, move: str) -> dict[str, Any]:
    turn = Turn("player_1", "a", "bid", "", f"Move: {move}", move, None)
    return records.turned(7, 0, turn, place)


def read(path: Path, *lines: Mapping[str, Any]) -> Ledger:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ledger = Ledger(ended=())
    Journal(path, ledger.enter).close()
    return ledger


def test_a_turn_that_stands_twice_in_the_journal_is_told_with_its_line_or_counts_once(
    tmp_path: Path,
) -> None:
    path, first = tmp_path / "turns.jsonl", turned(1, "bid 1 4")
    found = read(path, BEGUN, first, first, turned(2, "call"), first).unfinished[7]
    assert [turn.move for turn in found.turns] == ["bid 1 4", "call"]
    with refused("journal.invalid", given=f"{path}, line 4"):
        read(path, BEGUN, first, turned(2, "call"), turned(1, "bid 2 4"))
