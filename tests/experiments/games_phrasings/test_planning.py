"""What a comparison of wordings would do, and what is wrong with one, before anything starts."""

from typing import Any

import pytest
from refusals import refused
from statements import the

from raybench import cli
from raybench.errors import Code, ConfigurationError
from raybench.experiments import games_phrasings
from raybench.experiments.games import setup as games
from raybench.experiments.games_phrasings import cells
from raybench.experiments.optimise_players import setup
from raybench.pipeline import compiled
from raybench.tournament.strategies import OPTIMISED

pytest.importorskip("dspy", reason="programs need DSPy")

THREE = (
    "roster.models=[{name: a, engine: simulated}, {name: b, engine: simulated},"
    " {name: c, engine: simulated}]"
)


def configured(*settings: str) -> Any:
    given = ["+experiment=games_phrasings", THREE, *settings]
    return cli.check(cli.compose(cli.with_tables(cli.own_roster(cli.at_home(given)))))


def test_the_plan_says_tournaments_matches_and_studies() -> None:
    plan = games_phrasings.plan(configured("games.matches=60"))
    assert plan.units == 2 * 5 * 60 and plan.unit == "match"
    notes = "\n".join(plan.notes)
    told = the("plan.tournaments", plan.notes)
    assert (told["tournaments"], told["matches"], told["phrasings"]) == (10, 60, "0, 1, 2, 3, 4")
    assert "45 studies" in notes  # three models, three games, five phrasings
    assert "poker_river: " in notes and "pyjail" not in notes


def test_before_alone_plays_by_the_strategy_that_is_chosen_and_any_game() -> None:
    config = configured(
        "stages=[before]", "wordings=[0,4]", "games.names=[debate]", "games.strategy=reasoned"
    )
    plan = games_phrasings.plan(config)
    assert plan.units == 2 * config.games.matches
    assert not any("studies" in it for it in plan.notes)
    for cell in cells.cells(config):
        assert cells.tournament(config, cell).games.strategy == "reasoned"


def test_tournaments_differ_in_words_and_in_what_is_played_by() -> None:
    config = games.seated(configured("wordings=[0,2]", "games.anchors=[random]"))
    several = cells.cells(config)
    assert [it.name for it in several] == [
        "before/phrasing_0", "before/phrasing_2", "after/phrasing_0", "after/phrasing_2",
    ]  # fmt: skip
    confs = [cells.tournament(config, it) for it in several]
    assert [it.games.phrasing for it in confs] == [0, 2, 0, 2]
    plain = {"use": "program", "module": "predict"}
    assert [it.games.strategy for it in confs] == [plain, plain, OPTIMISED, OPTIMISED]
    assert all(it.optimise_players.models == ["a", "b", "c"] for it in confs), "scripts learn not"
    studies = [*cells.studies(config)]
    assert [it.number for it in studies] == [*range(1, 19)]
    assert {it.phrasing for it in studies[:9]} == {0} and {it.phrasing for it in studies[9:]} == {2}


def test_the_key_of_a_player_hangs_on_the_words_it_learned_by() -> None:
    config, dice = configured(), "liars_dice_odds"
    small = ("train", "validation", "held_out")
    for name in small:
        setattr(config.optimise_players, name, 4)
    keys = {
        compiled.key_of(setup.about(cells.learner(config, it), "a", dice)) for it in range(5)
    }  # fmt: skip
    assert len(keys) == 5
    own = setup.about(cells.learner(config, 0), "a", dice)
    assert own == setup.about(cells.learner(config, {}), "a", dice)
    assert own == setup.about(cells.learner(config, {"chess": 3}), "a", dice)


def test_what_optimisation_does_not_go_by_is_said() -> None:
    plan = games_phrasings.plan(
        configured("games.strategies.a=optimised", "games.rules.poker.hands=2")
    )
    notes = "\n".join(plan.notes)
    assert "games.strategy, games.strategies: " in notes
    assert the("plan.own_rules", plan.notes) == {"games": "poker"}


def test_players_that_were_never_compiled_in_a_wording_are_missed_before_anything_starts() -> None:
    few = [f"optimise_players.{name}=2" for name in ("train", "validation", "held_out")]
    with refused("player.missing", "games.strategy", kind=ConfigurationError) as caught:
        games_phrasings.plan(
            configured("stages=[before]", "games.strategy=optimised", "games.names=[poker]", *few)
        )
    assert " 3 players" in str(caught.value)


@pytest.mark.parametrize(
    ("override", "code", "setting", "named"),
    [
        ("wordings=[1]", "setting.range", "games_phrasings.wordings", " 1"),
        ("wordings=[1,1]", "setting.duplicate", "games_phrasings.wordings", "2"),
        ("wordings=[0,7]", "setting.choice", "games_phrasings.wordings", "7"),
        ("wordings=[0,'mine:words']", "extension.import", "games_phrasings.wordings", "mine:words"),
        ("stages=[]", "setting.choice", "games_phrasings.stages", "[before, after]"),
        ("stages=[befor]", "setting.choice", "games_phrasings.stages", "'before'"),
        ("games.phrasing=2", "setting.conflict", "games.phrasing", "games_phrasings.wordings"),
        ("games.pairing=swiss", "setting.conflict", "games.pairing", "round_robin"),
        ("games.narrow=50", "setting.conflict", "games.narrow", "games.narrow"),
        ("games.budget_s=50", "setting.conflict", "games.budget_s", "games.budget_s"),
        ("optimise_players.train=1", "setting.range", "optimise_players.train", "2"),
    ],
)
def test_what_is_wrong_is_said(override: str, code: Code, setting: str, named: str) -> None:
    with refused(code, setting, kind=ConfigurationError) as caught:
        configured(override)
    assert named in str(caught.value)


def test_games_of_which_nothing_can_be_learned_are_refused_with_the_mend() -> None:
    with refused("setting.conflict", "games.names", kind=ConfigurationError) as caught:
        games_phrasings.plan(configured("games.names=[liars_dice,debate]"))
    assert str(caught.value).startswith("debate: ")
    assert "games_phrasings.stages=[before]" in (caught.value.fix or "")
    with refused("setting.conflict", "games.names", kind=ConfigurationError) as caught:
        games_phrasings.plan(configured("optimise_players.positions=[poker_river]"))
    assert str(caught.value).startswith("chess, liars_dice: ")
