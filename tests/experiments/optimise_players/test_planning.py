"""What a run would do, what it is known by, and what is wrong with a choice."""

from pathlib import Path
from typing import Any

import pytest
from refusals import refused
from statements import the

from raybench import cli, positions
from raybench.config import Config
from raybench.errors import Code, ConfigurationError, Problem
from raybench.experiments.optimise_players import choice, setup
from raybench.pipeline import compiled

pytest.importorskip("dspy", reason="programs need DSPy")

TWO = (
    "roster.models=[{name: a, engine: simulated, options: {ability: 0.2}}, "
    "{name: b, engine: vllm, weights: org/b, revision: main, system_prompt: Be brief.}]"
)
FEW = ("train=4", "validation=2")


def config(*given: str) -> Config:
    arguments = ["+experiment=optimise_players", *given]
    return cli.check(cli.compose(cli.with_tables(cli.own_roster(cli.at_home(arguments)))))


def about(*given: str, model: str = "b", of: str = "liars_dice_odds") -> dict[str, Any]:
    return setup.about(config(TWO, *FEW, *given), model, of)


def problem(*given: str) -> Problem:
    with pytest.raises(ConfigurationError) as found:
        config(TWO, *given)
    (only,) = found.value.problems
    return only


def test_every_model_learns_every_set() -> None:
    plan = setup.plan(config(TWO))
    assert plan.units == 2 * len(positions.names()) and plan.several == "studies"
    studies = setup.studies(config(TWO, "models=[b]", "positions=[poker river, mathquiz_pose]"))
    assert [(it.model, it.positions) for it in studies] == [
        ("b", "poker_river"),
        ("b", "mathquiz_pose"),
    ]
    assert [it.engine for it in setup.studies(config(TWO, "positions=[poker_river]"))] == [0, 1]
    told = the("plan.optimiser", plan.notes)
    assert (told["program"], told["optimiser"]) == ("predict", "BootstrapFewShot")
    assert told["metric"] == "worth"
    sizes = {"train": 50, "validation": 50, "held_out": 200}
    assert the("plan.positions", plan.notes) == sizes


def test_who_writes_instructions_is_asked_too() -> None:
    conf = config("roster=simulated", "models=[sim-01]", "proposer=sim-judge")
    assert [it.name for it in setup.asked(conf)] == ["sim-01", "sim-judge"]
    assert [it.name for it in setup.plan(conf).referees] == ["sim-judge"]
    assert setup.curriculum(conf).own_proposer == "sim-judge"


@pytest.mark.slow
def test_a_player_is_known_by_all_that_it_is_made_from() -> None:
    keys = {
        compiled.key_of(it)
        for it in (
            about(),
            about(model="a"),
            about(of="poker_river"),
            about("seed=1"),
            about("train=5"),
            about("validation=3"),
            about("program=chain_of_thought"),
            about("optimiser=LabeledFewShot"),
            about("optimiser={use: BootstrapFewShot, max_rounds: 2}"),
            about("metric=best"),
            about("proposer=a"),
            about("games.temperature=0.3"),
            about("games.listed_moves=true"),
            about("games.move_tokens=7"),
            about("games.own_system_prompts=false"),
            about("roster.models.1.revision=v2"),
            about("roster.models.1.sampling.temperature=0.5"),
        )
    }
    assert len(keys) == 17


def test_where_and_how_fast_it_is_done_makes_no_other_player() -> None:
    key = compiled.key_of(about())
    for same in (
        "held_out=9",
        "at_once=3",
        "cache=false",
        "folder=elsewhere",
        "models=[b]",
        "positions=[liars_dice_odds]",
        "+roster.models.1.options.max_num_seqs=8",
        "roster.models.1.name=c",
    ):
        model = "c" if same.endswith("=c") else "b"
        assert compiled.key_of(about(same, model=model)) == key, same


@pytest.mark.parametrize(
    ("override", "code", "setting", "given", "named"),
    [
        ("models=[aa]", "setting.choice", "models", "aa", "'a'"),
        ("models=[a,a]", "setting.duplicate", "models", "a", "2"),
        ("positions=[poker_rivr]", "setting.choice", "positions", "poker_rivr", "'poker_river'"),
        (
            "positions=[poker_river,Poker River]",
            "setting.duplicate", "positions", "poker_river", "2",
        ),
        ("program=predct", "setting.choice", "program", "predct", "'predict'"),
        ("metric=wort", "setting.choice", "metric", "wort", "'worth'"),
        ("optimiser=MIPROv", "setting.choice", "optimiser", "MIPROv", "'MIPROv2'"),
        (
            "optimiser={use: BootstrapFewShot, demos: 3}",
            "setting.unknown", "optimiser.demos", None, "max_bootstrapped_demos",
        ),
        ("optimiser={demos: 3}", "setting.format", "optimiser", {"demos": 3}, "use: NAME"),
        ("optimiser='MIPROv2 light'", "setting.format", "optimiser", "MIPROv2 light", "use: NAME"),
        ("proposer=c", "setting.choice", "proposer", "c", "a, b"),
        ("held_out=1", "setting.range", "held_out", 1, "2"),
        ("at_once=0", "setting.range", "at_once", 0, "1"),
        ("games.move_tokens=0", "setting.range", "games.move_tokens", 0, "1"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_the_mend(
    override: str, code: Code, setting: str, given: object, named: str
) -> None:
    found = problem(override)
    full = setting if setting.startswith("games.") else f"optimise_players.{setting}"
    assert (found.code, found.setting, found.given) == (code, full, given)
    assert named in found.text
    assert found.text.count("optimiser:") <= 1


def test_options_may_be_given_in_a_text_which_one_of_tables_replaces() -> None:
    def optimiser(*given: str) -> tuple[str, dict[str, Any]]:
        conf = config("roster=embedded_pair", *given).optimise_players
        return choice.optimiser(conf)

    name, options = optimiser()
    assert name == "BootstrapFewShotWithRandomSearch"
    assert options == {"max_labeled_demos": 8, "num_candidate_programs": 6}
    assert optimiser("optimiser={use: LabeledFewShot, k: 3}") == ("LabeledFewShot", {"k": 3})
    assert optimiser("optimiser='MIPROv2 auto=light seed=3'") == (
        "MIPROv2",
        {"auto": "light", "seed": 3},
    )


def test_ones_own_positions_and_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_sets.py").write_text(
        "from raybench import games\n"
        "from raybench.positions import Positions\n"
        "OPENINGS = Positions('openings', 'chess', lambda rng: games.load('chess').new(1),\n"
        "                     lambda state, move: float(move == 'd4'))\n"
        "def short(state, move):\n"
        "    return float(len(move) < 3)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    conf = config(TWO, "positions=['own_sets:OPENINGS',poker_river]", "metric='own_sets:short'")
    assert [it.positions for it in setup.studies(conf)][:2] == ["own_sets:OPENINGS", "poker_river"]
    assert [it.name for it in choice.chosen(conf.optimise_players)] == ["openings", "poker_river"]


OWN = """
from raybench import games
from raybench.positions import Positions

def dice(rng):
    return games.load('liars_dice').new(rng.getrandbits(32))

def same(rng):
    return games.load('chess').new(1)

def no(rng):
    raise KeyError('nothing')

def worth(state, move):
    return 0.5

ONE = Positions('one', 'chess', same, worth)
DRAW = Positions('draw', 'chess', no, worth)
GAME = Positions('game', 'liars_dyce', dice, worth)
MUCH = Positions('much', 'liars_dice', dice, lambda state, move: 7.0)
NONE = Positions('none', 'liars_dice', dice, lambda state, move: None)
LIST = Positions('list', 'liars_dice', dice, worth, roles=['player_1'])
BEST = Positions('best', 'liars_dice', dice, worth, best=lambda state: 'sing')
GOOD = Positions('good', 'liars_dice', dice, worth)
"""


@pytest.mark.slow
def test_positions_of_ones_own_are_tried_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_tried.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    expected: dict[str, tuple[Code, object, str]] = {
        "DRAW": ("extension.failed", "draw", "KeyError: 'nothing'"),
        "GAME": ("setting.choice", "liars_dyce", "'liars_dice'"),
        "MUCH": ("extension.invalid", 7.0, "0 to 1"),
        "NONE": ("extension.failed", "none", "TypeError"),
        "BEST": ("extension.invalid", "sing", "liars_dice"),
        "LIST": ("extension.failed", "list", "TypeError: unhashable"),
    }
    for name, (code, given, named) in expected.items():
        found = problem(f"positions=['own_tried:{name}']")
        assert (found.code, found.setting) == (code, "optimise_players.positions"), name
        assert found.given == given and named in found.text, name
    conf = config(TWO, "positions=['own_tried:ONE']")
    with refused("data.missing", "optimise_players.positions", kind=ConfigurationError) as caught:
        setup.about(conf, "a", "own_tried:ONE")
    assert "'one'" in str(caught.value) and "'validation'" in str(caught.value)


def test_a_player_is_made_from_ones_own_code_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "own_changed.py"
    file.write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    before = about("positions=['own_changed:GOOD']", of="own_changed:GOOD")
    file.write_text(OWN.replace("0.5", "0.4"))
    after = about("positions=['own_changed:GOOD']", of="own_changed:GOOD")
    assert {key for key in before if before[key] != after[key]} == {"own"}
    assert [*before["own"]] == ["own_changed:GOOD"]
    assert before["settings"]["sizes"] == {"train": 4, "validation": 2}


def test_without_dspy_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    conf = config(TWO).optimise_players
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (found,) = choice.problems(conf)
    assert found.code == "package.missing"
    assert found.fix and "raybench[dspy]" in found.fix
