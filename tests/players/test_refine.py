"""A draft comes back: with the reason where it is refused, else to be looked at again."""

import pytest
from players.deciding import Model, decision

from raybench.players.parts.asking import HOW, refused
from raybench.players.parts.contract import Made, NoMove, Try
from raybench.players.refine import REVIEW, Refine


async def test_a_valid_draft_is_looked_at_again_and_may_be_replaced() -> None:
    model = Model(["Move: d4", "Move: e4"])
    assert await Refine().move(decision(model)) == Made("e4", "Move: e4")
    first, second = model.calls
    assert [it.content for it in second.messages[:-1]] == [first.last, "Move: d4"]
    assert second.last == f"{REVIEW} {HOW['line']}"


async def test_a_refused_draft_comes_back_with_the_reason() -> None:
    model = Model(["Move: no", "Move: e4"])
    assert (await Refine().move(decision(model))).move == "e4"
    why = "'no' is against the rules"
    assert model.calls[1].last == refused(Try("Move: no", why))[1].content


async def test_a_valid_draft_stands_where_the_next_one_is_refused() -> None:
    assert (await Refine().move(decision(Model(["Move: d4", "Move: no"])))).move == "d4"
    assert (await Refine().move(decision(Model(["Move: d4", "well,\nhm"])))).move == "d4"


async def test_a_draft_that_is_kept_is_played_at_once() -> None:
    model = Model(["Move: d4", "Move: D4", "Move: e4"])
    assert (await Refine(reviews=5).move(decision(model))).move == "d4"
    assert len(model.calls) == 2


async def test_where_no_draft_is_valid_the_last_refusal_counts() -> None:
    with pytest.raises(NoMove, match="'no2'") as found:
        await Refine().move(decision(Model(["Move: no1", "Move: no2"])))
    assert found.value.reply == "Move: no2"
