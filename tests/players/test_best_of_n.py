"""Several replies are drawn, and the commonest valid move is played."""

import pytest
from players.deciding import Model, decision
from refusals import refused

from raybench.players import load
from raybench.players.best_of_n import BestOfN
from raybench.players.parts.contract import Made, NoMove
from raybench.types import Form


async def test_the_commonest_move_is_played_however_it_is_written() -> None:
    model = Model(["Move: d4", "Move: E4", "Move: e4", "I pass\nnow", "Move: no", "Move: no"])
    assert await BestOfN(6).move(decision(model)) == Made("E4", "Move: E4")
    assert len(model.calls) == 6
    assert all(call.varied for call in model.calls), "each is drawn anew"
    assert all(call.messages == model.calls[0].messages for call in model.calls)


async def test_of_equals_the_first_is_played() -> None:
    assert (await BestOfN(2).move(decision(Model(["Move: b", "Move: a"])))).move == "b"


async def test_where_none_is_valid_the_first_is_told_of() -> None:
    with pytest.raises(NoMove, match="'no1'") as refused:
        await BestOfN(2).move(decision(Model(["Move: no1", "Move: no2"])))
    assert refused.value.reply == "Move: no1"


@pytest.mark.parametrize("form", ["text", "code"])
@pytest.mark.parametrize(
    ("said", "chosen"), [("Move: 2", "b"), ("2.", "b"), ("Move: 7", "a"), ("Both\nare fine", "a")]
)
async def test_of_texts_the_model_says_which_is_best(form: Form, said: str, chosen: str) -> None:
    drafts = {it: f"```\n{it}\n```" if form == "code" else it for it in ("a", "b")}
    model = Model([drafts["a"], drafts["b"], drafts["a"], said])
    made = await BestOfN(3).move(decision(model, form=form))
    assert (made.move.strip(), made.reply) == (chosen, drafts[chosen])
    asked = model.calls[-1]
    assert asked.among == ["1", "2"], "equal drafts are one"
    assert not asked.varied and "1.\na" in asked.last and "2.\nb" in asked.last


async def test_of_drafts_that_are_all_alike_nobody_is_asked() -> None:
    model = Model(["a", "a"])
    assert (await BestOfN(2).move(decision(model, form="text"))).move == "a"
    assert len(model.calls) == 2


@pytest.mark.parametrize("n", [1, 0, 65])
def test_how_many_there_may_be(n: int) -> None:
    with refused("setting.range", "n"):
        load("best_of_n", {"n": n})
