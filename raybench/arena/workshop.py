"""Where programs are optimised and examined: one process's side of it.

It lives in an actor of the cluster: an optimiser takes a process for itself.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from raybench import positions
from raybench.arena.batches import Batches
from raybench.arena.chair import Decoding
from raybench.arena.desk import Desk
from raybench.fleet.link import Door, Link
from raybench.games import State
from raybench.games.parts.wording import OWN, Wording
from raybench.players.parts.programs import learning
from raybench.players.parts.programs.learning import Lesson, Studies
from raybench.players.parts.together import together
from raybench.players.program import Program
from raybench.positions.parts import metrics
from raybench.positions.parts.contract import Positions, Split
from raybench.tournament.match import Heard, Void
from raybench.types import Completion, Request

PHASES = ("before", "after")
"""Held-out positions are played by the program as it was, and as it is."""
_LONGEST = 400


class Unlearned(Exception):
    """An optimiser gave up: a model that writes none of what it asks for may be the reason."""

    def __init__(self, optimiser: str, why: Exception) -> None:
        words = " ".join(str(why).split())
        if len(words) > _LONGEST:
            words = f"{words[:_LONGEST]} …"
        super().__init__(f"the optimiser {optimiser} gave up ({type(why).__name__}: {words})")


@dataclass(frozen=True)
class Curriculum:
    """What holds for all studies; it travels."""

    studies: Studies
    sizes: Mapping[Split, int]
    """How many positions of each split."""
    seed: int
    metric: str
    decoding: Decoding
    own_proposer: str | None = None
    """Who writes instructions; None is each model for itself."""
    stand_ins: frozenset[str] = frozenset()
    greedy: frozenset[str] = frozenset()
    at_once: int = 32
    """Held-out positions that are played side by side."""

    def drawn(self, of: Positions, split: Split) -> list[State]:
        """Return the positions of a split."""
        return of.some(self.seed, split, self.sizes[split])


@dataclass
class Study:
    """A model that learns to play one set of positions."""

    number: int
    model: str
    positions: str
    engine: int = 0
    """Studies of one engine are done one after the other."""
    phrasing: Any = OWN
    """In which words positions are told, as `Wording` has it."""
    state: Mapping[str, Any] | None = None
    """What was learned, where that is known."""
    known: dict[str, set[int]] = field(default_factory=lambda: {it: set() for it in PHASES})
    """The held-out positions that have been played, by phase."""

    @property
    def key(self) -> int:
        """What it is known by."""
        return self.number

    @property
    def turn(self) -> int:
        """Where it is done."""
        return self.engine

    def left(self, brought: "Learned") -> "Study | None":
        """Return what is still to be done."""
        if brought.over:
            return None
        if brought.state is not None:
            self.state = brought.state
        for mark in brought.marks:
            self.known[mark.phase].add(mark.place)
        return self


@dataclass(frozen=True, slots=True)
class Marked:
    """A held-out position that was played."""

    phase: str
    place: int
    family: str
    reply: str
    move: str | None
    error: str | None
    worth: float
    truncated: bool
    tokens: int

    @classmethod
    def of(cls, phase: str, place: int, family: str, heard: Heard, worth: float) -> "Marked":
        """Return what came of a reply."""
        return cls(
            phase, place, family, heard.reply, heard.move, heard.error, worth,
            heard.error is not None and heard.truncated, heard.tokens,
        )  # fmt: skip


@dataclass(slots=True)
class Learned:
    """What came of a study since it was told of last."""

    number: int
    marks: list[Marked] = field(default_factory=list)
    state: Mapping[str, Any] | None = None
    spent: list[tuple[str, Completion]] = field(default_factory=list)
    over: bool = False
    failure: str = ""
    """Why it cannot be finished."""

    @property
    def key(self) -> int:
        """That of the study."""
        return self.number

    @property
    def news(self) -> bool:
        """Tell whether there is something to be told."""
        return bool(self.marks or self.state or self.spent or self.over)


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
        self._batches: Batches | None = None

    async def put(self, orders: Sequence[Study]) -> None:
        """Begin with these."""
        if self._batches is None:
            self._batches = Batches(await self._door.fleet())
        for order in orders:
            work = asyncio.create_task(self._do(order, self._batches))
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

    async def _do(self, order: Study, batches: Batches) -> None:
        try:
            async with self._alone:
                await self._learn(order, batches)
            self._of(order.number).over = True
        except (Void, Unlearned) as why:  # nothing of it is lost, and the same command goes on
            told = self._of(order.number)
            told.over, told.failure = True, str(why)
        except Exception as error:
            self._error = error
        finally:
            self._any.set()

    async def _learn(self, order: Study, batches: Batches) -> None:
        desk = self._desk(order, batches)
        drawn = await asyncio.to_thread(self._lessons, desk)
        program = Program(self._curriculum.studies.module)
        await self._examine(order, desk, program, "before")
        if (state := order.state) is None:
            begun, train, validation = self._curriculum.studies, *drawn
            try:
                state = await asyncio.to_thread(learning.learned, begun, desk, train, validation)
            except Exception as error:  # whatever an optimiser makes of what it is told
                raise desk.failure or Unlearned(begun.optimiser.name, error) from error
            if desk.failure is not None:
                raise desk.failure
            self._of(order.number).state = state
            self._any.set()
        await self._examine(order, desk, replace(program, texts=(json.dumps(state),)), "after")

    def _desk(self, order: Study, batches: Batches) -> Desk:
        conf = self._curriculum

        async def put(model: str, request: Request) -> Completion:
            completion = await batches.ask(model, request)
            counted = replace(completion, text="", reasoning="")
            self._of(order.number).spent.append((model, counted))
            self._any.set()
            return completion

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
            words=Wording(order.phrasing).of(of.game),
        )

    def _lessons(self, desk: Desk) -> tuple[list[Lesson], list[Lesson]]:
        """Draw all positions; return those to learn from, and to choose by."""
        splits: tuple[Split, ...] = ("train", "validation", "held_out")
        for split in splits:
            for place, state in enumerate(self._curriculum.drawn(desk.of, split)):
                desk.states[f"{split}/{place}"] = state
        train, validation = (
            [desk.lesson(key) for key in desk.states if key.startswith(f"{split}/")]
            for split in splits[:2]
        )
        return train, validation

    async def _examine(self, order: Study, desk: Desk, program: Program, phase: str) -> None:
        """Have the held-out positions played that have not been."""
        places = asyncio.Semaphore(self._curriculum.at_once)

        async def examine(place: int, key: str) -> None:
            async with places:
                heard = await desk.heard(key, program)
                worth = await asyncio.to_thread(desk.mark, key, heard.move or "")
            family = desk.of.family(desk.states[key])
            told = Marked.of(phase, place, family, heard, worth.worth if heard.move else 0.0)
            self._of(order.number).marks.append(told)
            self._any.set()

        wanted = [key for key in desk.states if key.startswith("held_out/")]
        known = order.known[phase]
        await together(
            examine(place, key) for place, key in enumerate(wanted) if place not in known
        )

    def _of(self, number: int) -> Learned:
        return self._news.setdefault(number, Learned(number))
