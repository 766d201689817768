"""A language model for DSPy that asks the model of a decision.

DSPy's own cache and retries are left out: seeds, sampling, retries and what a failure means are the
business of whoever is asked.
"""

from collections.abc import Sequence
from dataclasses import replace

import dspy
from dspy import lm15

from raybench.players.parts.contract import Ask
from raybench.types import Completion, Message, Role

FINISH: dict[str, lm15.FinishReason] = {
    "stop": "stop",
    "length": "length",
    "thinking": "length",
    "overflow": "length",
}


class Linked:
    """The model of a decision; also an engine, as DSPy calls it: one request, one response."""

    def __init__(self, ask: Ask, images: Sequence[str] = ()) -> None:
        """The images are shown with every request."""
        self._ask = ask
        self._images = tuple(images)
        self.failure: Exception | None = None
        """What asking raised first: DSPy makes an error of its own of it."""
        self.last = Completion("", "empty")
        """What came back last."""

    async def complete(self, request: lm15.Request) -> lm15.Response:
        """Ask in somebody else's words, whose form no list of moves may hold to another."""
        varied = bool(request.config.temperature)
        completion = await self.asked(messages_of(request), thought=True, varied=varied)
        return response(request.model, completion)

    async def asked(
        self, messages: Sequence[Message], *, thought: bool = False, varied: bool = False
    ) -> Completion:
        """Ask for a move in our own words, or for something else."""
        *before, last = messages
        if last.role == "user":
            last = replace(last, images=self._images)
        try:
            self.last = await self._ask((*before, last), thought=thought, varied=varied)
        except Exception as failure:
            self.failure = self.failure or failure
            raise
        return self.last


class Unlinked:
    """Stands where DSPy wants an engine for calls that wait: nothing may wait where matches run."""

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Raise."""
        raise RuntimeError(
            "a program of a player asks its model by acall, never by a plain call: that would hold "
            "up all other matches"
        )


def linked(engine: Linked | None = None) -> dspy.LM:
    """Return the engine as a model of DSPy's; without one a model that nobody can ask."""
    return dspy.LM("raybench", engine=Unlinked(), async_engine=engine, cache=False, num_retries=0)


def messages_of(request: lm15.Request) -> list[Message]:
    """Return the messages of a request. Others' words are in them."""
    found = list[Message]()
    system = request.system or ()
    if head := system if isinstance(system, str) else "\n\n".join(_text(it) for it in system):
        found.append(Message("system", head, foreign=True))
    for each in request.messages:
        role: Role = "assistant" if each.role == "assistant" else "user"
        text = "\n\n".join(_text(part) for part in each.parts)
        found.append(Message(role, text, foreign=True))
    return found


def _text(part: object) -> str:
    return str(getattr(part, "text", ""))


def response(model: str, completion: Completion) -> lm15.Response:
    """Return a completion as DSPy takes it."""
    return lm15.Response(
        id=None,
        model=model,
        message=lm15.Message.assistant(completion.text),
        finish_reason=FINISH.get(completion.finish, "stop"),
        usage=lm15.Usage(
            input_tokens=completion.prompt_tokens, output_tokens=completion.output_tokens
        ),
    )
