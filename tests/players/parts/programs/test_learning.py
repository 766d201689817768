"""Optimisers of DSPy's work on positions, through a school, and what they make is a plain state."""

import json
from typing import Any

import pytest
from players.deciding import Model, decision
from players.parts.programs.schooling import HINT, TALK, Class
from refusals import refusals

from raybench.errors import Problem
from raybench.players.parts.asking import REFUSED
from raybench.players.parts.contract import Decision
from raybench.players.parts.programs.deciding import fresh
from raybench.players.parts.programs.learning import Learner, _lm, learned
from raybench.players.parts.programs.optimisers import Optimiser
from raybench.players.parts.programs.saved import Saved
from raybench.players.parts.programs.studies import Studies
from raybench.players.program import Program
from raybench.types import Completion

NUMBERS = {f"{split}/{at}": at for split in ("train", "validation") for at in range(12)}
OWN = """
import dspy
from dspy.teleprompt import LabeledFewShot

class Two(dspy.Module):
    def __init__(self):
        super().__init__()
        self.act = dspy.Predict("view -> move")

    async def aforward(self, view):
        return await self.act.acall(view=view)

class Few(LabeledFewShot):
    pass

class Nothing:
    pass
"""


def taught(
    optimiser: str, school: Class, module: str = "predict", answered: bool = True, **options: Any
) -> dict[str, Any]:
    train, validation = (
        [school.lesson(key, answered=answered) for key in NUMBERS if key.startswith(split)]
        for split in ("train", "validation")
    )
    studies = Studies(module, Optimiser(optimiser, options), seed=3, threads=4)
    return learned(studies, school, train, validation)


def instructions(state: dict[str, Any]) -> str:
    return str(state["signature"]["instructions"])


@pytest.mark.parametrize("module", ["predict", "chain_of_thought"])
def test_bootstrapped_examples_are_right_ones_and_others_are_not_taken(module: str) -> None:
    school = Class(NUMBERS)
    state = taught("BootstrapFewShot", school, module, max_labeled_demos=0)
    part = state["predict"] if module == "chain_of_thought" else state
    moves = {it["view"]: it["move"] for it in part["demos"]}
    assert moves == {f"There stands {n}.": str(n + 1) for n in (0, 4, 8)}
    assert len(school.asked) == 12, "each position once: no example has been found before the last"


def test_answers_that_are_known_are_examples_and_without_them_there_are_none() -> None:
    shown = taught("LabeledFewShot", Class(NUMBERS), k=3)["demos"]
    assert len(shown) == 3
    assert all(it["move"] == str(int(it["view"][13:-1]) + 1) for it in shown)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("MIPROv2", {"auto": None, "num_candidates": 3, "num_trials": 4, "minibatch": False}),
        ("GEPA", {"max_metric_calls": 80}),
        ("COPRO", {"breadth": 2, "depth": 1}),
        ("SIMBA", {"bsize": 4, "max_steps": 2, "num_candidates": 2}),
        ("BootstrapFewShotWithRandomSearch", {"num_candidate_programs": 2}),
        ("InferRules", {"num_candidates": 2, "num_rules": 2}),
    ],
)
def test_every_optimiser_finds_what_helps(name: str, options: dict[str, Any]) -> None:
    by_words = name in ("GEPA", "COPRO")
    school = Class(NUMBERS, learns_by="instructions" if by_words else "examples")
    state = taught(name, school, **options)
    if by_words:
        assert HINT in instructions(state)
    else:
        assert state["demos"] or HINT in instructions(state)
    assert json.loads(json.dumps(state)) == state, "a plain file holds it"


@pytest.mark.parametrize("module", ["predict", "chain_of_thought", "own_learning:Two"])
def test_what_one_learned_no_other_knows(own: str, module: str) -> None:
    """InferRules writes its rules into the class of the signature, which is everybody's."""

    def first(school: Class) -> str:
        taught("InferRules", school, module, num_candidates=1, num_rules=1)
        return "\n".join(it.content for it in school.asked[0])

    assert HINT not in first(Class(NUMBERS)) and HINT not in first(Class(NUMBERS))


def test_reasons_reach_those_who_write_instructions() -> None:
    school = Class(NUMBERS, learns_by="instructions")
    taught("GEPA", school, max_metric_calls=60)
    told = "\n".join(it.content for messages in school.written for it in messages)
    assert REFUSED in told and TALK.splitlines()[0] in told


async def test_what_was_learned_is_played() -> None:
    state = taught("LabeledFewShot", Class(NUMBERS), k=2)
    model = Model(["Move: e4"])
    made = await Program(texts=(json.dumps(state),)).move(decision(model))
    assert made.move == "e4" and [it.role for it in model.calls[0].messages].count("assistant") == 2


async def test_a_program_of_ones_own_learns_in_dspys_words(own: str) -> None:
    school = Class(NUMBERS)
    state = taught("BootstrapFewShot", school, f"{own}:Two", max_labeled_demos=0)
    assert {it["move"] for it in state["act"]["demos"]} == {"1", "5", "9"}
    model = Model(["[[ ## move ## ]]\ne4"])
    player = Program(f"{own}:Two", texts=(json.dumps(state),))
    assert (await player.move(decision(model))).move == "e4"
    assert len(model.calls[0].messages) == 8, "a head, three examples, the board"


def test_an_optimiser_of_ones_own(own: str) -> None:
    assert [*Optimiser(f"{own}:Few", {"k": 2}).problems()] == []
    assert len(taught(f"{own}:Few", Class(NUMBERS), k=2)["demos"]) == 2
    (problem,) = Optimiser(f"{own}:Nothing").problems()
    assert (problem.code, problem.given) == ("extension.invalid", f"{own}:Nothing")


def test_further_rounds_are_drawn_otherwise() -> None:
    school = Class(NUMBERS)
    taught("BootstrapFewShot", school, max_labeled_demos=0, max_rounds=2)
    assert {} in school.drawn and {"temperature": 1.0, "rollout_id": 1} in school.drawn


@pytest.mark.parametrize("module", ["predict", "own_learning:Two"])
async def test_replies_that_are_to_be_drawn_otherwise_are_asked_for_so(
    own: str, module: str
) -> None:
    import dspy

    asked = list[bool]()

    async def ask(*messages: object, varied: bool = False, **how: object) -> Completion:
        asked.append(varied)
        return Completion("Move: e4" if module == "predict" else "[[ ## move ## ]]\ne4", "stop")

    of = decision(Model([]))
    for lm in (_lm(Class(NUMBERS), proposer=False).copy(**it) for it in ({}, {"temperature": 1.0})):
        with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
            made = await Learner(module, fresh(module), {}).move(Decision(of.seen, ask, of.check))
        assert made.move == "e4"
    assert asked == [False, True]


def test_what_is_wrong_with_a_choice_is_said() -> None:
    def problems(name: str, **options: Any) -> list[Problem]:
        return [*Optimiser(name, options).problems()]

    assert problems("BootstrapFewShot") == problems("MIPROv2", auto="light") == []
    (problem,) = problems("MIPROv3")
    assert problem.code == "setting.choice" and "'MIPROv2'" in str(problem.fix)
    assert refusals(problems("BootstrapFewShot", demos=3)) == [("setting.unknown", "demos")]
    assert refusals(problems("MIPROv2", metric="worth")) == [("setting.conflict", "metric")]
    missing = problems("BootstrapFewShotWithOptuna")
    assert refusals(missing) == [("setting.missing", "max_demos")]
    (problem,) = problems("COPRO", breadth=1)
    assert problem.code == "extension.failed" and "Breadth" in problem.message
    (problem,) = problems("GEPA")
    assert "max_metric_calls" in problem.message, "it wants one budget"
    for name in ("KNNFewShot", "Ensemble", "BootstrapFinetune"):
        (problem,) = problems(name)  # what they make is no instruction or example
        assert (problem.code, problem.given) == ("setting.choice", name)


async def test_a_file_brings_no_model_of_its_own() -> None:
    """DSPy would ask that one itself, and its moves would be rated as the model's."""
    import dspy

    from raybench.players.parts.programs.signature import Move

    foreign = dspy.Predict(Move.with_instructions("Win."))
    foreign.lm = dspy.LM("openai/gpt-4o-mini", api_base="http://localhost:1")
    for module in ("predict", "chain_of_thought"):
        state = foreign.dump_state()
        assert state["lm"]
        state["forward"] = "something else"
        saved = state if module == "predict" else {"predict": state}
        model = Model(["Move: e4"])
        player = Program(module, texts=(json.dumps(saved),))
        assert (await player.move(decision(model))).move == "e4"
        assert model.calls[0].last.startswith("Win.")


async def test_positions_without_a_known_answer_are_learned_from_all_the_same() -> None:
    for module in ("predict", "chain_of_thought"):
        state = taught("BootstrapFewShot", Class(NUMBERS), module, answered=False)
        part = state if module == "predict" else state["predict"]
        assert {it["move"] for it in part["demos"]} == {"1", "5", "9"}, "no other is an example"
        made = await Program(module, texts=(json.dumps(state),)).move(decision(Model(["Move: e4"])))
        assert made.move == "e4"


def test_a_saved_program_is_for_what_it_was_made_for() -> None:
    state = json.dumps({"signature": {}})
    about = {"module": "predict", "actions": ["bid"]}
    ours = Saved.of(json.dumps({"about": about, "program": json.loads(state)}), "a.json")
    assert (ours.module, ours.actions) == ("predict", ("bid",)) and json.loads(ours.state)
    assert Saved.of(state, "b.json").actions == ()
    with pytest.raises(ValueError, match=r"'c\.json'.*JSON"):
        Saved.of("{", "c.json")
    with pytest.raises(ValueError, match="object"):
        Saved.of("[]", "c.json")
    with pytest.raises(ValueError, match="'actions'"):
        Saved.of(json.dumps({"about": {"module": "predict"}, "program": {}}), "c.json")
