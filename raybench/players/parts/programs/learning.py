"""A program learns: an optimiser of DSPy's tries it on positions, and changes how it asks.

An optimiser calls plainly, from threads of its own, and waits; the program itself runs where its
model is asked, as in a match.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import dspy
from dspy import lm15
from dspy.utils.exceptions import AdapterParseError

from raybench.players.parts.asking import REFUSED
from raybench.players.parts.contract import Decision, Made, NoMove
from raybench.players.parts.programs.deciding import adapter, failed, fresh, given, move_of
from raybench.players.parts.programs.lm import Linked, messages_of, response
from raybench.players.parts.programs.optimisers import Handed
from raybench.players.parts.programs.studies import Studies
from raybench.types import Completion, Message, Observation

POSITION = "position"
"""The field by which an example names its position."""


class Mark(NamedTuple):
    """What a move is worth, from 0 to 1, and why, in words that whoever made it can use."""

    worth: float
    why: str


@dataclass(frozen=True)
class Lesson:
    """A position to learn from."""

    key: str
    """What it is known by."""
    seen: Observation
    answer: str | None
    """A move that is worth most; None where nobody knows one."""


class School(Protocol):
    """What an optimiser works with. All of it may be called from several threads at once."""

    def play(self, key: str, learner: "Learner") -> "Future[None]":
        """Have a position played."""
        ...

    def write(
        self, proposer: bool, messages: Sequence[Message], temperature: float | None
    ) -> "Future[Completion]":
        """Have the model write something that is no move, or who writes instructions."""
        ...

    def mark(self, key: str, move: str) -> Mark:
        """Say what a move is worth."""
        ...


class Learner:
    """The player of one decision: it moves as the program does that is being tried."""

    def __init__(self, name: str, of: Any, drawn: Mapping[str, Any]) -> None:
        """`drawn` is what the optimiser wants replies to be drawn with, in DSPy's words."""
        self._name = name
        self._of = of
        self.drawn = drawn
        self.prediction: Any = None
        self.error: AdapterParseError | None = None
        """The reply was not what the program's fields ask for."""

    async def move(self, decision: Decision) -> Made:
        """Return the move."""
        engine = Linked(decision.ask, decision.seen.images)
        words = adapter(self._name, decision, engine, lenient=True)
        _DECIDING.set(engine)
        try:
            with dspy.context(adapter=words):
                self.prediction = await self._of.acall(**given(self._of, decision))
        except Exception as error:
            if engine.failure is not None:
                raise engine.failure from None
            if not isinstance(error, AdapterParseError):
                raise failed(self._name, error) from error
            self.error = error
            raise NoMove(str(error), engine.last.text) from error
        if (refused := getattr(words, "refused", "")) and not move_of(self.prediction):
            self.prediction.refused = f"{refused}. The reply was: {engine.last.text}"
        return Made(move_of(self.prediction), engine.last.text)


_DECIDING: ContextVar[Linked] = ContextVar("_DECIDING")
"""Whom the program asks that is being tried: optimisers give predictors copies of their model."""


class _Playing:
    """The engine of the model that is optimised for, where the program asks it for a move."""

    async def complete(self, request: lm15.Request) -> lm15.Response:
        return await _DECIDING.get().complete(request)


class _Pupil(dspy.Module):
    """What is optimised: the program, asked for a position instead of an observation."""

    def __init__(self, name: str, of: Any, school: "_Shared") -> None:
        super().__init__()
        self.name = name
        self.program = of
        self.school = school

    def forward(self, position: str) -> Any:
        own = (it.lm for it in self.program.predictors() if it.lm is not None)
        kwargs = next(own, dspy.settings.lm).kwargs
        drawn = {name: it for name in _DRAWN if (it := kwargs.get(name)) is not None}
        learner = Learner(self.name, self.program, drawn)
        self.school.of.play(position, learner).result()
        if learner.error is not None:
            raise learner.error
        return learner.prediction


_DRAWN = ("temperature", "rollout_id")
"""How an optimiser asks for replies that are drawn otherwise."""


class _Shared:
    """The school, of which copies of a pupil make no copies."""

    def __init__(self, of: School) -> None:
        self.of = of

    def __deepcopy__(self, memo: Any) -> "_Shared":
        return self


class _Writing:
    """An engine for DSPy's own prompts: descriptions, tips, instructions."""

    def __init__(self, school: School, *, proposer: bool) -> None:
        self._school = school
        self._proposer = proposer

    def complete(self, request: lm15.Request) -> lm15.Response:
        written = self._school.write(
            self._proposer, messages_of(request), request.config.temperature
        )
        return response(request.model, written.result())


def _lm(school: School, *, proposer: bool) -> dspy.LM:
    return dspy.LM(
        "raybench",
        engine=_Writing(school, proposer=proposer),
        async_engine=_Playing(),
        cache=False,
        num_retries=0,
    )


def learned(
    studies: Studies, school: School, train: Sequence[Lesson], validation: Sequence[Lesson]
) -> dict[str, Any]:
    """Return the program's state as the optimiser leaves it. Takes as long as that takes."""
    pupil = _Pupil(studies.module, fresh(studies.module), _Shared(school))
    lm, proposer = _lm(school, proposer=False), _lm(school, proposer=True)
    handed = Handed(
        _metric(school), lm, proposer, studies.threads, studies.seed,
        [_example(it) for it in train], [_example(it) for it in validation],
    )  # fmt: skip
    words = dspy.ChatAdapter()
    with dspy.context(lm=lm, adapter=words, disable_history=True, trace=None):
        best = studies.optimiser.compiled(pupil, handed)
    for predictor in best.program.predictors():
        predictor.lm = None  # whoever plays by it has their own
        told = set(predictor.signature.output_fields)
        predictor.demos = [it for it in predictor.demos if told & set(it.keys())]
    state: dict[str, Any] = json.loads(json.dumps(best.program.dump_state()))
    return state


def _example(lesson: Lesson) -> Any:
    """Return a position as an optimiser sees it: with its answer, where there is one."""
    seen = lesson.seen
    fields = {POSITION: lesson.key, "rules": seen.rules, "view": seen.view, "task": seen.task}
    if lesson.answer is not None:
        fields["move"] = lesson.answer
    return dspy.Example(**fields, tries=[]).with_inputs(POSITION)


def _metric(school: School) -> Any:
    """Return the metric, as all optimisers call it: with words for those that ask for them."""

    def metric(
        gold: Any, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
    ) -> Any:
        mark = school.mark(gold[POSITION], move_of(pred))
        if (refused := getattr(pred, "refused", None)) is not None:
            mark = Mark(mark.worth, f"{REFUSED}: {refused}")
        if pred_name is None:
            return mark.worth
        return dspy.Prediction(score=mark.worth, feedback=mark.why)

    return metric
