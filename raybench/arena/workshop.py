"""Where programs are optimised and examined: one process's side of it.

It lives in an actor of the cluster: an optimiser takes a process for itself.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from raybench import positions
from raybench.arena.chair import Put
from raybench.arena.desk import Desk
from raybench.arena.replies import Replies
from raybench.arena.studies import Curriculum, Learned, Marked, Study, Unlearned
from raybench.fleet import Fleet
from raybench.fleet.link import Door, Link
from raybench.games.parts.wording import Wording
from raybench.players.parts.programs import learning
from raybench.players.parts.programs.learning import Lesson
from raybench.players.parts.together import together
from raybench.players.program import Program
from raybench.positions import SPLITS
from raybench.positions.parts import metrics
from raybench.tournament.match import Void
from raybench.types import Completion, Request


class Workshop:
    """Does studies, one after the other; what comes of them is picked up."""

    gathers_s = 0.2

    def __init__(self, link: Link, curriculum: Curriculum) -> None:
        self._door = Door(link)
        self._curriculum = curriculum
        self._news: dict[int, Learned] = {}
        self._any = asyncio.Event()
        self._error: Exception | None = None
        self._alone = asyncio.Lock()
        self._working: set[asyncio.Task[None]] = set()

    async def put(self, orders: Sequence[Study]) -> None:
        """Begin with these."""
        fleet = await self._door.fleet()
        for order in orders:
            work = asyncio.create_task(self._do(order, fleet))
            self._working.add(work)
            work.add_done_callback(self._working.discard)

    async def pick_up(self) -> list[Learned]:
        """Wait for news, and return all since the last time."""
        await self._any.wait()
        await asyncio.sleep(self.gathers_s)
        self._any.clear()
        if news := [it for it in self._news.values() if it.news]:
            self._news = {}
            if self._error is not None:
                self._any.set()
            return news
        assert self._error is not None
        raise self._error

    def leave(self) -> None:
        """Go."""

    async def _do(self, order: Study, fleet: Fleet) -> None:
        try:
            async with self._alone:
                await self._learn(order, fleet)
            self._of(order.number).over = True
        except (Void, Unlearned) as why:  # what was replied is kept, and the same command goes on
            told = self._of(order.number)
            told.over, told.failure = True, str(why)
            told.gave_up = isinstance(why, Unlearned)
        except Exception as error:
            self._error = error
        finally:
            self._any.set()

    async def _learn(self, order: Study, fleet: Fleet) -> None:
        desk = self._desk(order, Replies(self._put(order, fleet)).put)
        drawn = await asyncio.to_thread(self._lessons, desk)
        program = Program(self._curriculum.studies.module)
        await self._examine(order, desk, program, "before")
        if (state := order.state) is None:
            state = await self._taught(order, fleet, desk, *drawn)
            self._of(order.number).state = state
            self._any.set()
        await self._examine(order, desk, replace(program, texts=(json.dumps(state),)), "after")

    async def _taught(
        self,
        order: Study,
        fleet: Fleet,
        examiner: Desk,
        train: Sequence[Lesson],
        validation: Sequence[Lesson],
    ) -> Mapping[str, Any]:
        """Return what an optimiser makes of the program."""

        def tell(key: str, completion: Completion) -> None:
            self._of(order.number).replies[key] = completion

        studies = self._curriculum.studies
        replies = Replies(self._put(order, fleet), order.replies, tell)
        desk = self._desk(order, replies.put)
        desk.states = examiner.states
        try:
            state = await asyncio.to_thread(learning.learned, studies, desk, train, validation)
        except Exception as error:  # whatever an optimiser makes of what it is told
            raise desk.failure or Unlearned(studies.optimiser.name, error) from error
        finally:
            await desk.close()  # it may leave calls behind that took long
            await replies.close()
        if desk.failure is not None:
            raise desk.failure
        return state

    def _put(self, order: Study, fleet: Fleet) -> Put:
        async def put(model: str, request: Request) -> Completion:
            (completion,) = await fleet.complete(model, [request])
            counted = replace(completion, text="", reasoning="")
            self._of(order.number).spent.append((model, counted))
            self._any.set()
            return completion

        return put

    def _desk(self, order: Study, put: Put) -> Desk:
        conf = self._curriculum
        of = positions.load(order.positions)
        return Desk(
            order.model,
            conf.own_proposer or order.model,
            of,
            metrics.load(conf.metric),
            conf.decoding,
            put,
            asyncio.get_running_loop(),
            imitates=order.model in conf.stand_ins,
            greedy=order.model in conf.greedy,
            attempt=order.attempt,
            words=Wording(order.phrasing).of(of.game),
        )

    def _lessons(self, desk: Desk) -> tuple[list[Lesson], list[Lesson]]:
        """Draw all positions; return those to learn from, and to choose by."""
        for split in SPLITS:
            for place, state in enumerate(self._curriculum.drawn(desk.of, split)):
                desk.states[f"{split}/{place}"] = state
        train, validation = (
            [desk.lesson(key) for key in desk.states if key.startswith(f"{split}/")]
            for split in SPLITS[:2]
        )
        return train, validation

    async def _examine(self, order: Study, desk: Desk, program: Program, phase: str) -> None:
        """Have the held-out positions played that have not been."""
        places = asyncio.Semaphore(self._curriculum.at_once)

        async def examine(place: int, key: str) -> None:
            async with places:
                heard = await desk.heard(key, program)
                mark = await asyncio.to_thread(desk.mark, key, heard.move or "")
            family = desk.of.family(desk.states[key])
            position = await asyncio.to_thread(desk.position, key)
            told = Marked.of(phase, place, family, heard, mark.worth, position)
            self._of(order.number).marks.append(told)
            self._any.set()

        wanted = [key for key in desk.states if key.startswith("held_out/")]
        known = order.known[phase]
        await together(
            examine(place, key) for place, key in enumerate(wanted) if place not in known
        )

    def _of(self, number: int) -> Learned:
        return self._news.setdefault(number, Learned(number))
