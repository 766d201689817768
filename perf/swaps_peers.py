"""AutoBench as work for the simulation of swaps: the real course, with made-up replies."""

import itertools
import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from perf.swaps_simulation import Listed, Request, Sent
from raybench.autobench.course import Course, Turn
from raybench.autobench.records import Record
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing
from raybench.autobench.steps import Address, Kind, Reply, Step

_SECONDS: dict[Kind, float] = {
    "task": 8.0,
    "task_rating": 1.0,
    "answer": 20.0,
    "answer_rating": 1.0,
}
_SPECULATION = 0.5
"""As the experiment's default has it."""
_TASK, _SPREAD, _NOISE = 3.0, 0.75, 1.0
"""What tasks are rated on average, how far they differ, and judges on one: 3 in 10 fail."""


class Peers:
    """An assessment whose steps are asked when the course says so.

    What a step asks of one model is one request, as in the experiment.
    """

    def __init__(self, settings: Settings, last: int, at_once: int, seed: int = 0) -> None:
        """Play this number of iterations, `at_once` of them at the same time."""
        self._settings, self._last, self._seed = settings, last, seed
        models = len(settings.models)
        least = last * (1 + models + models + models * models)
        self.course = Course(
            settings, Standing.start(settings), last, at_once=at_once, budget=_SPECULATION * least
        )
        self.records: list[Record] = []
        self._step_of: dict[int, Step] = {}
        self._missing: dict[Address, int] = {}
        self._sent = 0

    def begin(self) -> Sent:
        """Return the first steps' work."""
        return self._send(self.course.begin())

    def answered(self, number: int) -> Sent:
        """Hand a step that is answered to the course; return the work of those that follow."""
        step = self._step_of.pop(number)
        self._missing[step.address] -= 1
        if self._missing[step.address]:
            return ()
        del self._missing[step.address]
        return self._send(self.hand_over(step).steps)

    def hand_over(self, step: Step) -> Turn:
        """Give the course the replies to a step."""
        turn = self.course.take(step, replies(step, self._settings, self._seed))
        self.records += [finished.record for finished in turn.finished]
        return turn

    @property
    def is_done(self) -> bool:
        """Tell whether all iterations are."""
        return self.course.standing.iteration == self._last and not self._missing

    def _send(self, steps: Sequence[Step]) -> Iterator[tuple[int, Request]]:
        for step in steps:
            asked = requests(step, self._settings, self._seed)
            self._missing[step.address] = len(asked)
            for request in asked:
                self._step_of[self._sent] = step
                yield self._sent, request
                self._sent += 1


def requests(step: Step, settings: Settings, seed: int) -> list[Request]:
    """Return the requests of a step. Their durations depend only on the step."""
    asked = [model for model, _ in step.asked(settings)]
    rng = random.Random(f"seconds/{seed}/{step.address}")
    return [
        Request(model, _SECONDS[step.kind] * rng.uniform(0.5, 1.5), prompts=asked.count(model))
        for model in dict.fromkeys(asked)
    ]


def replies(step: Step, settings: Settings, seed: int) -> list[Reply]:
    """Make up replies that depend only on the step."""
    rng = random.Random(f"{seed}/{step.address}")
    asked = step.asked(settings)
    match step.kind:
        case "task" | "answer":
            return [Reply(_text(rng)) for _ in asked]
        case "task_rating":
            quality = rng.gauss(_TASK, _SPREAD)
            return [_rated(rng.gauss(quality, _NOISE)) for _ in asked]
        case "answer_rating":
            able = {
                model: 2 + 2 * n / len(settings.models) for n, model in enumerate(settings.models)
            }
            return [_rated(rng.gauss(able[of], _NOISE)) for _, of in asked]


def _text(rng: random.Random) -> str:
    """Return words that no other text has, so that no task repeats an earlier one."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(rng.choices(letters, k=7)) for _ in range(12)) + "?"


def _rated(quality: float) -> Reply:
    return Reply(f"<rank>{min(5, max(1, round(quality)))}</rank>")


class InOrder(NamedTuple):
    """An assessment in the paper's order: one step of one iteration after the other."""

    records: list[Record]
    requests: Sequence[Request]
    """Each is sent when the one before it is answered."""

    def work(self) -> Listed:
        """Return the requests as work, in that order."""
        return Listed(self.requests)

    @property
    def seconds(self) -> float:
        """Return how long the models take, without loads."""
        return sum(request.seconds for request in self.requests)

    @property
    def changes(self) -> int:
        """Return how often a request goes to another model than the one before it."""
        pairs = itertools.pairwise(self.requests)
        return sum(one.engine != other.engine for one, other in pairs)


def play_in_order(settings: Settings, last: int, seed: int = 0) -> InOrder:
    """Play iterations one after the other, without engines. Every order has the same records."""
    peers = Peers(settings, last, 1, seed)
    due = deque(peers.course.begin())
    asked: list[Request] = []
    while due:
        step = due.popleft()
        for request in requests(step, settings, seed):
            before = (len(asked) - 1,) if asked else ()
            asked.append(replace(request, after=before))
        due += peers.hand_over(step).steps
    return InOrder(peers.records, asked)


def swaps_needed(records: Sequence[Record], models: int, at_once: int) -> int:
    """Return the swaps that no schedule can do without, on one slot.

    A chain has the steps that all models take part in: the ratings of an iteration's tasks, its
    answers and their ratings; then those of the iteration that begins when this one, and all before
    it, are done. `perf/swaps.py` says what a chain costs.
    """
    longest = [0]  # the longest chain that ends with one of the iterations up to here
    for record in records:
        steps = len(record["attempts"]) + 2 * (record["task"] is not None)
        before = longest[max(0, len(longest) - at_once)]
        longest.append(max(longest[-1], before + steps))
    return models + (longest[-1] - 1) * (models - 1) - 1
