"""What a comparison of wordings would do, and what is wrong with one, before anything starts."""

from typing import Any

import pytest

from raybench import cli
from raybench.errors import ConfigurationError
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
    assert "10 tournaments of the same 60 matches: in phrasings 0, 1, 2, 3, 4" in notes
    assert "45 studies" in notes  # three models, three games, five phrasings
    assert "poker_river: poker" in notes and "pyjail" not in notes


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
    assert "games.strategy, games.strategies: of no effect" in notes
    assert "poker: programs learn by the game's own rules" in notes


def test_players_that_were_never_compiled_in_a_wording_are_missed_before_anything_starts() -> None:
    with pytest.raises(ConfigurationError, match="3 players were never compiled"):
        few = [f"optimise_players.{name}=2" for name in ("train", "validation", "held_out")]
        games_phrasings.plan(
            configured("stages=[before]", "games.strategy=optimised", "games.names=[poker]", *few)
        )


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (("wordings=[1]",), "give two or more"),
        (("wordings=[1,1]",), "names 1 2 times"),
        (("wordings=[0,7]",), "has no phrasing 7"),
        (("wordings=[0,'mine:words']",), "'mine:words' cannot be had"),
        (("stages=[]",), "stages is empty"),
        (("stages=[befor]",), "Did you mean 'before'"),
        (("games.phrasing=2",), "leave the former out"),
        (("games.pairing=swiss",), "round_robin or random"),
        (("games.narrow=50",), "games.narrow would end some wordings earlier"),
        (("games.budget_s=50",), "games.budget_s would end some wordings earlier"),
        (("optimise_players.train=1",), "it is 2 positions or more"),
    ],
)
def test_what_is_wrong_is_said(settings: tuple[str, ...], why: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        configured(*settings)
    assert why in str(error.value)


def test_games_of_which_nothing_can_be_learned_are_refused_with_the_mend() -> None:
    with pytest.raises(ConfigurationError, match=r"^debate: .* has no set .*stages=\[before\]"):
        games_phrasings.plan(configured("games.names=[liars_dice,debate]"))
    with pytest.raises(ConfigurationError, match=r"^chess, liars_dice: "):
        games_phrasings.plan(configured("optimise_players.positions=[poker_river]"))
