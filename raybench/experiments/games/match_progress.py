"""How many turns a tournament has left, by the lengths of the matches that ended."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raybench.tournament.records import Unfinished
from raybench.tracking.console import Progress
from raybench.tracking.console.time_left import Lane

_UNKNOWN = "", "match of unknown length"
"""This lane has no pace: while it has units left, no time left is shown."""
_TURN, _ENGINE = "turn", "matches"
_LONGEST = 0.85
"""This share of the longest match is left, on average, when no other match is to begin."""
_EVERY_S = 1.0
"""The rest is estimated again no more often than this."""


@dataclass(slots=True)
class _Open:
    game: str
    models: tuple[str, ...]
    turns: int = 0


class _Lengths:
    """How many turns matches of a game have: a survival curve (Kaplan and Meier).

    Matches under way count, too: of those that have ended more are short. One that is longer than
    all of these is taken to be half over.
    """

    def __init__(self, ended: Counter[int], under_way: Sequence[int]) -> None:
        self._longest = max([*ended, *under_way], default=0)
        self._steps: list[tuple[int, float]] = []
        """Lengths, and the share of matches that are longer."""
        share, at_risk = 1.0, ended.total()
        for length in sorted(ended):
            longer = at_risk + sum(turns >= length for turns in under_way)
            share *= 1 - ended[length] / longer
            at_risk -= ended[length]
            self._steps.append((length, share))

    def left(self, turns: int) -> float:
        """Return how many turns a match has left after so many, on average."""
        share, reached, last, area = 1.0, 1.0, turns, 0.0
        for length, after in self._steps:
            if length <= turns:
                reached = after
            else:
                area += share * (length - last)
                last = length
            share = after
        area += share * self._longest
        return area / reached if reached else 0.0


class MatchProgress:
    """Follows matches by what enters the journals.

    Matches that have not begun are taken to be of the same games as those that have, and of all
    models alike. Their time is unknown until a first match has ended.
    """

    def __init__(self, progress: Progress, matches: int) -> None:
        """Expect so many more matches, unfinished ones included."""
        self._progress = progress
        self._matches = matches
        self._open: dict[int, _Open] = {}
        self._begun: Counter[str] = Counter()
        self._seats: defaultdict[str, float] = defaultdict(float)
        """How often each model sat at a match that has begun, as a share of its seats."""
        self._ended: dict[str, Counter[int]] = {}
        """How many matches of a game ended after so many turns."""
        self._done: defaultdict[str, float] = defaultdict(float)
        self._seconds: defaultdict[str, float] = defaultdict(float)
        """Turns in this session and the seconds that they took, by model."""
        self._told = float("-inf")
        progress.expect({_UNKNOWN: matches})

    def resume(self, unfinished: Mapping[int, Unfinished]) -> None:
        """Begin a tournament with matches that an earlier session has begun."""
        self._open = {}
        for number, match in unfinished.items():
            self._begin(number, match.fixture.game, match.fixture.seats, len(match.turns))

    def take(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Take lines of the journal of turns."""
        turns: list[Mapping[str, Any]] = []
        for line in lines:
            if "game" in line:
                self._begin(line["match"], line["game"], line["seats"])
            elif (match := self._open.get(line["match"])) is None:
                continue
            elif "turn" in line:
                turns.append(line)
                match.turns = line["turn"]
            elif "next" in line and line["next"] != line["attempt"]:
                match.turns = 0
        self._count(turns)

    def end(self, matches: Iterable[Mapping[str, Any]]) -> None:
        """Take the records of matches that ended."""
        turns: list[Mapping[str, Any]] = []
        for record in matches:
            game, told = record["game"], record["turns"]
            match = self._open.pop(record["match"], None)
            turns += told[match.turns if match else 0 :]
            self._matches -= 1
            if record["void"] is None:
                self._ended.setdefault(game, Counter())[len(told)] += 1
        self._count(turns)

    def _begin(self, number: int, game: str, seats: Sequence[str], turns: int = 0) -> None:
        models = tuple(seats)
        self._open[number] = _Open(game, models, turns)
        self._begun[game] += 1
        for model in models:
            self._seats[model] += 1 / len(models)
        self._progress.assign(models, _ENGINE, hosted=False)

    def _count(self, turns: Iterable[Mapping[str, Any]]) -> None:
        """Count turns of this session; those of the games' managers go with the models' next."""
        done: dict[Lane, tuple[float, float]] = {}
        for turn in turns:
            if turn["model"]:
                lane = turn["model"], _TURN
                count, seconds = done.get(lane, (0.0, 0.0))
                done[lane] = count + 1, seconds + turn["seconds"]
        for (model, _), (count, seconds) in done.items():
            self._done[model] += count
            self._seconds[model] += seconds
        self._progress.arrive(done)
        if self._ended and self._progress.elapsed() - self._told >= _EVERY_S:
            self._told = self._progress.elapsed()
            self._progress.expect({_UNKNOWN: 0, **self._left()})

    def _left(self) -> dict[Lane, float]:
        lengths = {game: self._lengths(game) for game in self._begun}
        to_begin = max(0, self._matches - len(self._open))
        mean = sum(lengths[game].left(0) * count for game, count in self._begun.items())
        each = to_begin * mean / self._begun.total() / sum(self._seats.values())
        left = {model: each * seats for model, seats in self._seats.items()}
        whole_s, left_s = [0.0], [0.0]
        for match in self._open.values():
            turns = lengths[match.game].left(match.turns)
            for model in match.models:
                left[model] += turns / len(match.models)
            turn_s = sum(map(self._turn_s, match.models)) / len(match.models)
            whole_s.append((match.turns + turns) * turn_s)
            left_s.append(turns * turn_s)
        seconds = max(left_s)
        if to_begin and self._open:
            # The last matches begin when the others have ended, but for the halves that are left of
            # those under way, on average. Then the longest of them is waited for.
            many = len(self._open)
            all_s = sum(count * self._turn_s(model) for model, count in left.items())
            seconds = all_s / many - sum(whole_s) / many / 2 + _LONGEST * max(whole_s)
        self._progress.expect_longer(seconds)
        return {(model, _TURN): turns for model, turns in left.items()}

    def _turn_s(self, model: str) -> float:
        return self._seconds[model] / self._done[model] if self._done[model] else 0.0

    def _lengths(self, game: str) -> _Lengths:
        turns = [match.turns for match in self._open.values() if match.game == game]
        return _Lengths(self._ended.get(game, Counter[int]()), turns)
