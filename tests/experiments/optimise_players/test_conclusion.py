"""What a run of studies says that it asked."""

from dataclasses import replace

from experiments.optimise_players.test_units import NAME, config, ledger, played

from raybench.arena.studies import Marked
from raybench.experiments.optimise_players.conclusion import concluded


def inputs(*marks: Marked, learned_from: str = "x") -> dict[str, str]:
    about = {"digest": learned_from, "positions": NAME, "settings": {"seed": 0}}
    record = {
        "study": 1, "model": "a", "positions": NAME, "about": about, "key": "k", "file": "f",
        "cached": False,
    }  # fmt: skip
    return dict(concluded(config("held_out=2"), [record], ledger(*marks), {}).inputs)


def at(phase: str, place: int, position: str) -> Marked:
    return replace(played(phase, place, "call"), position=position)


def test_what_was_asked_are_the_held_out_positions_and_not_those_to_learn_from() -> None:
    both = at("before", 0, "p"), at("before", 1, "q"), at("after", 1, "q"), at("after", 0, "p")
    found = inputs(*both)
    assert [*found] == [f"positions.{NAME}"]
    assert found == inputs(*both[::-1], learned_from="y")
    assert found != inputs(at("before", 0, "q"), at("before", 1, "p"))


def test_a_journal_that_does_not_tell_which_positions_they_were_names_none() -> None:
    assert not inputs(at("before", 0, ""), at("after", 0, ""))
