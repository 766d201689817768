"""A program decides."""

import inspect
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from raybench.errors import ConfigurationError, Problem, RunFailed, did_you_mean
from raybench.imported import imported
from raybench.players.parts.contract import Decision, Made, NoMove
from raybench.players.parts.programs.lm import Linked, linked
from raybench.players.parts.programs.plain import Plain
from raybench.players.parts.programs.saved import NOTHING, Saved
from raybench.players.parts.programs.signature import Move
from raybench.players.parts.reading import read
from raybench.statements import Statement

_FORGETFUL = {"disable_history": True, "trace": None}
"""DSPy would keep thousands of decisions, for an optimiser that does not run here."""
_NOBODY = linked()
"""What DSPy is told that a program of ours asks; it asks the model of its decision by itself."""
SHIPPED = {"predict": dspy.Predict, "chain_of_thought": dspy.ChainOfThought}


@cache
def program(name: str, saved: Saved = NOTHING) -> Any:
    """Return a program, with what an optimiser made of it.

    It is one that is shipped, or one of somebody's own by its import path. Raises
    ConfigurationError where there is none.
    """
    found = fresh(name)
    if saved.state:
        try:
            found.load_state(_harmless(json.loads(saved.state)))
        except Exception as error:  # whatever may be wrong with a file
            raise ConfigurationError(
                Problem(
                    "extension.invalid",
                    f"the compiled program '{saved.name}' cannot be loaded "
                    f"({type(error).__name__}: {error})",
                    given=saved.name,
                    fix=f"give a JSON file that '{name}' was saved to",
                )
            ) from error
    return found


def _harmless(state: Any) -> Any:
    """Return a state with its instructions and examples alone: a file may name another model.

    That one would be asked, by DSPy itself, and its moves rated as this one's.
    """
    if not isinstance(state, Mapping):
        return state
    if "signature" in state:
        kept = {name: state.get(name, []) for name in ("traces", "train", "demos")}
        return {**kept, "signature": state["signature"], "lm": None}
    return {name: _harmless(it) for name, it in state.items()}


def fresh(name: str) -> Any:
    """Return a program of nobody else's."""
    found = _made(name)
    for predictor in found.predictors():  # some optimisers write into the class, which all share
        signature = predictor.signature
        predictor.signature = signature.with_instructions(signature.instructions)
    return found


def _made(name: str) -> Any:
    if name in SHIPPED:
        return SHIPPED[name](Move)
    if ":" not in name:
        raise ConfigurationError(
            Problem(
                "setting.choice",
                f"unknown program '{name}'",
                given=name,
                fix=f"{did_you_mean(name, SHIPPED)} Your own: MODULE:NAME.",
            )
        )
    found = imported(name, "program")
    if not isinstance(found, dspy.Module):
        raise ConfigurationError(
            Problem(
                "extension.invalid",
                f"'{name}' is no program",
                given=name,
                fix="give a dspy.Module, or a class of such without arguments",
            )
        )
    if not hasattr(found, "aforward"):
        raise ConfigurationError(
            Problem(
                "extension.invalid",
                f"the program '{name}' has no aforward: what waits for a reply by a plain call "
                "would hold up all other matches",
                given=name,
                fix="Write 'async def aforward', and ask by acall in it",
            )
        )
    return found.deepcopy()


async def decided(name: str, saved: Saved, decision: Decision) -> Made:
    """Return what a program decides. Raises NoMove where its model's reply holds no move."""
    of, engine = program(name, saved), Linked(decision.ask, decision.seen.images)
    lm = _NOBODY if name in SHIPPED else linked(engine)
    try:
        with dspy.context(lm=lm, adapter=adapter(name, decision, engine), **_FORGETFUL):
            prediction = await of.acall(**given(of, decision))
    except Exception as error:
        if engine.failure is not None:
            raise engine.failure from None
        if isinstance(error, AdapterParseError):
            if not engine.last.text.strip():  # DSPy does not ask its adapter what that means
                read(engine.last, decision.seen.form, decision.check)
            raise NoMove(_why(error), engine.last.text) from error
        raise failed(name, error) from error
    if not (move := move_of(prediction)):
        why = Statement("program.no_move", "the program's prediction holds no move")
        raise NoMove(why, engine.last.text)
    return Made(move, engine.last.text)


def adapter(name: str, decision: Decision, engine: Linked, *, lenient: bool = False) -> Any:
    """Return how a program's fields become a prompt: our words for ours, DSPy's for others.

    A lenient one takes a reply without a move for one that is not valid.
    """
    if name in SHIPPED:
        return Plain(decision.seen.form, decision.check, engine, lenient=lenient)
    return dspy.ChatAdapter(use_json_adapter_fallback=False)


def failed(name: str, error: Exception) -> RunFailed:
    """Return what is said where a program raises something of its own."""
    return RunFailed(
        Problem(
            "extension.failed",
            f"the program '{name}' failed: {type(error).__name__}: {error}",
            given=name,
        )
    )


def move_of(prediction: Any) -> str:
    """Return the move of a prediction; '' where it holds none."""
    return str(getattr(prediction, "move", None) or "").strip()


def given(of: Any, decision: Decision) -> dict[str, Any]:
    """Return what a program is given: as much of it as it takes."""
    seen = decision.seen
    every = {
        "rules": seen.rules,
        "view": seen.view,
        "task": seen.task,
        "tries": [{"reply": it.reply, "reason": it.reason} for it in decision.tries],
        "role": seen.role,
        "action": seen.action,
        "form": seen.form,
    }
    asking = of.predict if type(of) is dspy.ChainOfThought else of  # it would take anything
    if (signature := getattr(asking, "signature", None)) is not None:
        return {name: every[name] for name in signature.input_fields if name in every}
    takes = inspect.signature(of.aforward).parameters
    if any(it.kind is it.VAR_KEYWORD for it in takes.values()):
        return every
    return {name: it for name, it in every.items() if name in takes}


def _why(error: AdapterParseError) -> str:
    """Return the reason in the words that a model can use."""
    if isinstance(error.__cause__, NoMove):
        return error.__cause__.reason
    return Statement(
        "program.no_fields",
        "the reply does not hold its fields ({fields}) in the form that was asked for",
        fields=", ".join(error.signature.output_fields),
    )
