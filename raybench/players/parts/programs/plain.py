"""How a program's fields become a prompt, and its reply fields: in the words of `direct`.

So a program differs from `direct` by its instructions and examples and by nothing else, and a move
can be decoded from a list.
"""

from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from raybench.players.parts.asking import HOW, refused
from raybench.players.parts.contract import Check, NoMove, Try
from raybench.players.parts.programs.lm import Linked
from raybench.players.parts.reading import as_reply, read
from raybench.types import Form, Message

REASONING = "reasoning"
_ALOUD = "Write down your reasoning first."


class Plain(dspy.Adapter):
    """Lays out what `Move` has."""

    def __init__(self, form: Form, check: Check, engine: Linked, *, lenient: bool = False) -> None:
        super().__init__()
        self._lenient = lenient
        self._form = form
        self._check = check
        self._engine = engine
        self.refused = ""
        """Why a reply held no move, where that was let pass."""

    async def acall(
        self,
        lm: Any,
        lm_kwargs: dict[str, Any],
        signature: Any,
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> list[dict[str, Any]]:
        """Ask for a move.

        The model of the decision is asked as it is, which saves what DSPy does around one of its
        own: most of a program's time. That one only says whether replies are to be varied.
        """
        messages = self.format(signature, demos, inputs)
        varied = bool({**lm.kwargs, **lm_kwargs}.get("temperature"))
        reply = await self._engine.asked(
            [Message(it["role"], it["content"], foreign=True) for it in messages], varied=varied
        )
        return [self.parse(signature, reply.text)]

    def format(
        self, signature: Any, demos: list[dict[str, Any]], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Return the conversation: what is asked, behind examples of how it was answered.

        What never changes stands first, so that an engine reads it once.
        """
        aloud = REASONING in signature.output_fields
        how = f"{_ALOUD} {HOW[self._form]}" if aloud else HOW[self._form]
        messages = list[dict[str, Any]]()
        head = f"{signature.instructions}\n\n{inputs['rules']}"
        for demo in demos:
            asked = f"{demo['view']}\n\n{demo['task']}\n{how}"
            messages.append({"role": "user", "content": "\n\n".join(filter(None, (head, asked)))})
            reply = as_reply(str(demo["move"]), self._form)
            thought = str(demo.get(REASONING) or "") if aloud else ""
            content = "\n\n".join(filter(None, (thought, reply)))
            messages.append({"role": "assistant", "content": content})
            head = ""
        asked = f"{inputs['view']}\n\n{inputs['task']}\n{how}"
        messages.append({"role": "user", "content": "\n\n".join(filter(None, (head, asked)))})
        for each in inputs.get("tries") or ():
            messages += [{"role": it.role, "content": it.content} for it in refused(Try(**each))]
        return messages

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """Return the fields; raise AdapterParseError where there is no move."""
        move = ""
        try:
            # The engine knows whether it was cut.
            move = read(self._engine.last, self._form, self._check).move
        except NoMove as why:
            if not self._lenient:
                raise AdapterParseError(
                    type(self).__name__, signature, completion, str(why)
                ) from why
            self.refused = str(why)
        fields = {"move": move}
        if REASONING in signature.output_fields:
            fields[REASONING] = completion.rpartition(move)[0].strip() if move else completion
        return fields
