"""Every match as the report's reader has it: turn by turn, chess on a board."""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import chess
from reading import page, read_back

from raybench.experiments.games import boards
from raybench.experiments.games.recorded import Recorded
from raybench.experiments.games.units import INVALID, Part, of_several, units
from raybench.tournament import records
from raybench.tournament.fixtures import Fixture
from raybench.tournament.turns import Ending, Forfeit, Turn

RULES = {"openings": "none", "resign": True}
MATE = ("f3", "e5", "g4", "Qh4#")


def said(role: str, move: str | None, error: str | None = None) -> Turn:
    model = {"white": "a", "black": "b"}[role]
    return Turn(role, model, "move", f"{role} sees", f"Move: {move}", move, error)


def played(number: int, turns: list[Turn], ending: Ending, seed: int = 1) -> dict[str, Any]:
    fixture = Fixture("chess", ("a", "b"), seed)
    return records.finished(number, 0, fixture, ("white", "black"), turns, ending)


def mated(number: int) -> dict[str, Any]:
    turns = [said(("white", "black")[at % 2], san) for at, san in enumerate(MATE)]
    turns.insert(1, said("black", "e6e7", "absent"))
    return played(number, turns, Ending({"white": -1.0, "black": 1.0}, "checkmate: Black won"))


def forfeited(number: int) -> dict[str, Any]:
    turns = [said("white", "e4"), said("black", None, "moveless")]
    ending = Ending(
        {"white": 1.0, "black": -1.0},
        "black forfeited",
        forfeits=(Forfeit("black", "invalid moves", 2),),
    )
    return played(number, turns, ending)


def made(folder: Path, *those: dict[str, Any]) -> Any:
    journal, matches = folder / "matches.jsonl", [records.kept(it) for it in those]
    journal.write_text("".join(json.dumps(it) + "\n" for it in those))
    return units(Recorded(journal, matches), matches, {"chess": RULES}, {2: "a forfeit"})


def test_a_match_of_chess_replays_on_a_board(tmp_path: Path) -> None:
    (unit,) = made(tmp_path, mated(7)).each()
    body = unit.body()
    outcome = mated(7)["outcome"]
    assert unit.key == "match-7" and unit.summary.endswith(f" 7: {outcome}")
    board = chess.Board()
    for ply, san in zip(body.plies[1:], MATE, strict=True):
        board.push_san(san)
        assert ply.fen == board.board_fen()
        assert ply.said.endswith(san)
    assert [ply.turn for ply in body.plies] == [None, 0, 2, 3, 4]  # the mistake moved nothing
    assert body.plies[-1].squares == ("d8", "h4")
    assert body.plies[-1].by == "black, b"
    assert body.ending == outcome
    headings = [it.heading for it in body.texts if it.heading]
    assert headings[1].startswith("Turn 2: black (b)")
    assert [it.text for it in body.texts if it.label == INVALID] == ["absent"]


def test_who_forfeited_and_why(tmp_path: Path) -> None:
    first, unit = made(tmp_path, mated(1), forfeited(2)).each()
    assert unit.facets["ended"] == "by forfeit"
    assert unit.facets["forfeited by"] == ["b"]
    assert (unit.facets["won by"], unit.facets["mistakes"]) == (["a"], 1)
    assert (unit.kept, first.kept) == (True, False)
    ending = unit.body().ending
    assert "black (b)" in ending and "turn 2" in ending and "invalid moves" in ending
    assert ending.endswith("moveless")


def test_who_resigns_moves_nothing_and_is_told_of() -> None:
    turns = [said("white", "e4"), said("black", "resign")]
    record = played(1, turns, Ending({"white": 1.0, "black": -1.0}, "Black resigned: White won"))
    start, moved, resigned = boards.plies(record, RULES)
    assert start.fen != moved.fen == resigned.fen
    assert (resigned.said, resigned.squares, resigned.turn) == ("resign", (), 1)


def test_the_opening_that_was_set_is_part_of_it() -> None:
    record = played(1, [], Ending({"white": 0.0, "black": 0.0}, "draw"))
    found = boards.plies(record, {})
    assert len(found) > 2
    assert {it.by for it in found[1:]} == {"the opening, which was set"}


def test_a_match_that_the_rules_no_longer_allow_has_no_board(tmp_path: Path) -> None:
    record = played(3, [said("white", "Qh7#")], Ending({"white": 1.0, "black": -1.0}, "old"))
    found = made(tmp_path, record)
    (unit,) = found.each()
    assert unit.body().plies == []
    ((_, read),) = read_back(page(found))
    assert "white sees" in [text for _, text in read["texts"]]


def test_the_same_deal_in_two_tournaments_of_one_journal_stands_together(tmp_path: Path) -> None:
    journal, those = tmp_path / "matches.jsonl", [mated(1), forfeited(2), forfeited(1), mated(2)]
    journal.write_text("".join(json.dumps(it) + "\n" for it in those))
    kept = [records.kept(it) for it in those]
    parts = [
        Part("own", {"words": "0"}, Recorded(journal, [*kept[:2], None, None]), kept[:2], {}),
        Part("other", {"words": "1"}, Recorded(journal, [None, None, *kept[2:]]), kept[2:], {}),
    ]
    found = [*of_several(parts, ["words"]).each()]
    assert [(it.key, it.line, it.facets["ended"]) for it in found] == [
        ("own-match-1", 1, "played"),
        ("other-match-1", 3, "by forfeit"),
        ("own-match-2", 2, "by forfeit"),
        ("other-match-2", 4, "played"),
    ]
    assert [it.facets["words"] for it in found] == ["0", "1", "0", "1"]
    assert len({it.group for it in found}) == 1
    assert "black forfeited" in found[1].body().texts[1].text


def test_deals_that_two_tournaments_number_alike_are_not_mixed(tmp_path: Path) -> None:
    journal, drawn = tmp_path / "matches.jsonl", Ending({"white": 0.0, "black": 0.0}, "draw")
    those = [played(number, [], drawn, seed) for number, seed in ((1, 1), (2, 2), (1, 2), (2, 1))]
    journal.write_text("".join(json.dumps(it) + "\n" for it in those))
    kept = [records.kept(it) for it in those]
    parts = [
        Part("own", {}, Recorded(journal, [*kept[:2], None, None]), kept[:2], {}),
        Part("other", {}, Recorded(journal, [None, None, *kept[2:]]), kept[2:], {}),
    ]
    found = [*of_several(parts, []).each()]
    assert [len([*those]) for _, those in groupby(it.group for it in found)] == [2, 2]
    assert {it.stratum for it in found} == {"chess"}
