"""Peer iterations: carries the protocol's questions to the fleet and the replies back."""

import asyncio
import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from raybench.autobench import prompts
from raybench.autobench.protocol import Ask, Kind, Record, Reply, Settings, Standing, iteration
from raybench.errors import RunFailed
from raybench.fleet import Fleet
from raybench.types import Completion, Message, Request

_ANSWERED = ("stop", "length")


@dataclass(frozen=True)
class Decoding:
    """How replies are drawn: most tokens by kind, and what is special to ratings."""

    tokens: Mapping[Kind, int]
    constrained_ratings: bool = True
    rating_temperature: float | None = None
    """The temperature of every judge; None leaves each model its own."""


async def run_iteration(
    index: int, standing: Standing, settings: Settings, fleet: Fleet, decoding: Decoding
) -> Record:
    """Play one iteration of the protocol and return its journal record.

    To the protocol's own fields it adds `errors` (calls that broke), `unanswered` (calls to which
    the model had no answer, and how they ended), `tokens` (prompt and output, by model), `seconds`
    and `ended_ms`. Raises RunFailed where no model answers at all:
    that is an outage, and nothing of it belongs in the journal.
    """
    begun = time.monotonic()
    answered = False
    errors: list[dict[str, str]] = []
    unanswered: list[dict[str, str]] = []
    tokens = {model: [0, 0] for model in settings.models}
    protocol = iteration(index, standing, settings)
    asks = next(protocol)
    while True:
        completions = await _complete(asks, settings.seed, fleet, decoding)
        for ask, completion in zip(asks, completions, strict=True):
            tokens[ask.model][0] += completion.prompt_tokens
            tokens[ask.model][1] += completion.output_tokens
            call, why = {"model": ask.model, "key": ask.key}, completion.error or "unknown"
            if completion.finish == "error":
                errors.append(call | {"error": why})
            elif completion.finish not in _ANSWERED:
                unanswered.append(call | {"finish": completion.finish, "why": why})
        if any(completion.finish != "error" for completion in completions):
            answered = True
        elif len(asks) > 1:
            raise RunFailed(f"iteration {index}: no model answers any more: {completions[0].error}")
        try:
            asks = protocol.send([_reply(completion) for completion in completions])
        except StopIteration as end:
            # Tasks are asked for one by one: that their generators are silent does not yet mean
            # that all models are.
            if not answered and not await _anybody_else(asks[0], errors, settings, fleet, decoding):
                raise RunFailed(
                    f"iteration {index}: no model answers: {errors[-1]['error']}"
                ) from None
            record: Record = end.value
            return record | {
                "errors": errors,
                "unanswered": unanswered,
                "tokens": tokens,
                "seconds": round(time.monotonic() - begun, 3),
                "ended_ms": time.time_ns() // 1_000_000,
            }


async def _anybody_else(
    ask: Ask,
    errors: Sequence[Mapping[str, str]],
    settings: Settings,
    fleet: Fleet,
    decoding: Decoding,
) -> bool:
    """Tell whether a model that was not asked yet answers."""
    silent = {error["model"] for error in errors}
    asks = [replace(ask, model=model) for model in settings.models if model not in silent]
    completions = await _complete(asks, settings.seed, fleet, decoding)
    return any(completion.finish != "error" for completion in completions)


async def _complete(
    asks: Sequence[Ask], seed: int, fleet: Fleet, decoding: Decoding
) -> list[Completion]:
    """Ask every model side by side, each with all of its questions at once."""
    by_model: dict[str, list[int]] = {}
    for position, ask in enumerate(asks):
        by_model.setdefault(ask.model, []).append(position)
    batches = await asyncio.gather(
        *(
            fleet.complete(
                model, [_request(asks[position], seed, decoding) for position in positions]
            )
            for model, positions in by_model.items()
        )
    )
    completions: dict[int, Completion] = {}
    for positions, batch in zip(by_model.values(), batches, strict=True):
        completions.update(zip(positions, batch, strict=True))
    return [completions[position] for position in range(len(asks))]


def _request(ask: Ask, seed: int, decoding: Decoding) -> Request:
    rating = ask.kind in ("task_rating", "answer_rating")
    return Request(
        messages=(Message("user", ask.prompt),),
        seed=_seed(seed, ask),
        max_tokens=decoding.tokens[ask.kind],
        temperature=decoding.rating_temperature if rating else None,
        regex=prompts.RANK_REGEX if rating and decoding.constrained_ratings else None,
    )


def _seed(seed: int, ask: Ask) -> int:
    """Derive the request's own seed, so that it does not depend on when it is sent."""
    digest = hashlib.sha256(f"{seed}/{ask.key}/{ask.model}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _reply(completion: Completion) -> Reply:
    if completion.finish == "error":
        return Reply(None)
    # What a content filter left of an answer is none.
    text = completion.text if completion.finish in _ANSWERED else ""
    return Reply(text, truncated=completion.finish in ("length", "thinking"))
