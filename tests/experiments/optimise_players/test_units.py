"""Every held-out position as the report's reader has it, before and after."""

from dataclasses import asdict

import pytest
from reading import page, read_back

from raybench import cli, positions
from raybench.arena.studies import Marked
from raybench.config import Config
from raybench.experiments.games.units import INVALID
from raybench.experiments.optimise_players.ledger import Ledger
from raybench.experiments.optimise_players.units import GONE, units

pytest.importorskip("dspy", reason="programs need DSPy")

NAME = "liars_dice_odds"
INSTRUCTIONS = "Bid low."


def config(*given: str) -> Config:
    roster = "roster.models=[{name: a, engine: simulated, options: {ability: 0.2}}]"
    arguments = ["+experiment=optimise_players", roster, f"positions=[{NAME}]", *given]
    return cli.check(cli.compose(cli.with_tables(cli.own_roster(cli.at_home(arguments)))))


def played(phase: str, place: int, move: str | None, error: str | None = None) -> Marked:
    return Marked(phase, place, "family", f"Move: {move}", move, error, 0.25, False, 4)


def ledger(*marks: Marked) -> Ledger:
    state = {"demos": [], "signature": {"instructions": INSTRUCTIONS, "fields": []}}
    found = Ledger()
    for line in ({"study": 1, "state": state}, *({"study": 1, **asdict(it)} for it in marks)):
        found.enter(line)
    return found


def test_a_position_shows_what_was_asked_replied_read_and_what_that_is_worth() -> None:
    marks = played("before", 1, "call"), played("after", 1, None, "no bid")
    read = dict(read_back(page(units(config("held_out=2"), [1], ledger(*marks)))))
    assert [*read] == ["study-1-before-1", "study-1-after-1"]
    found = units(config("held_out=2"), [1], ledger(*marks)).each()
    assert len({(it.group, it.stratum) for it in found}) == 1
    before, after = read.values()
    assert (before["line"], before["facets"]["outcome"]) == (2, ["a move"])
    assert (after["line"], after["facets"]["outcome"]) == (3, ["no move"])
    _, state = positions.load(NAME).some(0, "held_out", 2)
    view = state.observe(state.to_move or "").view
    told, learned = dict(before["texts"]), dict(after["texts"])
    assert told["position"] == learned["position"] and told["position"].startswith(view)
    assert view in told["asked"] and view in learned["asked"]
    assert INSTRUCTIONS in learned["asked"] and INSTRUCTIONS not in told["asked"]
    assert (told["move"], learned[INVALID]) == ("call", "no bid")
    assert told["grade"].startswith("worth 0.25")


def test_positions_that_are_drawn_otherwise_today_are_told_as_such() -> None:
    found = units(config("held_out=2"), [1], ledger(played("before", 7, "call")))
    (unit,) = found.each()
    assert unit.body().texts[0].text == GONE


def test_a_study_that_is_not_done_shows_nothing() -> None:
    assert not [*units(config("held_out=2"), [], ledger(played("before", 0, "call"))).each()]
