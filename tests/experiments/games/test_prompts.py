"""What models were really asked is left to read: whole prompts, made again from the records."""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from raybench import games
from raybench.arena.chair import Decoding
from raybench.arena.room import House
from raybench.experiments.games import prompts, rehearsed
from raybench.games import MANAGER
from raybench.games.parts.conformance import play
from raybench.players import reasoned, refine
from raybench.players.parts.asking import HOW, ONLY, prompt
from raybench.players.parts.contract import Decision, Made
from raybench.tournament import records
from raybench.tournament.fixtures import Fixture
from raybench.tournament.match import Terms
from raybench.tournament.strategies import Strategies
from raybench.tournament.turns import Ending, Turn


def record(number: int, name: str, **rules: Any) -> tuple[dict[str, Any], set[str]]:
    """Return the record of a match of stand-ins, and every prompt that its players were sent."""
    states, moves = play(games.load(name), number, good=True, **rules)
    sent = {
        prompt(state.observe(role), ())[0].content
        for state, (role, _) in zip(states, moves, strict=False)
        if role != MANAGER
    }
    turns = [Turn(role, "m", "", "", move, move, None) for role, move in moves]
    refused = Turn(moves[0][0], "m", "", "", "", None, "there is no move", 1.0)
    roles = states[0].roles
    ending = Ending(states[-1].scores(), states[-1].outcome, sides=states[-1].parts)
    fixture = Fixture(name, tuple(f"m{at}" for at, _ in enumerate(roles)), number)
    return records.finished(number, 0, fixture, roles, [refused, *turns], ending), sent


def told(
    folder: Path,
    *found: Mapping[str, Any],
    own: Mapping[str, str | None] | None = None,
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    strategies: Strategies | None = None,
    scripts: Mapping[str, str] | None = None,
) -> str:
    journal = folder / "matches.jsonl"
    journal.write_text("".join(json.dumps(each) + "\n" for each in found))
    played = sorted({str(each["game"]) for each in found})
    house = House(
        rules or {},
        Terms(),
        Decoding({}),
        strategies=strategies or Strategies(),
        scripts=scripts or {},
    )
    (writes,) = prompts.texts(journal, house, played, own or {}).values()
    return "".join(writes())


def titles(text: str) -> list[str]:
    return re.findall("^### (.*)$", text, re.MULTILINE)


def test_prompts_are_those_that_were_sent_with_the_rules_and_how_to_reply(tmp_path: Path) -> None:
    match, sent = record(1, "mathquiz")
    text = told(tmp_path, match, own={"a": "Be brief.", "b": None})
    # What the student is asked is what the teacher was, word for word.
    assert [text.count(f"```text\n{each}\n```") for each in sorted(sent, key=len)] == [1, 2]
    assert text.count("\n### ") == 3
    for title in ("teacher: write question", "teacher: answer", "student: answer"):
        assert f"\n### {title}\n" in text
    assert HOW["line"] in text
    assert re.search(r"^.* a .*:\n\n```text\nBe brief.\n```", text, re.MULTILINE)
    assert not re.search(r"^.* b .*:$", text, re.MULTILINE) and prompts._refused() in text
    assert "REASON" in prompts._refused()


def test_every_kind_of_turn_is_shown_once_and_of_the_first_match(tmp_path: Path) -> None:
    found = [record(number, "poker", players=3) for number in (9, 2, 7)]
    text = told(tmp_path, *(match for match, _ in found), rules={"poker": {"players": 3}})
    titles = [line.partition(": ")[2] for line in text.splitlines() if line.startswith("### ")]
    assert len(titles) == len(set(titles)) > 1
    first = text.partition("```text\n")[2].partition("### ")[2].partition("```text\n")[2]
    assert first.partition("\n```")[0] in found[1][1]


def test_every_game_can_be_read(tmp_path: Path) -> None:
    matches = [record(at, name)[0] for at, name in enumerate(games.names())]
    text = told(tmp_path, *matches)
    for name in games.names():
        assert f"## {games.load(name).title}\n\n### " in text
    assert "juror: question 2\n\n```text\n" in text


def test_matches_that_ended_early_are_read_as_far_as_they_went(tmp_path: Path) -> None:
    whole, _ = record(1, "chess", plies=20)
    whole["turns"] = whole["turns"][:1]
    whole["forfeits"] = [{"role": "white", "reason": "invalid moves", "turn": 1}]
    text = told(tmp_path, whole)
    assert "### white: move" in text and "### black" not in text
    unjudged, _ = record(2, "debate")
    nothing = {"juror": "c", "replies": [None, None]}
    unjudged["turns"][-1]["move"] = json.dumps({"votes": [nothing]})
    assert "### a juror: question 1" in told(tmp_path, unjudged)


def test_nothing_in_a_prompt_ends_its_block(tmp_path: Path) -> None:
    text = told(tmp_path, record(1, "chess", plies=4)[0], own={"a": "Use\n```\n# code\n```"})
    assert "````text\nUse\n```\n# code\n```\n````" in text


def test_matches_of_other_rules_are_read_as_far_as_they_can_be(tmp_path: Path) -> None:
    """A run that was finished by an older version is concluded anew."""
    old, sent = record(1, "mathquiz")
    old["turns"][-1]["move"] = "no answer of these rules"
    old["turns"][1]["move"] = ""
    text = told(tmp_path, old)
    assert 0 < text.count("\n### ") < len(old["turns"])
    assert "\n### teacher: write" in text and sent


def test_what_a_strategy_asks_after_the_first_prompt_is_shown_too(tmp_path: Path) -> None:
    match, _ = record(1, "mathquiz")
    teacher, student = match["seats"].values()
    by = Strategies({"mathquiz": {"teacher": "reasoned"}}, {student: {"use": "refine"}})
    text = told(tmp_path, match, strategies=by)
    asked, _, rest = text.partition("### teacher: write question, reasoned\n")[2].partition("Then:")
    assert reasoned.THINK in asked and "Move:" not in asked
    assert rest.startswith("\n\n```text\n") and ONLY["text"] in rest.partition("\n```\n")[0]
    ways = {tuple(it.split(": answer, ")) for it in titles(text) if ": answer, " in it}
    assert ways == {("student", "refine"), ("teacher", "reasoned")} and refine.REVIEW in text
    assert rehearsed.REPLY not in text, "replies are nobody's prompt"
    best = told(tmp_path, match, strategies=Strategies("best_of_n"))
    assert best.count("Then:") == 1 and "5 drafts" in best, "of a question, not of a number"
    assert teacher != student


def test_scripts_are_asked_nothing(tmp_path: Path) -> None:
    match, _ = record(1, "mathquiz")
    text = told(tmp_path, match, scripts={match["seats"]["student"]: "able"})
    assert "### teacher: answer\n" in text and "### student" not in text


def test_where_a_strategy_asks_nothing_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Book:
        async def move(self, decision: Decision) -> Made:
            return Made("e4", "e4")

    module = ModuleType("own_book")
    module.Book = Book  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_book", module)
    match, _ = record(1, "chess", plies=4)
    text = told(tmp_path, match, strategies=Strategies("own_book:Book"))
    assert f"own_book:Book\n\n```text\n{prompts.NOTHING}\n```" in text
