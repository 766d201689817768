"""How many games a pool plays, beside what the models' time alone would allow, and beside the peer.

    python -m perf.games_pool                      all of it, seven minutes
    python -m perf.games_pool --seconds 3          shorter
    python -m perf.games_pool --actors 2           the first table with matches in actors of Ray
    python -m perf.games_pool --strategy program   the first table with programs of DSPy

What --actors and --strategy tell is printed, and not kept for the page.

*With latency*: liar's dice between two models of which each takes 50 ms for a move. The ideal rate
is that of players who do nothing but think: matches at once / (moves of a match x 50 ms). The peer
(ZeroSumEval 0.3.0, measured on a machine like this one) plays 5.1 to 5.4 games a second whether 1,
8 or 32 of them are under way, because a lock of its whole process serialises the calls: 96, 12 and
3 % of the ideal. The models' time is kept by a thread of its own: an event loop's timers come up to
a millisecond late, which is no doing of the pool's. "waits alone" is what this machine makes of the
same waits with nothing else in the process: nobody gets above it. Medians are of as many
rounds as are asked for.

*Without latency*: players that move at once, on one core, so that what is measured is the game and
its bookkeeping. What each role sees is written, every move is checked, every turn and every match
goes into its journal and to the disk. Scripted players say their move; those that are asked get the
prompt that a model gets, and their reply is read as a model's. The peer, scripted and without any
journal, plays 2,167 to 3,260 dice games and 20 to 37 chess games (of some 100 plies) a second.
"""

import asyncio
import itertools
import random
import re
import statistics
import tempfile
import threading
import time
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from perf import arguments
from perf.measured import in_turn, say
from perf.results import Found, Table, growth, median_of, spread
from raybench.arena.chair import Chair, Decoding, Put
from raybench.arena.pool import Lines, Pool
from raybench.arena.room import Begun, House, Room
from raybench.arena.rooms import rooms
from raybench.config import FleetConf
from raybench.errors import ConfigurationError
from raybench.fleet import Fleet, group_engines
from raybench.fleet.link import Link
from raybench.games import State
from raybench.pipeline.journal import Journal
from raybench.players.direct import Direct
from raybench.players.parts.contract import Try
from raybench.tournament import pairing
from raybench.tournament.match import Heard, Seated, Terms
from raybench.tournament.schedule import Schedule
from raybench.tournament.stopping import Budget, Stop
from raybench.tournament.strategies import Strategies
from raybench.types import Completion, ModelSpec, Observation, Request

LATENCY_S = 0.05
_WARM_S = 2.0
_PEER_WITH = {1: 0.96, 8: 0.12, 32: 0.03}
_PEER_WITHOUT = {"liars_dice": (2167, 3260), "chess": (20, 37)}
_BID = re.compile(r"(\d+) (?:dice|die) of (\d+)")
_WITH = ("at once", "moves/s", "of ideal", "waits alone", "the peer")
_WITHOUT = (
    "game", "players", "at once", "games/s", "in a processor's second", "moves a game",
    "µs of a processor a move", "the peer, games/s", "times the peer",
)  # fmt: skip


def main() -> None:
    """Measure both, and tell."""
    parser = arguments.parser(__doc__)
    parser.add_argument(
        "--seconds", type=arguments.seconds, default=8.0, help="of each measurement"
    )
    parser.add_argument("--rounds", type=arguments.count, default=3)
    parser.add_argument(
        "--actors", type=arguments.count, default=0, help="of Ray; else one room here"
    )
    parser.add_argument("--strategy", default="direct", help="by which models come to moves")
    asked = parser.parse_args()
    try:
        Strategies(asked.strategy).of("one", "liars_dice", "one")
    except ConfigurationError as error:
        parser.error(f"--strategy: {error}")
    if asked.actors:
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    slow, rates = _slow_models(asked.seconds, asked.rounds, asked.actors, asked.strategy)
    middle = {at_once: statistics.median(of) for at_once, of in rates.items()}
    if asked.actors or asked.strategy != "direct":  # Ray's threads would count as the games' work
        print(slow.text())
        return
    quick, costs = _no_models(asked.seconds, asked.rounds)
    medians = {
        of: {"a move's processor time": {it: statistics.median(each) for it, each in by.items()}}
        for of, by in costs.items()
    }
    Found(
        "games_pool",
        "Games: a pool of them",
        [
            slow,
            quick,
            growth({"with latency": {"moves/s": middle}, **medians}, "matches at once"),
        ],
        ["The peer is ZeroSumEval 0.3.0, as noted of a machine like this: it is not on PyPI."],
        measured={"moves/s": rates, "µs of a processor a move": costs},
    ).tell(keep=asked.keep)


def _slow_models(
    seconds: float, rounds: int, actors: int, strategy: str
) -> tuple[Table, dict[int, list[float]]]:
    """Return the figures, and the rates by how many matches are at once."""
    sizes = [it for it in (1, 8, 32, 256) if it >= actors]  # each has a match at least
    found: dict[int, list[float]] = {size: [] for size in sizes}
    for number, at_once in in_turn(rounds, sizes):
        found[at_once].append(with_latency(at_once, seconds, actors, strategy))
        say(f"round {number}, {at_once} at once: {found[at_once][-1]:,.0f} moves a second")
    rows = []
    for at_once, rates in found.items():
        ideal = at_once / LATENCY_S
        alone = asyncio.run(waits(at_once, seconds / 2))
        rows.append(
            (
                str(at_once), spread(rates, ",.0f"), spread([it / ideal for it in rates], ".1%"),
                f"{alone / ideal:.1%}",
                f"{_PEER_WITH[at_once]:.0%}" if at_once in _PEER_WITH else "",
            )
        )  # fmt: skip
    title = f"Liar's Dice, models that take {1000 * LATENCY_S:.0f} ms for a move"
    return Table(_WITH, rows, title), found


@dataclass(frozen=True)
class _Quick:
    """What some seconds of a game came to."""

    games: int
    moves: int
    whole_s: float
    cpu_s: float


def _no_models(seconds: float, rounds: int) -> tuple[Table, dict[str, dict[int, list[float]]]]:
    """Return the figures, and what a move costs by game and by how many matches are at once."""
    rooms = {"scripted": Scripted, "asked": Instant}
    ways = [*itertools.product(_PEER_WITHOUT, rooms, (32, 256))]
    found: dict[tuple[str, str, int], list[_Quick]] = {way: [] for way in ways}
    for number, way in in_turn(rounds, ways):
        game, kind, at_once = way
        begun, used = time.perf_counter(), time.process_time()
        games, moves = asyncio.run(played(game, at_once, seconds, room=rooms[kind]))
        whole_s, cpu_s = time.perf_counter() - begun, time.process_time() - used
        found[way].append(_Quick(games, moves, whole_s, cpu_s))
        say(f"round {number}, {game}, {kind}, {at_once} at once: {games / whole_s:,.0f} a second")
    rows, costs = [], defaultdict[str, dict[int, list[float]]](dict)
    for (game, kind, at_once), of in found.items():
        low, high = _PEER_WITHOUT[game]
        a_second = [it.games / it.whole_s for it in of]
        a_move = [it.cpu_s / it.moves * 1e6 for it in of]
        costs[f"{game}, {kind}"][at_once] = a_move
        middle = statistics.median(a_second)
        rows.append(
            (
                game, kind, str(at_once), spread(a_second, ",.0f"),
                spread([it.games / it.cpu_s for it in of], ",.0f"),
                f"{median_of(of, lambda it: it.moves / it.games):.1f}", spread(a_move, ".0f"),
                f"{low:,}-{high:,}", f"{middle / high:.1f}-{middle / low:.1f}",
            )
        )  # fmt: skip
    return Table(_WITHOUT, rows, "Players that move at once, on one core"), costs


def with_latency(at_once: int, seconds: float, actors: int = 0, strategy: str = "direct") -> float:
    """Return how many replies a second so many matches at once take."""
    rate, by = Rate(seconds, _WARM_S * (1 + actors)), Strategies(strategy)
    asyncio.run(
        played("liars_dice", at_once, seconds, slow=True, actors=actors, rate=rate, strategies=by)
    )
    return rate.per_second


async def waits(at_once: int, seconds: float) -> float:
    """Return how many waits a second an event loop makes, as many at once, and nothing else."""
    begun = time.monotonic()
    clock = Clock(LATENCY_S)

    async def wait() -> int:
        count = 0
        while time.monotonic() < begun + seconds:
            await clock.passed()
            count += 1
        return count

    counts = await asyncio.gather(*(wait() for _ in range(at_once)))
    return sum(counts) / (time.monotonic() - begun)


class Clock:
    """Waits that are all equally long, and end when they should."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due = deque[tuple[float, "asyncio.Future[None]"]]()
        self._loop = asyncio.get_running_loop()
        self._some = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def passed(self) -> "asyncio.Future[None]":
        """Return what is done when the time has passed."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._due.append((time.monotonic() + self._seconds, future))
        self._some.set()
        return future

    def _run(self) -> None:
        while not self._loop.is_closed():
            self._some.clear()
            if not self._due and not self._some.wait(timeout=1):
                continue
            time.sleep(max(0, self._due[0][0] - time.monotonic()))
            now, over = time.monotonic(), list[asyncio.Future[None]]()
            while self._due and self._due[0][0] <= now:
                over.append(self._due.popleft()[1])
            with suppress(RuntimeError):  # the loop was closed meanwhile
                self._loop.call_soon_threadsafe(_all_done, over)


def _all_done(futures: Sequence["asyncio.Future[None]"]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)


class Rate:
    """Counts the replies that come, from when all is under way to the end."""

    def __init__(self, seconds: float, warm_s: float) -> None:
        """Count for so many seconds, when `warm_s` have passed since the first reply."""
        self._seconds, self._warm_s = warm_s + seconds, warm_s
        self._times: list[float] = []
        self._begun: float | None = None

    @property
    def seconds(self) -> float:
        """Return how long it takes in all, from the first reply."""
        return self._seconds

    @property
    def passed_s(self) -> float:
        """Return the seconds since the first reply: actors of Ray take a while to come up."""
        return 0.0 if self._begun is None else time.monotonic() - self._begun

    def count(self, *what: object) -> None:
        """Count a reply that has come."""
        if self._begun is None:
            self._begun = time.monotonic()
        if self._warm_s < self.passed_s < self._seconds:
            self._times.append(time.monotonic())

    @property
    def per_second(self) -> float:
        """Return the slope of the count over time: they come in waves, of which no part counts."""
        if not self._times:
            raise SystemExit("no reply came in time: have PYTHONPATH name this checkout, for Ray")
        fitted = np.polyfit(self._times, np.arange(len(self._times)), 1)
        return float(fitted[0])


@dataclass(frozen=True)
class Slow(Link):
    """A link to models that think, each process having its own."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Fleet]:
        """Open them in this process."""
        specs = group_engines(self.models)
        yield Fleet(specs, {spec.name: Thinking(LATENCY_S) for spec in specs})


class Thinking:
    """An engine whose models take their time, and then raise the bid or call."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._clock = Clock(latency) if latency else None

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Return a move for every prompt."""
        if self._clock is not None:
            await self._clock.passed()
        return [self._reply(it.messages[0].content) for it in requests]

    async def stream(
        self, model: ModelSpec, requests: Sequence[Request]
    ) -> AsyncGenerator[tuple[int, Completion]]:
        """Yield them with their places."""
        for placed in enumerate(await self.complete(model, requests)):
            yield placed

    def expect(self, model: ModelSpec, requests: int) -> None:
        """Plan for nothing."""

    async def wait_for_room(self) -> None:
        """Return at once."""

    def _reply(self, prompt: str) -> Completion:
        bids = _BID.findall(prompt, prompt.rindex("Bids:"))
        quantity, face = map(int, bids[-1]) if bids else (0, 3)
        move = "call" if quantity > 3 else f"bid {quantity + 1} {face}"
        return Completion(f"Move: {move}", "stop", output_tokens=5, seconds=self._latency)


class Scripted(Room):
    """A room where players move without a thought."""

    def seat(self, order: Begun, role: str, model: str, put: Put) -> Seated:
        """Return a player of random moves."""
        return _Random(model)


class Instant(Room):
    """A room where models reply in no time."""

    def seat(self, order: Begun, role: str, model: str, put: Put) -> Seated:
        """Return a player of random moves that is asked as a model is."""
        return _Asked(model, self._house.decoding, order.name)


_DRAWN = random.Random(0)


@dataclass
class _Random:
    model: str

    async def reply(
        self, state: State, seen: Observation, tries: Sequence[Try], left_s: float | None
    ) -> Heard:
        move = state.sample(_DRAWN)
        return Heard(f"Move: {move}", move)


@dataclass
class _Asked:
    model: str
    decoding: Decoding
    match: str

    async def reply(
        self, state: State, seen: Observation, tries: Sequence[Try], left_s: float | None
    ) -> Heard:
        move = state.sample(_DRAWN)

        async def put(model: str, request: Request) -> Completion:
            return Completion(f"Move: {move}", "stop", output_tokens=5)

        chair = Chair(self.model, _STRATEGY, put, self.decoding, self.match)
        return await chair.reply(state, seen, tries, left_s)


_STRATEGY = Direct()


async def played(
    game: str,
    at_once: int,
    seconds: float,
    *,
    room: type[Room] = Room,
    slow: bool = False,
    actors: int = 0,
    rate: Rate | None = None,
    strategies: Strategies | None = None,
) -> tuple[int, int]:
    """Play for so long; return how many matches and moves it were."""
    names = ["one", "other"]
    models = [ModelSpec(name, "simulated", name) for name in names]
    specs = group_engines(models)
    fleet = Fleet(specs, {spec.name: Thinking(LATENCY_S if slow else 0) for spec in specs})
    tokens = Decoding({"line": 64, "text": 64, "code": 64})
    house = House(
        {"chess": {"plies": 100}}, Terms(), tokens, strategies or Strategies(),
        at_once=-(-at_once // max(1, actors)),
    )  # fmt: skip
    begun = time.monotonic()

    def passed() -> float:
        return rate.passed_s if rate is not None else time.monotonic() - begun

    schedule = Schedule(
        pairing.matchmaking("random", names, {game: 2}, seed=0, size=64),
        Stop(budgets=(Budget(rate.seconds if rate else seconds, "seconds", passed),)),
    )
    with tempfile.TemporaryDirectory() as folder:
        turns = Journal(Path(folder) / "turns.jsonl", lambda line: None)
        matches = Journal(Path(folder) / "matches.jsonl", lambda record: None)

        async def keep(lines: Lines) -> None:
            await asyncio.to_thread(turns.extend, lines)

        link = Slow.to(fleet, models, FleetConf())
        async with rooms(fleet, link, house, actors=actors, say=print, room=room) as opened:
            pool = Pool(
                schedule, opened, house, at_once=at_once + max(1, at_once // 4), replays=0,
                keep=keep, count=rate.count if rate else lambda model, completion: None,
            )  # fmt: skip
            begun = time.monotonic()
            games = moves = 0
            async with aclosing(pool.matches()) as stream:
                async for some in stream:
                    await asyncio.to_thread(matches.extend, some)
                    games += len(some)
                    moves += sum(len(it["turns"]) for it in some)
    return games, moves


if __name__ == "__main__":
    main()
