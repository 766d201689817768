"""Whole records are read where one is wanted, and no others with them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tournament.outcomes import won

from raybench import games
from raybench.experiments.games import transcripts
from raybench.experiments.games.recorded import Recorded
from raybench.pipeline import rows
from raybench.tournament import records
from raybench.tournament.fixtures import Fixture
from raybench.tournament.records import Match
from raybench.tournament.turns import Ending, Turn


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Recorded, list[Match]]:
    """A journal in which matches stand as they ended, and one of whose lines nobody may read."""
    matches = [won(n, "a", "b", 1, void="gone" if n == 2 else None) for n in (3, 1, 2)]
    lines = [json.dumps({"match": it.number, "reply": "\udc80 ≥"}) for it in matches[:2]]
    journal = tmp_path / "matches.jsonl"
    text = "\n".join([*lines, "no JSON", ""])
    journal.write_bytes(text.encode("utf-8", "surrogatepass"))
    return Recorded(journal, matches), matches


def test_a_match_is_found_by_its_number_wherever_it_stands(
    kept: tuple[Recorded, list[Match]],
) -> None:
    recorded, (third, first, _) = kept
    assert (recorded.of(first)["match"], recorded.of(third)["match"]) == (1, 3)


def test_transcripts_have_the_matches_that_count_in_the_order_of_their_numbers(
    kept: tuple[Recorded, list[Match]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def written(record: dict[str, Any], rules: dict[str, Any]) -> str:
        return f"{record['match']} by {rules}"

    monkeypatch.setattr(transcripts, "written", written)
    rows._offsets.cache_clear()
    files = transcripts.texts(*kept, {"chess": {"plies": 9}}, ["chess", "poker"])
    assert "".join(files["transcripts/chess.pgn"]()) == "1 by {'plies': 9}\n\n3 by {'plies': 9}\n\n"
    assert "".join(files["transcripts/poker.txt"]()) == ""
    assert rows._offsets.cache_info().misses == 1, "the journal is gone through once"


@pytest.mark.parametrize("game", ["chess", "liars_dice", "pyjail"])
def test_a_match_of_other_rules_is_said_to_be_in_the_journal(game: str) -> None:
    """A run that was finished by an older version is concluded anew."""
    first = games.load(game).new(3)
    role = str(first.to_move)
    turn = Turn(role, "a", "", "", "", "no move of these rules", None)
    fixture = Fixture(game, ("a", "b"), 3)
    ending = Ending(dict.fromkeys(first.roles, 0.0), "ended")
    record = records.finished(7, 0, fixture, first.roles, [turn] * 9, ending)
    told = transcripts.written(record, {})
    assert "replayed" in told and "journal" in told
