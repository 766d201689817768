"""One model at one set of positions: it is asked for moves, and they are scored."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from raybench.arena.chair import Chair, Decoding, Put
from raybench.errors import Problem, RaybenchError, RunFailed
from raybench.games import State
from raybench.games.parts.wording import Words, as_it_is
from raybench.players import Player
from raybench.players.parts.asking import REFUSED
from raybench.players.parts.programs.learning import Learner, Lesson, Mark
from raybench.positions import Positions
from raybench.positions.parts.digest import digest
from raybench.positions.parts.metrics import Metric, refusal
from raybench.statements import Statement
from raybench.tournament.match import Heard, Void
from raybench.types import Completion, Message, Observation, Request

T = TypeVar("T")
_WRITTEN_TOKENS = 2048
"""Of an instruction, or of what is said of positions for one."""


@dataclass
class Desk:
    """The school of an optimiser, and where what was learned is examined."""

    model: str
    proposer: str
    """Who writes instructions."""
    of: Positions
    metric: Metric
    decoding: Decoding
    put: Put
    loop: asyncio.AbstractEventLoop
    """Where models are asked: an optimiser calls from other threads."""
    imitates: bool = False
    greedy: bool = False
    words: Words = as_it_is
    """Say what is seen as the model is told it."""
    attempt: int = 0
    """How often an optimiser has given up here: what is written is drawn otherwise each time."""
    states: dict[str, State] = field(default_factory=dict)
    """All positions that are played here, by their keys."""
    failure: Exception | None = None
    """Why nothing can be learned: what optimisers would take for replies of no worth."""
    _written: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)
    _open: set[asyncio.Task[Any]] = field(default_factory=set)
    _closed: bool = False

    def lesson(self, key: str) -> Lesson:
        """Return a position as an optimiser learns from it."""
        state = self.states[key]
        return Lesson(key, self._seen(state), self.of.answer(state))

    def position(self, key: str) -> str:
        """Return what tells a position, as the model is told it, apart from others."""
        return digest([self.states[key]], self.of.answer, self.words)

    def play(self, key: str, learner: Learner) -> Future[None]:
        """Have a position played."""
        return self._from_outside(self._learns(key, learner))

    def write(
        self, proposer: bool, messages: Sequence[Message], temperature: float | None
    ) -> Future[Completion]:
        """Have the model write something that is no move, or who writes instructions."""
        return self._from_outside(self._writes(proposer, messages, temperature))

    def mark(self, key: str, move: str) -> Mark:
        """Say what a move is worth; one that the game refuses, or none, is worth nothing."""
        state = self.states[key]
        try:
            if (why := refusal(state, move)) is not None:
                return Mark(0.0, f"{REFUSED}: {why}.")
            worth = self.metric(self.of, state, move)
            told = Statement(
                "move.worth", "The move '{move}' is worth {worth:.2f} of 1.", move=move, worth=worth
            )
            best = None if worth >= 1 else self.of.answer(state)
        except Exception as error:  # an optimiser would take it for a move of no worth
            failure = error
            if not isinstance(error, RaybenchError):
                failure = RunFailed(
                    Problem(
                        "extension.failed",
                        f"the positions '{self.of.name}' cannot score the move '{move}' "
                        f"({type(error).__name__}: {error})",
                        setting="optimise_players.metric",
                        given=move,
                        fix="mend them, or the metric",
                    )
                )
            self.failure = self.failure or failure
            raise failure from error
        if best is None:
            return Mark(worth, told)
        better = Statement(
            "move.worth_less", "{told} '{best}' is worth most.", told=told, best=best
        )
        return Mark(worth, better)

    async def close(self) -> None:
        """Answer nobody any more."""
        self._closed = True
        for task in [*self._open]:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def heard(self, key: str, player: Player, draw: str = "") -> Heard:
        """Return what a player replies in a position, asked once. Raises Void where it does not."""
        state = self.states[key]
        chair = Chair(
            self.model, player, self.put, self.decoding, f"{self.of.name}/{key}{draw}",
            imitates=self.imitates, greedy=self.greedy,
        )  # fmt: skip
        return await chair.reply(state, self._seen(state), (), None)

    def _seen(self, state: State) -> Observation:
        return self.words(state.observe(state.to_move or ""))

    async def _learns(self, key: str, learner: Learner) -> None:
        drawn: Mapping[str, Any] = learner.drawn
        await self.heard(key, learner, f"/{drawn['rollout_id']}" if "rollout_id" in drawn else "")

    async def _writes(
        self, proposer: bool, messages: Sequence[Message], temperature: float | None
    ) -> Completion:
        model = self.proposer if proposer else self.model
        whole = hashlib.sha256("\n".join(it.content for it in messages).encode()).hexdigest()
        with self._lock:
            self._written[whole] += 1
            time = self._written[whole]
        seed = self.decoding.drawn(f"{self.of.name}/writes/{self.attempt}/{whole}/{time}")
        completion = await self.put(
            model,
            Request(
                tuple(messages), seed=seed, max_tokens=_WRITTEN_TOKENS, temperature=temperature
            ),
        )
        if completion.finish == "error":
            why = Statement(
                "void.no_reply",
                "{model} gave no reply: {error}",
                model=model,
                error=completion.error,
            )
            raise Void(why, model)
        return completion

    def _from_outside(self, call: Coroutine[Any, Any, T]) -> Future[T]:
        """Have something done in the loop, for a thread that waits for it.

        What cannot be had ends the optimiser's work at once: it would go on without.
        """

        async def done() -> T:
            if self.failure is not None or self._closed:
                call.close()
                raise self.failure or RuntimeError("nothing is learned here any more")
            task = asyncio.current_task()
            assert task is not None
            self._open.add(task)
            try:
                return await call
            except Exception as error:
                self.failure = self.failure or error
                raise
            finally:
                self._open.discard(task)

        return asyncio.run_coroutine_threadsafe(done(), self.loop)
