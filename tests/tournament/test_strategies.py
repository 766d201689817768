"""Who plays how: the narrowest choice counts, and what is wrong is said where it stands."""

import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from refusals import Refusal, refusal

from raybench import games, players
from raybench.players.best_of_n import BestOfN
from raybench.players.direct import Direct
from raybench.players.reasoned import Reasoned
from raybench.players.refine import Refine
from raybench.tournament.strategies import Strategies, carried, problems, resolved

MODELS = ("a", "b")


def test_what_is_said_of_one_model_game_or_role_counts_before_the_rest() -> None:
    of = Strategies(
        {"chess": "reasoned", "Liar's Dice": {"player": "refine", "player_2": "reasoned"}},
        {"a": {"chess": {"white": {"use": "best_of_n", "n": 9}}}, "b": "refine"},
    )
    assert of.of("a", "chess", "white") == BestOfN(9)
    assert of.of("a", "chess", "black") == Reasoned()
    assert of.of("b", "chess", "black") == Refine()
    assert of.of("c", "liars_dice", "player_1") == Refine()
    assert of.of("c", "liars_dice", "player_2") == Reasoned()
    assert of.of("c", "poker", "player_1") == Direct()
    assert of.called("a", "chess", "white") == "best_of_n n=9"
    assert pickle.loads(pickle.dumps(of)).of("a", "chess", "white") == BestOfN(9)


@pytest.mark.parametrize("game", games.names())
def test_every_role_of_every_game_has_a_strategy(game: str) -> None:
    for role in games.load(game).new(1).roles:
        assert Strategies().of("a", game, role) == Direct()
        for name in players.names():
            assert Strategies(name).called("a", game, role) == name


@pytest.mark.parametrize(
    ("every", "single", "where", "fix"),
    [
        ("dirct", {}, ("setting.choice", "games.strategy"), "'direct'"),
        ({"ches": "direct"}, {}, ("setting.choice", "games.strategy.ches"), "'chess'"),
        (
            {"chess": {"whit": "direct"}},
            {},
            ("setting.choice", "games.strategy.chess.whit"),
            "'white'",
        ),
        (
            {"chess": {"white": {"black": "direct"}}},
            {},
            ("setting.format", "games.strategy.chess.white"),
            "",
        ),
        ({"chess": 3}, {}, ("setting.format", "games.strategy.chess"), ""),
        (None, {}, ("setting.format", "games.strategy"), ""),
        ("direct", {"c": "direct"}, ("setting.choice", "games.strategies.c"), ""),
        (
            "direct",
            {"a": {"use": "best_of_n", "m": 3}},
            ("setting.unknown", "games.strategies.a.m"),
            "",
        ),
        ("direct", {"a": {"n": 3}}, ("setting.choice", "games.strategies.a.n"), "{use: NAME"),
        ("direct", {"a": {"use": 3}}, ("setting.format", "games.strategies.a"), ""),
        ("direct", {"a": "nope:Nobody"}, ("extension.import", "games.strategies.a"), ""),
        (
            {"poker": {"player_5": "direct"}},
            {},
            ("setting.choice", "games.strategy.poker.player_5"),
            "",
        ),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(
    every: Any, single: dict[str, Any], where: Refusal, fix: str
) -> None:
    (found,) = problems(every, single, MODELS, {})
    assert refusal(found) == where and fix in str(found.fix)
    assert str(found.setting).startswith(found.message.partition(":")[0])


def test_seats_are_those_of_the_rules() -> None:
    rules = {"poker": {"players": 6}}
    assert not [*problems({"poker": {"player_5": "direct"}}, {}, MODELS, rules)]


def test_a_game_is_named_once() -> None:
    (found,) = problems({"chess": "direct", "Chess": "reasoned"}, {}, MODELS, {})
    assert refusal(found) == ("setting.duplicate", "games.strategy")


def test_what_is_sound_has_no_problems() -> None:
    own = {"a": {"use": "refine", "reviews": 2}, "b": {"gandalf": {"sentinel": "reasoned"}}}
    assert not [*problems("best_of_n", own, MODELS, {})]


def test_choices_are_resolved_to_their_own_names() -> None:
    assert resolved("Best of N") == "best_of_n" == resolved({"use": "best-of-n"})
    assert resolved({"use": "Refine", "reviews": 2}) == {"use": "refine", "reviews": 2}
    given = {"Liar's Dice": {"player": "Direct"}, "Chess": {"use": "own:Mine", "n": 1}}
    assert resolved(given) == {
        "liars_dice": {"player": "direct"},
        "chess": {"use": "own:Mine", "n": 1},
    }


def test_ones_own_are_called_by_their_path_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine:
        def __init__(self, n: int = 0) -> None:
            self.n = n

        async def move(self, decision: object) -> None: ...

    module = ModuleType("own_mine")
    module.Mine, module.fast = Mine, Mine(1)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_mine", module)
    by = Strategies("own_mine:fast", {"a": {"use": "own_mine:Mine", "n": 9}, "b": "own_mine:Mine"})
    names = [by.called(model, "chess", "white") for model in "abc"]
    assert names == ["own_mine:Mine n=9", "own_mine:Mine", "own_mine:fast"]
    assert not by.varies("a", "chess", "white"), "where it does not say so"


def test_who_is_told_to_play_otherwise_needs_no_compiled_player() -> None:
    of = Strategies("optimised", {"plain": "direct", "part": {"chess": {"white": "direct"}}})
    assert of.is_optimised("any", "chess", "white")
    assert not of.is_optimised("plain", "chess", "white")
    assert not of.is_optimised("part", "chess", "white")
    assert of.is_optimised("part", "chess", "black")
    of = Strategies({"chess": "optimised"}, {"plain": {"chess": "direct"}})
    assert of.is_optimised("any", "chess", "white") and not of.is_optimised("any", "poker", "x")
    assert not of.is_optimised("plain", "chess", "white")


def test_what_is_in_files_travels_with_a_choice(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"signature": {"instructions": "Win.", "fields": []}, "demos": []}')
    pytest.importorskip("dspy", reason="programs need DSPy")
    chosen = {"chess": {"white": {"use": "program", "compiled": str(file)}}, "poker": "direct"}
    there = carried(chosen)
    file.unlink()
    of = Strategies(there)
    assert of.called("m", "chess", "white").startswith("program compiled=a.json@")
    assert there["poker"] == "direct" and carried("optimised") == "optimised"


def test_a_slip_for_optimised_is_understood() -> None:
    (told,) = problems({"chess": "optimisd"}, {}, MODELS, {})
    assert (*refusal(told), told.given) == ("setting.choice", "games.strategy.chess", "optimisd")
    assert told.text.endswith("'optimised'?")
    (told,) = problems("refin", {}, MODELS, {})
    assert "'refine'" in told.text and "optimised" not in told.text


def test_optimised_may_be_written_as_every_strategy_and_has_no_options() -> None:
    of = Strategies({"chess": {"use": "optimised"}})
    assert of.is_optimised("m", "chess", "white")
    assert resolved({"chess": {"use": "optimised"}}) == {"chess": "optimised"}
    assert [*problems({"use": "optimised"}, {}, MODELS, {})] == []
    (told,) = problems({"use": "optimised", "n": 2}, {}, MODELS, {})
    assert refusal(told) == ("setting.unknown", "games.strategy.n")
