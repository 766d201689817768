"""Thinking has a reply of its own, in front of the move."""

from players.deciding import Model, decision

from raybench.players.parts.asking import NOTHING, ONLY
from raybench.players.parts.contract import Made, Try
from raybench.players.reasoned import THINK, Reasoned


async def test_it_thinks_and_then_moves() -> None:
    said = "Move: d4 looks good, but e4 is better."
    model = Model([said, "Move: e4"])
    assert await Reasoned().move(decision(model)) == Made("e4", "Move: e4")
    thinking, moving = model.calls
    assert (thinking.thought, moving.thought) == (True, False)
    assert thinking.last.endswith(THINK) and ONLY["line"] not in thinking.last
    first, thought, now = moving.messages
    assert [first] == thinking.messages or (first,) == thinking.messages
    assert (thought.role, thought.foreign) == ("assistant", True)
    assert thought.content == said
    assert now.content.startswith("Now decide.") and ONLY["line"] in now.content


async def test_what_was_refused_before_stands_in_front_of_the_thought() -> None:
    model = Model(["", "Move: e4"])
    wrong = Try("Move: no", "it is against the rules")
    await Reasoned().move(decision(model, wrong))
    contents = [it.content for it in model.calls[1].messages]
    assert contents[1] == "Move: no" and wrong.reason in contents[2]
    assert contents[3] == NOTHING, "a thought may be empty"
