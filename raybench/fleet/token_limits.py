"""How long an endpoint lets replies be, where that is less than a request asks for.

The methodology lowers the limit for models with a smaller context or a lower output cap, and our
own engines cut a reply where the context ends. Endpoints turn such a request down instead. Then the
limit is lowered to exactly what they allow: to the cap, which holds for all requests of a model
from then on, or to what this prompt leaves of the context. The server's words tell that; what they
lack stands in its list of models (`/v1/models`), or is found by asking for a reply of one token.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from raybench.fleet.concessions import Body
from raybench.fleet.remote_options import LIMITS
from raybench.fleet.token_wordings import TokenRefusal
from raybench.types import Completion, ModelSpec

_CONTEXTS = (
    "max_model_len",  # vLLM, SGLang
    "loaded_context_length",  # LM Studio
    "context_length",  # OpenRouter, Together, Fireworks, DeepInfra
    "context_window",  # Groq
    "max_context_length",  # Mistral
    "n_ctx",  # llama.cpp
)
_CAPS = (
    "max_completion_tokens",  # Groq, OpenRouter
    "max_output_tokens",  # GitHub Models, LiteLLM
    "max_output_length",  # Chutes
)
_NAMES = ("id", "name", "root")
_WITHIN = ("top_provider", "meta", "metadata", "limits")
"""Where entries keep them: OpenRouter, llama.cpp, DeepInfra."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What an endpoint says of one of its models, as far as it does."""

    context: int | None = None
    """Tokens of prompt and reply together."""
    cap: int | None = None
    """Tokens of a reply."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """A request that was turned down for its tokens, or perhaps for them."""

    refusal: TokenRefusal | None
    """What the server said of them; None where it said something that is not understood."""
    failed: Completion
    """What the request comes to where no limit helps."""


@dataclass(slots=True)
class Fit:
    """What is known of one request."""

    limit: int | None = None
    """What its prompt leaves of the context."""
    prompt: int | None = None
    """Tokens of its prompt, 0 where the endpoint does not count them."""


Measure = Callable[[Body], Awaitable[Completion | TooLong]]
"""Sends a request."""


class TokenLimits:
    """What the models of one endpoint are known to allow."""

    def __init__(self, look: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """`look` returns what the endpoint answers when it is asked for its models."""
        self._look = look
        self._listed: asyncio.Task[Any] | None = None
        self._caps: dict[str, int] = {}
        self._contexts: dict[str, int] = {}
        self._untold: set[str] = set()
        """Models whose server turns prompts down without saying how long they are."""
        self._noted: set[str] = set()

    def put(self, model: ModelSpec, body: Body, fit: Fit) -> Body:
        """Return what is sent, with no higher limit than is known to be allowed."""
        bounds = [it for it in (self._caps.get(model.weights), fit.limit) if it is not None]
        return lowered(body, min(bounds)) if bounds else body

    def note(self, model: ModelSpec) -> bool:
        """Tell whether the limit of a model is lowered for the first time."""
        new = model.name not in self._noted
        self._noted.add(model.name)
        return new

    async def prepare(
        self, model: ModelSpec, body: Body, fit: Fit, measure: Measure
    ) -> Completion | None:
        """Measure a prompt that is sure to be turned down otherwise, without a word of its length.

        Return what it comes to where it cannot be asked at all.
        """
        asked, context = limit_of(body), self._contexts.get(model.weights)
        if not asked or not context or asked < context or model.weights not in self._untold:
            return None
        return await self._measure(body, fit, context, measure)

    async def lower(
        self, model: ModelSpec, body: Body, refused: TooLong, fit: Fit, measure: Measure
    ) -> Completion | None:
        """Lower the limit of a request that was turned down with this body.

        Return what it comes to where no limit helps.
        """
        asked, refusal = limit_of(body) or 0, refused.refusal
        if refusal is None and (refusal := await self._by_list(model, asked)) is None:
            return refused.failed
        if refusal.kind == "output":
            cap = refusal.cap or (await self.offer(model)).cap or asked
            if (cap := cap if cap < asked else asked // 2) < 1:
                return refused.failed
            self._caps[model.weights] = min(cap, self._caps.get(model.weights, cap))
            return None
        if refusal.context:
            self._contexts[model.weights] = refusal.context
        if (room := refusal.room(asked)) is None and fit.prompt is None:
            self._untold.add(model.weights)
            context = self._contexts.get(model.weights) or (await self.offer(model)).context
            if (failed := await self._measure(body, fit, context, measure)) is not None:
                return failed
            room = fit.limit
        if room is None or room >= asked:  # nobody knows, or the server counts otherwise
            room = asked // 2
        if room < 1:
            return refused.failed
        fit.limit = room
        return None

    async def _measure(
        self, body: Body, fit: Fit, context: int | None, measure: Measure
    ) -> Completion | None:
        """Find out how long the prompt of a request is, by asking for a reply of one token.

        Return what the request comes to where that is turned down, too.
        """
        found = await measure(lowered(body, 1))
        if isinstance(found, TooLong):
            return found.failed
        if found.finish in ("error", "overflow", "refusal", "unsupported"):
            return found
        fit.prompt = found.prompt_tokens
        if context and fit.prompt:
            fit.limit = max(1, context - fit.prompt)
        return None

    async def _by_list(self, model: ModelSpec, asked: int) -> TokenRefusal | None:
        """Return what the endpoint's list of models says against a limit."""
        offer = await self.offer(model)
        if offer.cap and offer.cap < asked:
            return TokenRefusal("output", offer.context, offer.cap)
        if offer.context and offer.context <= asked:
            return TokenRefusal("sum", offer.context)
        return None

    async def offer(self, model: ModelSpec) -> Offer:
        """Return what the endpoint's list says of a model; it is asked for once."""
        if self._listed is None:
            self._listed = asyncio.create_task(self._look())
        # The others wait for it too, should this one be cancelled.
        return offered(await asyncio.shield(self._listed), model.weights)

    async def close(self) -> None:
        """Ask no more."""
        if self._listed is not None:
            self._listed.cancel()
            await asyncio.gather(self._listed, return_exceptions=True)


def limit_of(body: Body) -> int | None:
    """Return how long a reply may be at most, as a request says; None where it does not."""
    given = [body[name] for name in LIMITS if name in body]
    return min([it for it in given if isinstance(it, int) and it > 0], default=None)


def lowered(body: Body, most: int) -> Body:
    """Return a body whose limits are not higher than that; it gets none that it did not have."""
    limits = {name: body[name] for name in LIMITS if name in body}
    return {**body, **{name: min(it, most) for name, it in limits.items() if it > 0}}


def names_of(told: Any) -> list[str]:
    """Return what the models of a list are called, as requests name them."""
    names = (entry.get("id") or entry.get("name") for entry in _entries(told))
    return [name for name in names if isinstance(name, str)]


def offered(told: Any, name: str) -> Offer:
    """Return what a list of models says of the one of this name."""
    for entry in _entries(told):
        if name in (entry.get("id"), entry.get("name"), entry.get("root")):
            parts = [entry, *(it for key in _WITHIN if isinstance(it := entry.get(key), Mapping))]
            return Offer(_least(parts, _CONTEXTS), _least(parts, _CAPS))
    return Offer()


def _entries(told: Any) -> Iterator[Mapping[str, Any]]:
    listed = told.get("data", told.get("models")) if isinstance(told, Mapping) else told
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, Mapping):
            yield entry


def _least(parts: list[Mapping[str, Any]], names: tuple[str, ...]) -> int | None:
    """Return the least of the numbers by these names, where there are any."""
    return min(_numbers(parts, names), default=None)


def _numbers(parts: list[Mapping[str, Any]], names: tuple[str, ...]) -> Iterator[int]:
    for part in parts:
        for name in names:
            value = part.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                yield value
