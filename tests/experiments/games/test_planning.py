"""What a tournament would do, and what it takes for that."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command import run_command
from refusals import json_refusals, refused
from statements import the

from raybench import cli
from raybench.config import Config, everybody
from raybench.config.games import FEWEST, PAIRINGS
from raybench.errors import ConfigurationError
from raybench.experiments.games import asking, planning, setup
from raybench.statements import Statement
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
    assert the("plan.game_left_out", planning.plan(config(TWO)).notes) == {"game": "debate"}
    for jury in (["a"], ["a", "b"]):
        with refused("setting.conflict", "games.jury", kind=ConfigurationError) as caught:
            planning.plan(config(TWO, "names=[debate]", f"jury=[{','.join(jury)}]"))
        assert str(caught.value).startswith("debate: ")
        assert f" {' and '.join(jury)}, " in str(caught.value)


@pytest.mark.parametrize("jury", [["sim-01", "sim-02", "sim-03"], ["sim-judge"]])
def test_somebody_is_always_left_to_judge(jury: Sequence[str]) -> None:
    plan = planning.plan(config("names=[debate]", f"jury=[{','.join(jury)}]"))
    told = {"games": "debate", "jurors": ", ".join(jury)}
    assert the("plan.jury", plan.notes) == told


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
    bare = the("plan.system_prompts", planning.plan(conf).notes)["models"]
    assert bare.startswith("smollm2-greedy, ")
    own = config("roster=embedded", "own_system_prompts=true")
    assert [it.system_prompt for it in asking.asked(own)] == [
        it.system_prompt for it in everybody(own)
    ]
    for given in (own, config()):
        notes = [it for it in planning.plan(given).notes if isinstance(it, Statement)]
        assert not any(it.code == "plan.system_prompts" for it in notes)


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
    def few(*given: str) -> dict[str, Any]:
        return the("plan.few_matches", planning.plan(config(*given)).notes)

    for given, each in {
        ("matches=5",): 5 / 8,
        ("matches=8",): 1,
        ("matches=10",): 10 / 8,
        ("matches=1000",): 125,
        ("matches=1001",): 1001 / 8,
        ("matches=50", "names=[chess]"): 50,
    }.items():
        found = few(*given)
        assert (found["each"], found["meetings"]) == (each, 132)
        assert re.findall(r"\d+", found["matches"]) == [f"{each:.0f}"] * (each >= 1)
    about = [few(f"matches={it}")["matches"].partition(" 125")[0] for it in (1000, 1001)]
    assert about[0] != about[1], "about so many"
    plan = planning.plan(config("names=[chess]", "matches=132"))
    assert "plan.few_matches" not in {getattr(it, "code", "") for it in plan.notes}


def test_games_with_more_seats_than_models_are_told() -> None:
    assert re.search("werewolf .* 7 .* 2 models", notes(TWO))


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
    def again(*given: str) -> list[str]:
        of = (it for it in planning.told(config(*given)) if isinstance(it, Statement))
        return [it.values["games"] for it in of if it.code == "plan.same_match"]

    assert not again(GREEDY), "one alone meets others"
    games = ("temperature=0", "names=[chess,poker,mathquiz]")
    assert again(GREEDY, *games) == ["chess, mathquiz"]
    assert {*planning.told(config(GREEDY, *games))} <= {*planning.notes(config(GREEDY, *games))}
    assert not again(GREEDY, "temperature=0", "names=[poker]") and not again()


@pytest.mark.parametrize(
    ("given", "code", "setting", "named"),
    [
        (["games.names=[ches]"], "setting.choice", "games.names", "'chess'"),
        (
            ["games.rules.poker.player=3"],
            "setting.unknown",
            "games.rules.poker.player",
            "'players'",
        ),
        (["games.rules.chess.start=nonsense"], "setting.range", "games.rules.chess.start", ""),
        (["games.pairing=swis"], "setting.choice", "games.pairing", "'swiss'"),
        (["games.cycles=1", "games.pairing=swiss"], "setting.conflict", "games.cycles", ""),
        (["games.jury=[nobody]"], "setting.choice", "games.jury", "'nobody'"),
        (["games.tries=0"], "setting.range", "games.tries", ""),
        (["games.narrow=nan"], "setting.range", "games.narrow", ""),
        (["games.weights.chess=inf"], "setting.range", "games.weights.chess", ""),
        (["games.names=[chess]", "games.weights.chess=0"], "setting.range", "games.weights", ""),
        (
            ["games.names=[debate]", "games.jury=[sim-01,sim-02]"],
            "setting.conflict",
            "games.jury",
            "sim-01 and sim-02",
        ),
        (["games.matches=0"], "setting.range", "games.matches", ""),
        (["games.deadline_s=0"], "setting.range", "games.deadline_s", ""),
        (["games.weights.ches=2"], "setting.choice", "games.weights.ches", "'chess'"),
    ],
)
def test_what_is_wrong_is_told_before_anything_starts(
    given: list[str], code: str, setting: str, named: str, tmp_path: Path
) -> None:
    done = run_command("+experiment=games", "roster=simulated", *given, "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert json_refusals(json.loads(done.stdout)) == [(code, setting)]
    assert named in done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_plan_says_what_would_be_played(tmp_path: Path) -> None:
    done = run_command(
        "+experiment=games", "roster=simulated", "games.names=[poker]",
        "games.rules.poker.players=6", "games.cycles=1", "games.matches=500", "dry_run=true",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "500 matches" in done.stdout
    assert "poker: 6 players, players=6" in done.stdout
    assert not (tmp_path / "runs").exists()
