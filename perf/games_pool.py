"""How many games a pool plays, beside what the models' time alone would allow, and beside the peer.

    python -m perf.games_pool                      all of it, two minutes
    python -m perf.games_pool --seconds 3          shorter

*With latency*: liar's dice between two models of which each takes 50 ms for a move. The ideal rate
is that of players who do nothing but think: matches at once / (moves of a match x 50 ms). The peer
(ZeroSumEval 0.3.0, measured on a machine like this one) plays 5.1 to 5.4 games a second whether 1,
8 or 32 of them are under way, because a lock of its whole process serialises the calls: 96, 12 and
3 % of the ideal.

*Without latency*: players that move at once, on one core, so that what is measured is the game and
its bookkeeping. Everything of ours is on: prompts are written, replies are read, every turn and
every match goes into its journal and to the disk. The peer, without any journal, plays 2,167 to
3,260 dice games and 20 to 37 chess games (of some 100 plies) a second.
"""

import argparse
import asyncio
import random
import re
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from raybench.arena.chair import Decoding, Put
from raybench.arena.pool import Lines, Pool, rooms
from raybench.arena.room import Begun, House, Room
from raybench.config import FleetConf
from raybench.fleet import Fleet, group_engines
from raybench.fleet.link import Link
from raybench.games import State
from raybench.pipeline.store import Journal
from raybench.players.contract import Try
from raybench.tournament import pairing
from raybench.tournament.match import Heard, Seated, Terms
from raybench.tournament.schedule import Schedule
from raybench.tournament.stopping import Budget, Stop
from raybench.types import Completion, ModelSpec, Observation, Request

LATENCY_S = 0.05
_WARM_S = 1.0
_PEER_WITH = {1: 0.96, 8: 0.12, 32: 0.03}
_PEER_WITHOUT = {"liars_dice": (2167, 3260), "chess": (20, 37)}
_BID = re.compile(r"(\d+) dice of (\d+)")
_WITH = "{:>8} {:>10} {:>11} {:>9} {:>9} {:>8}"
_WITHOUT = "{:>12} {:>9} {:>12} {:>14} {:>16} {:>12}"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measurement")
    seconds = parser.parse_args().seconds
    print(_WITH.format("at once", "moves/s", "ideal", "of ideal", "games/s", "peer"))
    for at_once in (1, 8, 32, 256):
        engine = Thinking(LATENCY_S)
        games, moves, wall = asyncio.run(played("liars_dice", at_once, engine, seconds))
        rate, ideal = engine.rate, at_once / LATENCY_S
        peer = f"{_PEER_WITH[at_once]:.0%}" if at_once in _PEER_WITH else "-"
        row = (f"{rate:,.0f}", f"{ideal:,.0f}", f"{rate / ideal:.1%}", f"{games / wall:,.1f}")
        print(_WITH.format(at_once, *row, peer), flush=True)
    print()
    heads = ("game", "games/s", "moves/game", "us CPU/move", "peer, games/s", "ratio")
    print(_WITHOUT.format(*heads))
    for game, (low, high) in _PEER_WITHOUT.items():
        # One thread's work: what it takes is its processor time, whatever else the machine does.
        begun = time.process_time()
        games, moves, _ = asyncio.run(played(game, 32, None, seconds))
        cpu = time.process_time() - begun
        rates = (game, f"{games / cpu:,.0f}", f"{moves / games:.1f}", f"{cpu / moves * 1e6:.0f}")
        ratio = f"{games / cpu / high:.1f}-{games / cpu / low:.1f}"
        print(_WITHOUT.format(*rates, f"{low:,}-{high:,}", ratio), flush=True)


class Thinking:
    """An engine whose models take their time, and then raise the bid or call."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._moves: list[float] = []
        self._since = self._until = 0.0

    def begins(self, seconds: float) -> None:
        """Note that matches begin from now on, and for so long."""
        self._since, self._until = time.monotonic() + _WARM_S, time.monotonic() + seconds

    @property
    def rate(self) -> float:
        """Return how many moves a second were made, from when all was under way to the end."""
        within = sum(self._since < it < self._until for it in self._moves)
        return within / (self._until - self._since)

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Return a move for every prompt."""
        await asyncio.sleep(self._latency)
        self._moves += [time.monotonic()] * len(requests)
        return [self._reply(it.messages[0].content) for it in requests]

    async def stream(
        self, model: ModelSpec, requests: Sequence[Request]
    ) -> AsyncGenerator[tuple[int, Completion]]:
        """Yield them with their places."""
        for placed in enumerate(await self.complete(model, requests)):
            yield placed

    def _reply(self, prompt: str) -> Completion:
        bids = _BID.findall(prompt, prompt.rindex("Bids:"))
        quantity, face = map(int, bids[-1]) if bids else (0, 3)
        move = "call" if quantity > 3 else f"bid {quantity + 1} {face}"
        return Completion(f"Move: {move}", "stop", output_tokens=5, seconds=self._latency)


class AtOnce(Room):
    """A room where players move without a thought."""

    def seat(self, order: Begun, role: str, model: str, put: Put) -> Seated:
        """Return a player of random moves."""
        return _Random(model, random.Random(order.number))


@dataclass
class _Random:
    model: str
    rng: random.Random

    async def reply(self, state: State, seen: Observation, tries: Sequence[Try]) -> Heard:
        move = state.sample(self.rng)
        return Heard(f"Move: {move}", move)


async def played(
    game: str, at_once: int, engine: "Thinking | None", seconds: float
) -> tuple[int, int, float]:
    """Play for so long; return games, moves and seconds until the last one's end."""
    names = ["one", "other"]
    models = [ModelSpec(name, "simulated", name) for name in names]
    specs = group_engines(models)
    fleet = Fleet(specs, {spec.name: engine or Thinking(0) for spec in specs})
    tokens = Decoding({"line": 64, "text": 64, "code": 64})
    house = House({"chess": {"plies": 100}}, Terms(), tokens, at_once=at_once)

    async def given() -> Fleet:
        return fleet

    schedule = Schedule(
        pairing.matchmaking("random", names, {game: 2}, seed=0, size=64),
        Stop(budgets=(Budget(seconds, "seconds", lambda: time.monotonic() - begun),)),
    )
    with tempfile.TemporaryDirectory() as folder:
        turns = Journal(Path(folder) / "turns.jsonl", lambda line: None)
        matches = Journal(Path(folder) / "matches.jsonl", lambda record: None)

        async def keep(lines: Lines) -> None:
            await asyncio.to_thread(turns.extend, lines)

        room: type[Room] = Room if engine else AtOnce
        link = Link.to(fleet, models, FleetConf())
        async with rooms(fleet, link, house, actors=0, say=print, room=room) as opened:
            pool = Pool(
                schedule, opened, house, at_once=at_once + max(1, at_once // 4), replays=0,
                keep=keep,
            )  # fmt: skip
            begun = time.monotonic()
            if engine:
                engine.begins(seconds)
            games = moves = 0
            async with aclosing(pool.matches()) as stream:
                async for some in stream:
                    await asyncio.to_thread(matches.extend, some)
                    games += len(some)
                    moves += sum(len(it["turns"]) for it in some)
            wall = time.monotonic() - begun
    return games, moves, wall


if __name__ == "__main__":
    main()
