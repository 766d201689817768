"""Matches as people read them."""

import json
import random
import re
from pathlib import Path
from typing import Any, cast

import pytest

from raybench import games
from raybench.experiments.games import transcripts
from raybench.experiments.games.recorded import Recorded
from raybench.experiments.games.report.endings import _jury
from raybench.experiments.games.report.shown import Shown
from raybench.games.parts import transcript
from raybench.games.parts.debate.verdict import CRITERIA
from raybench.tournament import records
from raybench.tournament.fixtures import Fixture
from raybench.tournament.turns import Ending, Turn
from raybench.types import Estimate

SCORES = json.dumps({side: dict.fromkeys(CRITERIA, 5) for side in ("side_a", "side_b")})


def debate(number: int, votes: list[dict[str, Any]] | None, void: str, missing: str | None) -> Any:
    """A debate that came to nothing: the jury was not heard, or decided nothing."""
    state, turns = games.load("debate").new(1), []
    while (role := state.to_move) not in (None, games.MANAGER):
        turns.append(Turn(role, role[0], "speak", "", "I say so.", "I say so.", None))
        state = state.apply("I say so.")
    if votes:
        turns.append(Turn("manager", "", "manage", "", "", json.dumps({"votes": votes}), None))
    ending = Ending({}, "void", void=void, missing=missing)
    seats = Fixture("debate", ("a", "b"), 1)
    return records.finished(number, 0, seats, state.roles, turns, ending)


def test_each_move_is_made_once_to_write_a_match_down(monkeypatch: pytest.MonkeyPatch) -> None:
    game = games.load("liars_dice")
    state, moves, rng = (first := game.new(1)), list[tuple[str, str]](), random.Random(1)
    while (role := state.to_move) is not None:
        moves.append((role, state.sample(rng)))
        state = state.apply(moves[-1][1])
    made, apply = [], type(first).apply

    def counted(self: Any, move: str) -> Any:
        made.append(move)
        return apply(self, move)

    monkeypatch.setattr(type(first), "apply", counted)
    assert transcript.last(games.Written(first, tuple(moves), {}, {}, "")) == state
    assert made == [move for _, move in moves]


def test_votes_that_came_of_a_debate_that_was_not_judged_are_shown(tmp_path: Path) -> None:
    half: list[dict[str, Any]] = [
        {"juror": "c", "replies": [SCORES, "hm"]},
        {"juror": "d", "replies": ["hm", None]},
    ]
    found = [
        debate(1, half, "unread", None),
        debate(2, None, "no juror gave a reply (c, d): refused", "c"),
    ]
    journal, matches = tmp_path / "matches.jsonl", [records.kept(it) for it in found]
    journal.write_text("".join(json.dumps(it) + "\n" for it in found))
    texts = transcripts.texts(Recorded(journal, matches), matches, {}, ["debate"])
    (text,) = texts["transcripts/debate.md"]()
    assert "match 1" in text and "I say so." in text
    assert "Void: unread" in text
    c, d = (next(it for it in text.splitlines() if it.startswith(f"- {name}: ")) for name in "cd")
    assert re.findall(r"\d+", c) == ["20", "20"] and not re.search(r"\d", d)


def test_a_juror_of_whom_no_vote_ever_came_stands_in_the_report(tmp_path: Path) -> None:
    """One that only sat where nobody could judge is no reason to have no report."""
    votes: list[dict[str, Any]] = [{"juror": "c", "replies": ["hm", "hm"]}]
    void = "none of 1 jurors gave scores that can be read, both ways round"
    record = debate(1, votes, void, None)
    journal, nothing = tmp_path / "matches.jsonl", cast(Any, None)
    journal.write_text(json.dumps(record) + "\n")
    matches = [records.kept(record)]
    of = Shown(
        models=["a", "b"], games=["debate"], matches=matches, rated=nothing, stood=None,
        reliable={}, metrics={}, recorded=Recorded(journal, matches), rules={},
    )  # fmt: skip
    (section,) = _jury(of)
    assert section.text.startswith("1 of 1 ")
    assert section.table is not None
    ((juror, asked, missing, liking),) = section.table.rows
    assert (juror, asked, missing) == ("c", 1, 1)
    assert isinstance(liking, Estimate) and liking.method.startswith("not computed")
