"""What a tournament would do, and what it takes for that."""

from collections.abc import Sequence

import pytest

from raybench import cli
from raybench.config import Config
from raybench.config.games import PAIRINGS
from raybench.errors import ConfigurationError
from raybench.experiments.games import setup
from raybench.tournament.pairing import WAYS

TWO = "roster.models=[{name: a, engine: simulated}, {name: b, engine: simulated}]"


def config(*given: str) -> Config:
    arguments = ["+experiment=games", "roster=simulated", *given]
    return cli.check(cli.compose(cli.with_tables(cli.own_roster(cli.at_home(arguments)))))


def notes(*given: str) -> str:
    return "\n".join(setup.plan(config(*given)).notes)


def test_the_pairings_are_those_there_are() -> None:
    assert {*PAIRINGS} == {*WAYS}


def test_all_games_are_played_where_none_is_named() -> None:
    assert len(setup.chosen(config())) == 8
    assert [it.name for it in setup.chosen(config("names=[poker,chess]"))] == ["poker", "chess"]


def test_debate_is_left_out_where_nobody_could_judge() -> None:
    assert "debate" not in [it.name for it in setup.chosen(config(TWO))]
    assert "debate is left out: nobody is left to judge" in notes(TWO)
    for jury in (["a"], ["a", "b"]):
        with pytest.raises(ConfigurationError, match="nobody is left to judge a match of a"):
            setup.plan(config(TWO, "names=[debate]", f"jury=[{','.join(jury)}]"))


@pytest.mark.parametrize("jury", [["sim-01", "sim-02", "sim-03"], ["sim-judge"]])
def test_somebody_is_always_left_to_judge(jury: Sequence[str]) -> None:
    told = notes("names=[debate]", f"jury=[{','.join(jury)}]")
    assert f"debate: judged by {', '.join(jury)}" in told


def test_jurors_from_outside_are_asked_and_not_ranked() -> None:
    plan = setup.plan(config("names=[debate]", "jury=[sim-judge]"))
    assert [it.name for it in plan.referees] == ["sim-judge"]
    assert "sim-judge" not in [it.name for it in plan.models]


def test_rules_and_weights_are_told_by_the_games_own_names() -> None:
    conf = config("rules.liars_dice.players=4", "rules.chess.plies=9", "weights.chess=2")
    assert setup.rules(conf) == {"liars_dice": {"players": 4}, "chess": {"plies": 9}}
    assert setup.weights(conf) == {"chess": 2}
    assert setup.seats(conf)["liars_dice"] == 4


def test_a_cycle_bounds_the_matches() -> None:
    two = config("names=[chess,liars_dice]", "cycles=1", "matches=9999")
    assert setup.plan(two).units == 2 * 12 * 11
    assert setup.plan(config("names=[chess]", "cycles=1", "matches=50")).units == 50
    with pytest.raises(ConfigurationError, match="fewer models"):
        setup.plan(config(TWO, "names=[werewolf]", "cycles=1"))


def test_few_matches_for_many_models_are_told() -> None:
    assert "50 matches of each game are fewer than the 132" in notes("names=[chess]", "matches=50")
    assert "fewer than" not in notes("names=[chess]", "matches=132")


def test_games_with_more_seats_than_models_are_told() -> None:
    assert "werewolf has 7 seats and there are 2 models" in notes(TWO)


def test_every_engine_finds_a_full_batch() -> None:
    hosted = "roster.models=[{name: a, weights: org/a, options: {max_num_seqs: 512}},"
    several = f"{hosted} {{name: b, weights: org/b}}, {{name: c, weights: org/c}}]"
    assert setup.at_once(config(several, "matches=99999")) == 3 * 512
    assert setup.at_once(config(several, "matches=100")) == 100
    assert setup.at_once(config(several, "at_once=7")) == 7


def test_processes_are_worth_their_start() -> None:
    assert setup.actors(config("matches=500")) == 0
    assert setup.actors(config("matches=100000")) >= 1
    asked = setup.house(config("matches=100000"))
    assert asked.at_once * max(1, setup.actors(config("matches=100000"))) >= 256
