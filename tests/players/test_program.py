"""DSPy programs decide by asking the model of the decision, and nobody else."""

import asyncio
import json
from pathlib import Path

import pytest
from players.deciding import SEEN, Model, decision
from refusals import refused
from statements import code, values

from raybench import players
from raybench.players.parts.asking import HOW, REFUSED
from raybench.players.parts.contract import Decision, Made, NoMove, Try
from raybench.players.program import Program
from raybench.types import Completion, Finish

OWN = '''
import asyncio
import dspy

class Twice(dspy.Module):
    """Thinks, then moves, with DSPy's own way of asking."""

    def __init__(self):
        super().__init__()
        self.plan = dspy.Predict("view, task -> plan")
        self.act = dspy.Predict("plan, role -> move")

    async def aforward(self, view, task, role):
        plan = await self.plan.acall(view=view, task=task)
        return await self.act.acall(plan=plan.plan, role=role)

class Broken(dspy.Module):
    async def aforward(self, view):
        return {}["nothing"]

class Silent(dspy.Module):
    async def aforward(self, **given):
        return dspy.Prediction(thought=", ".join(given))

class Grouped(dspy.Module):
    def __init__(self):
        super().__init__()
        self.act = dspy.Predict("view -> move")

    async def aforward(self, view):
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(self.act.acall(view=view))

class Plain(dspy.Module):
    def forward(self, view):
        return dspy.Prediction(move="e4")

class Waits(dspy.Module):
    def __init__(self):
        super().__init__()
        self.act = dspy.Predict("view -> move")

    async def aforward(self, view):
        return self.act(view=view)

NOTHING = 3
'''


async def test_it_asks_as_direct_does_below_an_instruction() -> None:
    from raybench.players.parts.programs.signature import Move

    model = Model(["Hm.\nMove: e4"])
    of = decision(model, Try("Move: no", "it is against the rules"))
    assert await Program().move(of) == Made("e4", "Hm.\nMove: e4")
    (asked,) = model.calls
    first, tried, why = asked.messages
    assert first.content.startswith(str(Move.instructions))
    assert f"\n\n{of.seen}\n" in first.content
    assert first.content.endswith(HOW["line"]) and first.foreign
    assert (tried.role, tried.content) == ("assistant", "Move: no")
    assert why.content == f"{REFUSED}: {of.tries[0].reason}. Try again."
    assert not asked.thought, "a list of moves may hold it to its form"


async def test_a_chain_of_thought_reasons_in_the_same_reply() -> None:
    from raybench.players.parts.programs.plain import ALOUD

    model = Model(["It is open.\nMove: e4"])
    assert (await Program("chain_of_thought").move(decision(model))).move == "e4"
    assert ALOUD in model.calls[0].last
    bare = Model(["Move: e4"])
    assert (await Program("chain_of_thought").move(decision(bare))).move == "e4"


async def test_a_reply_without_a_move_is_none_and_the_reason_is_the_same_as_ever() -> None:
    replies: list[tuple[str, Finish, str]] = [
        ("I pass\nnow", "stop", "reply.no_line"),
        ("", "stop", "reply.empty"),
        ("Move: Nf", "length", "reply.cut"),
    ]
    for reply, finish, why in replies:
        with pytest.raises(NoMove) as found:
            await Program().move(decision(Model([reply], finish=finish)))
        assert (code(found.value), found.value.reply) == (why, reply)


async def test_what_asking_raises_comes_through_as_it_is() -> None:
    class Gone(Exception):
        pass

    async def ask(*messages: object, **how: object) -> None:
        raise Gone("m gave no reply")

    of = decision(Model([]))
    with pytest.raises(Gone):
        await Program().move(Decision(of.seen, ask, of.check))  # type: ignore[arg-type]


async def test_what_asking_raises_comes_through_where_the_program_cancels_the_rest(
    own: str,
) -> None:
    class Gone(Exception):
        pass

    asked = 0

    async def ask(*messages: object, **how: object) -> None:
        nonlocal asked
        asked += 1
        if asked > 1:
            await asyncio.sleep(60)
        raise Gone("m gave no reply")

    of = decision(Model([]))
    with pytest.raises(Gone):
        await players.load(f"{own}:Grouped").move(
            Decision(of.seen, ask, of.check)  # type: ignore[arg-type]
        )


async def test_decisions_leave_nothing_behind() -> None:
    """DSPy keeps traces and histories, for optimisers."""
    import dspy
    from dspy.clients import base_lm

    before = len(dspy.settings.trace or ()), len(base_lm.GLOBAL_HISTORY)
    for _ in range(3):
        await Program().move(decision(Model(["Move: e4"])))
    assert (len(dspy.settings.trace or ()), len(base_lm.GLOBAL_HISTORY)) == before


async def test_images_are_shown() -> None:
    from dataclasses import replace

    model = Model(["Move: e4"])
    of = decision(model)
    await Program().move(replace(of, seen=replace(of.seen, images=("data:,",))))
    assert model.calls[0].messages[-1].images == ("data:,",)


async def test_ones_own_program_is_asked_in_dspys_words_and_takes_what_it_wants(own: str) -> None:
    model = Model(["[[ ## plan ## ]]\nattack", "[[ ## move ## ]]\ne4\n\n[[ ## completed ## ]]"])
    player = players.load(f"{own}:Twice")
    made = await player.move(decision(model))
    assert made.move == "e4" and "e4" in made.reply
    assert players.called(player) == f"program module={own}:Twice"
    assert [call.thought for call in model.calls] == [True, True], "nothing holds it to our form"
    assert "The board." in model.calls[0].last and "attack" in model.calls[1].last
    with pytest.raises(NoMove) as found:
        await player.move(decision(Model(["no idea"])))
    assert (code(found.value), found.value.reply) == ("program.no_fields", "no idea")
    assert values(found.value) == {"fields": "plan"}


async def test_what_is_wrong_with_ones_own_is_said(own: str) -> None:
    with refused("extension.failed", given="own_program:Broken"):
        await players.load(f"{own}:Broken").move(decision(Model([])))
    with pytest.raises(NoMove) as found:
        await players.load(f"{own}:Silent").move(decision(Model([])))
    assert code(found.value) == "program.no_move"
    with refused("extension.failed"):
        await players.load(f"{own}:Waits").move(decision(Model(["x"])))
    with refused("extension.invalid"):
        players.load(f"{own}:Plain")
    with refused("extension.import"):
        players.load(f"{own}:Twice", {"n": 3})
    with refused("extension.invalid", given="own_program:NOTHING"):
        players.load("program", {"module": f"{own}:NOTHING"})
    with refused("setting.choice"):
        players.load("program", {"module": "predct"})


async def test_many_decide_at_once_each_by_its_own_model() -> None:
    models = [Model([f"Move: e{at}"]) for at in range(64)]
    made = await asyncio.gather(*(Program().move(decision(it)) for it in models))
    assert [it.move for it in made] == [f"e{at}" for at in range(64)]


async def test_nothing_holds_one_decision_up_for_another() -> None:
    """All are under way at the same time: there is no lock that they share."""
    asked, let = 0, asyncio.Event()

    async def ask(*messages: object, **how: object) -> Completion:
        nonlocal asked
        asked += 1
        if asked == 256:
            let.set()
        await let.wait()
        return Completion("Move: e4", "stop")

    of = decision(Model([]))
    deciding = (Program().move(Decision(of.seen, ask, of.check)) for _ in range(256))
    made = await asyncio.wait_for(asyncio.gather(*deciding), 60)
    assert len(made) == 256


@pytest.mark.parametrize("name", ["predict", "chain_of_thought"])
async def test_ours_take_no_thread_and_are_given_what_they_ask_for(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DSPy prepares each call of its own in one, and warns of each field that is not asked for."""
    from raybench.players.parts.programs.deciding import given, program
    from raybench.players.parts.programs.signature import Move

    def to_thread(*call: object, **how: object) -> None:
        pytest.fail("the loop was left")

    monkeypatch.setattr(asyncio, "to_thread", to_thread)
    of = decision(Model(["Move: e4"]))
    assert (await Program(name).move(of)).move == "e4"
    assert given(program(name), of).keys() == Move.input_fields.keys()


async def test_nothing_is_remembered_from_one_decision_to_the_next() -> None:
    """DSPy's cache would give the same reply again, whatever the seed."""
    model = Model(["Move: e4", "Move: d4"])
    of = decision(model)
    assert [(await Program().move(of)).move for _ in range(2)] == ["e4", "d4"]


async def test_what_an_optimiser_saved_is_asked_with(tmp_path: Path) -> None:
    import dspy

    from raybench.players.parts.programs.signature import Move

    tuned = dspy.Predict(Move.with_instructions("Think of mate."))
    shown = {"rules": "Old rules.", "view": "A won board.", "task": "Win.", "tries": []}
    tuned.demos = [dspy.Example(**shown, move="Qh7#")]
    file = tmp_path / "tuned.json"
    tuned.save(file)
    player = players.load("program", {"compiled": str(file)})
    model = Model(["Move: e4"])
    assert (await player.move(decision(model))).move == "e4"
    example, reply, asked = model.calls[0].messages
    instructions = "Think of mate."
    above = [instructions, SEEN.rules, str(shown["view"]), f"{shown['task']}\n"]
    assert example.content.startswith("\n\n".join(above))
    assert reply.role == "assistant" and reply.content == "Move: Qh7#"
    assert asked.content.startswith(f"{SEEN.view}\n\n{SEEN.task}\n"), "rules stand there once"
    name = players.called(player)
    assert name.startswith("program compiled=tuned.json@") and str(tmp_path) not in name
    tuned.demos = []
    tuned.save(file)
    assert players.called(player) == name, "it is what it was read from"
    again = players.load("program", {"compiled": str(file)})
    assert players.called(again) != name, "by what is in it"
    file.write_text("[]")
    with refused("setting.range"):
        players.load("program", {"compiled": str(file), "module": "chain_of_thought"})
    with refused("setting.range"):
        players.load("program", {"compiled": str(tmp_path / "nowhere.json")})


def test_a_file_has_no_code_imported_that_nobody_named(tmp_path: Path) -> None:
    (tmp_path / "theirs_alone.py").write_text("raise SystemExit('it ran')")
    file = tmp_path / "theirs.json"
    about = {"module": "theirs_alone:PROGRAM", "actions": []}
    file.write_text(json.dumps({"about": about, "made": {}, "program": {}}))
    with refused("setting.range"):
        players.load("program", {"compiled": str(file)})


def test_without_dspy_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with refused("setting.range"):
        players.load("program")
