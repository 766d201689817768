"""The checker's stage: a model looks at the answers that the script does not call right."""

import asyncio
from collections.abc import Mapping, Sequence

from raybench import benchmarks
from raybench.fleet import resolved
from raybench.fleet.link import Door, Link
from raybench.grading import equality
from raybench.pipeline.responses import Responses, lasting
from raybench.pipeline.stages import Block, Unit, packed, unpacked
from raybench.types import Completion, Message, Request

_VERDICT_TOKENS = 16
_SHOWN = 80


class Check:
    """Has a model look at the answers that the script does not call right."""

    def __init__(self, link: Link, checker: str, seed: int, responses: Responses | None) -> None:
        self._door = Door(link)
        (self._checker,) = (model for model in link.models if model.name == checker)
        self._seed = seed
        self._responses = responses

    async def __call__(self, block: Block) -> Block:
        """Add the checker's verdict where there is one to give."""
        units = unpacked(block)
        open_ones = [
            unit
            for unit in units
            if benchmarks.load(unit["benchmark"]).checked
            and unit["answer"] is not None
            and not unit["correct"]
        ]
        pairs = list(dict.fromkeys((unit["truth"], unit["answer"]) for unit in open_ones))
        if pairs:
            requests = [self.request(*pair) for pair in pairs]
            told = await asyncio.to_thread(self._told, requests)
            new = [request for request in requests if request not in told]
            if new:
                fleet = await self._door.fleet()
                replies = await fleet.complete(self._checker.name, new)
                told |= zip(new, replies, strict=True)
                await asyncio.to_thread(self._remember, {it: told[it] for it in new})
            verdicts = dict(zip(pairs, (told[request] for request in requests), strict=True))
            for unit in open_ones:
                unit |= checked(verdicts[unit["truth"], unit["answer"]])
            # Each call is told once, whichever unit it is told with.
            open_ones[0]["checks"] = [
                [told[it].prompt_tokens, told[it].output_tokens, told[it].finish] for it in new
            ]
        return packed(units)

    def _told(self, requests: Sequence[Request]) -> dict[Request, Completion]:
        """Return what the checker told earlier runs."""
        if self._responses is None:
            return {}
        places = {request: self._address(request) for request in requests}
        found = self._responses.get([place for place in places.values() if place])
        return {
            request: Completion(found[place]["response"], found[place]["finish"])
            for request, place in places.items()
            if place in found
        }

    def _remember(self, told: Mapping[Request, Completion]) -> None:
        if self._responses is None:
            return
        new = {
            place: {"response": reply.text, "finish": reply.finish}
            for request, reply in told.items()
            if lasting(reply.finish) and (place := self._address(request))
        }
        self._responses.put(new)

    def _address(self, request: Request) -> str | None:
        if self._responses is None:
            return None
        return self._responses.address(self._checker.name, resolved(request, self._checker))

    def request(self, truth: str, given: str) -> Request:
        """Return what the checker is asked."""
        asked = (Message("user", equality.prompt(truth, given)),)
        most = None if self._checker.reasoning else _VERDICT_TOKENS
        return Request(asked, seed=self._seed, max_tokens=most, temperature=0.0)


def checked(reply: Completion) -> Unit:
    """Return what a checker's reply adds. Only a clear yes is one, as simple-evals has it."""
    told: Unit = {"checker": reply.text}
    if reply.finish == "error":
        return told | {"judge_error": f"the checker gave no verdict: {reply.error}"}
    right, said = equality.verdict(reply.text), repr(reply.text[:_SHOWN])
    why = {True: "right, says the checker", False: "wrong, says the checker too"}
    unclear = f"wrong: the checker says neither yes nor no ({said}, {reply.finish})"
    return told | {
        "correct": right is True,
        "by": "checker",
        "reason": unclear if right is None else why[right],
    }
