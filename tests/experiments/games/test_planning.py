"""What a tournament would do, and what it takes for that."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import run_command
from refusals import refused

from raybench import cli
from raybench.config import Config, everybody
from raybench.config.games import FEWEST, PAIRINGS
from raybench.errors import ConfigurationError
from raybench.experiments.games import asking, planning, setup
from raybench.stats.ratings import scale
from raybench.tournament.pairing import WAYS

TWO = "roster.models=[{name: a, engine: simulated}, {name: b, engine: simulated}]"


def config(*given: str) -> Config:
    arguments = ["+experiment=games", "roster=simulated", *given]
    return cli.check(cli.compose(cli.with_tables(cli.own_roster(cli.at_home(arguments)))))


def notes(*given: str) -> str:
    return "\n".join(planning.plan(config(*given)).notes)


def notes_of(conf: Config) -> str:
    return "\n".join(planning.plan(conf).notes)


def test_the_pairings_are_those_there_are() -> None:
    assert {*PAIRINGS} == {*WAYS}


def test_all_games_are_played_where_none_is_named() -> None:
    assert len(setup.chosen(config())) == 8
    assert [it.name for it in setup.chosen(config("names=[poker,chess]"))] == ["poker", "chess"]


def test_debate_is_left_out_where_nobody_could_judge() -> None:
    assert "debate" not in [it.name for it in setup.chosen(config(TWO))]
    assert "debate is left out" in notes(TWO)
    for jury in (["a"], ["a", "b"]):
        with refused("setting.conflict", "games.jury", kind=ConfigurationError) as caught:
            planning.plan(config(TWO, "names=[debate]", f"jury=[{','.join(jury)}]"))
        assert str(caught.value).startswith("debate: ")
        assert f" {' and '.join(jury)}, " in str(caught.value)


@pytest.mark.parametrize("jury", [["sim-01", "sim-02", "sim-03"], ["sim-judge"]])
def test_somebody_is_always_left_to_judge(jury: Sequence[str]) -> None:
    told = notes("names=[debate]", f"jury=[{','.join(jury)}]")
    assert re.search(rf"debate: [\w ]+ {', '.join(jury)}", told)


def test_jurors_from_outside_are_asked_and_not_ranked() -> None:
    plan = planning.plan(config("names=[debate]", "jury=[sim-judge]"))
    assert [it.name for it in plan.referees] == ["sim-judge"]
    assert "sim-judge" not in [it.name for it in plan.models]


def test_rules_and_weights_are_told_by_the_games_own_names() -> None:
    conf = config("rules.liars_dice.players=4", "rules.chess.plies=9", "weights.chess=2")
    assert setup.rules(conf) == {"liars_dice": {"players": 4}, "chess": {"plies": 9}}
    assert setup.weights(conf) == {"chess": 2}
    assert setup.seats(conf)["liars_dice"] == 4


def test_rules_that_suit_a_roster_give_way_to_those_that_somebody_gives() -> None:
    assert setup.rules(config("roster=embedded")) == {"chess": {"plies": 40}, "poker": {"hands": 2}}
    conf = config("roster=embedded", "rules.Poker.hands=3", "rules.chess.picture=true")
    assert setup.rules(conf) == {"chess": {"plies": 40, "picture": True}, "poker": {"hands": 3}}


def test_players_of_games_are_no_examiners() -> None:
    """The embedded roster's prompt has its models rate what others wrote."""
    conf = config("roster=embedded")
    assert any(it.system_prompt for it in conf.roster.models)
    assert not any(it.system_prompt for it in asking.asked(conf))
    assert not any(it.system_prompt for it in planning.plan(conf).models)
    assert "system prompts of smollm2-greedy, " in notes_of(conf)
    own = config("roster=embedded", "own_system_prompts=true")
    assert [it.system_prompt for it in asking.asked(own)] == [
        it.system_prompt for it in everybody(own)
    ]
    assert "system prompts" not in notes_of(own) + notes()


def test_a_models_own_system_prompt_is_part_of_it() -> None:
    mine = TWO.replace("name: a,", "name: a, system_prompt: Attack.,")
    assert [it.system_prompt for it in asking.asked(config(mine))] == ["Attack.", None]


@pytest.mark.parametrize("seconds", ["-1", "inf", "nan"])
def test_patience_is_a_time_or_none(seconds: str) -> None:
    assert config("patience_s=null").games.patience_s is None
    with refused("setting.range", "games.patience_s", kind=ConfigurationError) as caught:
        config(f"patience_s={seconds}")
    assert "null" in str(caught.value)


def test_a_cycle_bounds_the_matches() -> None:
    two = config("names=[chess,liars_dice]", "cycles=1", "matches=9999")
    assert planning.plan(two).units == 2 * 12 * 11
    assert planning.plan(config("names=[chess]", "cycles=1", "matches=50")).units == 50
    with refused("setting.range", "games.cycles", given=1, kind=ConfigurationError):
        planning.plan(config(TWO, "names=[werewolf]", "cycles=1"))


def test_few_matches_for_many_models_are_told() -> None:
    for matches, told in {
        (5, 8): "less than one match",
        (8, 8): "1 match",
        (10, 8): "about 1 match",
        (1000, 8): "125 matches",
        (1001, 8): "about 125 matches",
        (50, 1): "50 matches",
    }.items():
        count, names = matches
        asked = f"matches={count}", *(["names=[chess]"] if names == 1 else [])
        assert re.search(rf"{told} of each [^\n]* 132 ", notes(*asked))
    assert not re.search(r" of each [^\n]* 132 ", notes("names=[chess]", "matches=132"))


def test_games_with_more_seats_than_models_are_told() -> None:
    assert re.search("werewolf .* 7 seats .* 2 models", notes(TWO))


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


def test_settings_of_games_that_are_not_played_are_told() -> None:
    assert planning.ignored(config()) == []
    assert planning.ignored(config("roster=embedded", "names=[liars_dice]")) == [], (
        "what comes with a roster is no slip of anybody"
    )
    some = ("names=[chess]", "rules.chess.plies=9", "weights.chess=2")
    assert planning.ignored(config(*some)) == []
    (told,) = planning.ignored(config(*some, "rules.poker.players=3"))
    assert told.startswith("games.rules.poker: ")
    two = config(*some, "rules.poker.players=3", "weights.poker=2")
    assert "games.weights.poker, games.rules.poker: " in notes_of(two)
    three = config(*some, "rules.poker.players=3", "weights.liarsdice=2")
    assert "games.weights.liarsdice, games.rules.poker: " in notes_of(three)
    assert "games.weights.debate" in notes(TWO, "weights.debate=2"), "it is left out there"


def test_a_jury_of_nothing_is_told() -> None:
    (told,) = planning.ignored(config("names=[chess]", "jury=[sim-01]"))
    assert told.startswith("games.jury: ")
    assert planning.ignored(config("names=[chess,debate]", "jury=[sim-judge]")) == []


def test_ways_are_spelled_as_freely_as_games() -> None:
    assert config("pairing=Swiss").games.pairing == "swiss"
    assert config("pairing='Round Robin'").games.pairing == "round_robin"
    with refused(
        "setting.choice", "games.pairing", given="swis", kind=ConfigurationError
    ) as caught:
        config("pairing=swis")
    assert "'swiss'" in (caught.value.fix or "")


def test_so_few_replicates_as_say_nothing_are_refused() -> None:
    assert FEWEST == scale.FEWEST
    assert config("bootstrap=0").games.bootstrap == 0
    assert config("bootstrap=100").games.bootstrap == 100
    for few in (99, 1, -1):
        with refused(
            "setting.range", "games.bootstrap", given=few, kind=ConfigurationError
        ) as caught:
            config(f"bootstrap={few}")
        assert "100" in str(caught.value) and " 0 " in str(caught.value)


ENDPOINT = "options: {base_url: 'http://localhost:1/v1'"
GREEDY = (
    f"roster.models=[{{name: a, engine: openai, weights: m, {ENDPOINT}}}}}, "
    f"{{name: b, engine: openai, weights: m, sampling: {{temperature: 0.5}}, {ENDPOINT}}}}}, "
    f"{{name: c, engine: openai, weights: m, {ENDPOINT}, extra_body: {{temperature: 0.7}}}}}}, "
    f"{{name: d, engine: openai, weights: m, {ENDPOINT}, extra_body: {{temperature: null}}}}}}]"
)


def test_models_that_always_reply_alike_are_known() -> None:
    assert asking.greedy(config(GREEDY)) == {"a"}
    assert asking.greedy(config(GREEDY, "temperature=0")) == {"a", "b"}
    assert asking.greedy(config(GREEDY, "temperature=0.7")) == frozenset()
    assert asking.greedy(config()) == frozenset()  # stand-ins draw by seeds


def test_the_plan_shows_the_temperature_that_holds() -> None:
    def drawn(*given: str) -> list[object]:
        return [it.drawn_with["temperature"] for it in planning.plan(config(*given)).models]

    assert drawn(GREEDY) == [0, 0.5, 0.7, None]
    assert drawn(GREEDY, "temperature=0") == [0, 0, 0.7, None], "an endpoint's own fields win"


def test_it_is_said_where_matches_would_be_the_same_again() -> None:
    assert "the same match again" not in notes(GREEDY), "one alone meets others"
    told = notes(GREEDY, "temperature=0", "names=[chess,poker,mathquiz]")
    assert "chess, mathquiz: models at temperature 0 play the same match again" in told
    assert "the same match again" in "\n".join(planning.told(config(GREEDY, "temperature=0")))
    assert "the same match again" not in notes(GREEDY, "temperature=0", "names=[poker]")
    assert "the same match again" not in notes()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["games.names=[ches]"], ["unknown game 'ches'", "Did you mean 'chess'"]),
        (["games.rules.poker.player=3"], ["no rule 'player'", "Did you mean 'players'"]),
        (["games.rules.chess.start=nonsense"], ["games.rules.chess"]),
        (["games.pairing=swis"], ["games.pairing is 'swis'", "'swiss'"]),
        (["games.cycles=1", "games.pairing=swiss"], ["only a round robin has cycles"]),
        (["games.jury=[nobody]"], ["games.jury names 'nobody'"]),
        (["games.tries=0"], ["games.tries is 0"]),
        (["games.narrow=nan"], ["games.narrow is nan"]),
        (["games.weights.chess=inf"], ["games.weights.chess is inf"]),
        (["games.names=[chess]", "games.weights.chess=0"], ["no game that is played weighs"]),
        (
            ["games.names=[debate]", "games.jury=[sim-01,sim-02]"],
            ["nobody is left to judge a match of sim-01 and sim-02", "a third juror"],
        ),
        (["games.matches=0"], ["games.matches is 0"]),
        (["games.deadline_s=0"], ["games.deadline_s is 0"]),
        (["games.weights.ches=2"], ["games.weights", "Did you mean 'chess'"]),
    ],
)
def test_what_is_wrong_is_told_before_anything_starts(
    given: list[str], told: list[str], tmp_path: Path
) -> None:
    done = run_command("+experiment=games", "roster=simulated", *given, cwd=tmp_path)
    assert done.returncode == 2
    for words in told:
        assert words in done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_plan_says_what_would_be_played(tmp_path: Path) -> None:
    done = run_command(
        "+experiment=games", "roster=simulated", "games.names=[poker]",
        "games.rules.poker.players=6", "games.cycles=1", "games.matches=500", "dry_run=true",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "500 matches" in done.stdout
    assert "poker: 6 seats, players=6" in done.stdout
    assert not (tmp_path / "runs").exists()
