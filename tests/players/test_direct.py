"""The plain strategy asks once, and reads the reply."""

import pytest
from players.deciding import Model, decision
from statements import code

from raybench.players.direct import Direct
from raybench.players.parts.asking import prompt
from raybench.players.parts.contract import Made, NoMove, Try


async def test_it_asks_once_and_reads_the_reply() -> None:
    model = Model(["Hm.\nMove: e4"])
    of = decision(model, Try("Move: no", "it is against the rules"))
    assert await Direct().move(of) == Made("e4", "Hm.\nMove: e4")
    (asked,) = model.calls
    assert asked.messages == prompt(of.seen, of.tries)
    assert (asked.thought, asked.among, asked.varied) == (False, (), False)


async def test_whether_a_move_is_valid_is_left_to_the_game() -> None:
    assert (await Direct().move(decision(Model(["Move: no"])))).move == "no"
    with pytest.raises(NoMove) as refused:
        await Direct().move(decision(Model(["I pass\nnow"])))
    assert (code(refused.value), refused.value.reply) == ("reply.no_line", "I pass\nnow")
