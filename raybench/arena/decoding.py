"""How the protocol's asks become requests to the fleet, and completions its replies."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from raybench.autobench import prompts
from raybench.autobench.steps import Ask, Kind, Reply
from raybench.types import Completion, Message, Request

_ANSWERED = ("stop", "length")
_RATINGS = ("task_rating", "answer_rating")


@dataclass(frozen=True)
class Decoding:
    """How replies are drawn."""

    tokens: Mapping[Kind, int]
    """Most tokens, by kind of reply."""
    constrained_ratings: bool = True
    rating_temperature: float | None = None
    """The temperature of every judge; None leaves each model its own."""
    seed: int = 0
    thinking_tokens: int = 0
    """Tokens that models that reason have in addition, to think before they reply."""
    reasoning: Collection[str] = ()
    """The models that reason."""

    def request(self, ask: Ask) -> Request:
        """Return an ask as the fleet takes it."""
        rating = ask.kind in _RATINGS
        return Request(
            # But for the one that asks for a task, prompts hold what other models wrote.
            messages=(Message("user", ask.prompt, foreign=ask.kind != "task"),),
            seed=self._seed(ask),
            max_tokens=self.tokens[ask.kind] + self._thinking(ask.model),
            temperature=self.rating_temperature if rating else None,
            regex=prompts.RANK_REGEX if rating and self.constrained_ratings else None,
        )

    def _thinking(self, model: str) -> int:
        return self.thinking_tokens if model in self.reasoning else 0

    def _seed(self, ask: Ask) -> int:
        """Derive the request's own seed, so that it does not depend on when it is sent."""
        digest = hashlib.sha256(f"{self.seed}/{ask.key}/{ask.model}".encode()).digest()
        return int.from_bytes(digest[:4], "big") >> 1


def reply(completion: Completion) -> Reply:
    """Return a completion as the protocol takes it."""
    text: str | None = completion.text
    if completion.finish == "error":
        text = None
    elif completion.finish not in _ANSWERED:
        text = ""  # what a content filter left of an answer is none
    why = "" if completion.finish in _ANSWERED else completion.error or "unknown"
    return Reply(
        text,
        completion.finish,
        why,
        completion.prompt_tokens,
        completion.output_tokens,
        completion.cached_tokens,
        completion.token_limit,
        completion.retries,
        completion.own_seconds,
    )
