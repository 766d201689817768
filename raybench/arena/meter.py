"""Counts in one account what tables in other processes ask."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack

from raybench.autobench.steps import Address, Reply
from raybench.fleet import Account
from raybench.types import Completion


class Meter:
    """A call is one model's part of a step."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._calls: dict[tuple[Address, str], tuple[ExitStack, Callable[[Completion], None]]] = {}

    def began(self, step: Address, models: Iterable[str]) -> None:
        """Note that models are asked."""
        for model in models:
            stack = ExitStack()
            self._calls[step, model] = stack, stack.enter_context(self._account.call(model))

    def ended(self, step: Address, model: str, replies: Iterable[Reply]) -> None:
        """Count what a model replied."""
        stack, add = self._calls.pop((step, model))
        with stack:
            for reply in replies:
                add(
                    Completion(
                        "",
                        reply.finish,
                        prompt_tokens=reply.prompt_tokens,
                        output_tokens=reply.output_tokens,
                        cached_tokens=reply.cached_tokens,
                        token_limit=reply.token_limit,
                        retries=reply.retries,
                    )
                )
