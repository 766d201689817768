"""The checker's stage: a model looks at the answers that the script does not call right."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from raybench import benchmarks
from raybench.fleet import resolved
from raybench.fleet.link import Door, Link
from raybench.grading import equality
from raybench.pipeline.responses import Responses, lasting
from raybench.pipeline.stages import Block, Unit, packed, unpacked
from raybench.types import Completion, Message, ModelSpec, Request

Pair = tuple[str, str]
"""The right answer and the one given."""
_VERDICT_TOKENS = 16
_SHOWN = 80


class Verdicts:
    """What a checker is asked about units, and what it told earlier runs."""

    def __init__(self, checker: ModelSpec, seed: int, responses: Responses | None) -> None:
        self.checker = checker
        self._seed = seed
        self._responses = responses

    def requests(self, units: Sequence[Unit]) -> dict[Pair, Request]:
        """Return what it is asked about graded units, by what is to be compared."""
        pairs = dict.fromkeys(_pair(unit) for unit in units if _is_open(unit))
        return {pair: self.request(*pair) for pair in pairs}

    def request(self, truth: str, given: str) -> Request:
        """Return the question whether two answers are the same."""
        asked = (Message("user", equality.prompt(truth, given)),)
        most = None if self.checker.reasoning else _VERDICT_TOKENS
        return Request(asked, seed=self._seed, max_tokens=most, temperature=0.0)

    def told(self, requests: Iterable[Request]) -> dict[Request, Completion]:
        """Return what it told earlier runs."""
        if self._responses is None:
            return {}
        places = {request: self._address(request) for request in requests}
        found = self._responses.get([place for place in places.values() if place])
        return {
            request: Completion(found[place]["response"], found[place]["finish"])
            for request, place in places.items()
            if place in found
        }

    def remember(self, told: Mapping[Request, Completion]) -> None:
        """Keep what it told for later runs."""
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
        return self._responses.address(self.checker.name, resolved(request, self.checker))


class Check:
    """Has a model look at the answers that the script does not call right."""

    def __init__(self, link: Link, verdicts: Verdicts) -> None:
        self._door = Door(link)
        self._verdicts = verdicts

    async def __call__(self, block: Block) -> Block:
        """Add the checker's verdict where there is one to give."""
        units = unpacked(block)
        if asked := self._verdicts.requests(units):
            told = await asyncio.to_thread(self._verdicts.told, asked.values())
            new = [request for request in asked.values() if request not in told]
            if new:
                fleet = await self._door.fleet()
                replies = await fleet.complete(self._verdicts.checker.name, new)
                told |= zip(new, replies, strict=True)
                await asyncio.to_thread(self._verdicts.remember, {it: told[it] for it in new})
            open_ones = [unit for unit in units if _is_open(unit)]
            for unit in open_ones:
                unit |= checked(told[asked[_pair(unit)]])
            # Each call is told once, whichever unit it is told with.
            open_ones[0]["checks"] = [
                [told[it].prompt_tokens, told[it].output_tokens, told[it].finish] for it in new
            ]
        return packed(units)


def _is_open(unit: Unit) -> bool:
    checked = benchmarks.load(unit["benchmark"]).checked
    return checked and unit["answer"] is not None and not unit["correct"]


def _pair(unit: Unit) -> Pair:
    return unit["truth"], unit["answer"]


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
