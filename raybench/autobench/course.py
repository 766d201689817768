"""Many iterations at once, counted strictly in order.

What is asked depends on the judges' weights only through which tasks are accepted. Often that is
certain before an iteration's turn: the weights are bounded (`acceptance.py`). Where it is not, the
likelier path is followed, within a budget; should it turn out to be the wrong one when all earlier
iterations are known, what was asked along it is discarded, and counted, and the right one followed.
So every record is the one that iterations played one after the other would have made of the same
replies.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from raybench.autobench.acceptance import Bounds, accepted, bounds, foreseen
from raybench.autobench.earlier import Earlier
from raybench.autobench.play import Path, Play, Proposal, Verdict
from raybench.autobench.records import Record, record
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing
from raybench.autobench.steps import Reply, Step, drawn


class Finished(NamedTuple):
    """An iteration that is over."""

    record: Record
    calls: int
    """All that were made for it."""
    discarded: int
    """Those of them along a path that turned out to be wrong."""


class Turn(NamedTuple):
    """What follows from replies: iterations that are finished, and what is to be asked next."""

    finished: list[Finished]
    steps: list[Step]


class Course:
    """The course of an assessment from one iteration to another."""

    def __init__(
        self,
        settings: Settings,
        standing: Standing,
        last: int,
        *,
        tasks: Mapping[int, str] | None = None,
        at_once: int = 1,
        budget: float = 0.0,
        discarded: int = 0,
    ) -> None:
        """Go on from a standing, with the tasks of the iterations that led there.

        `at_once` iterations are under way side by side. `budget` is how many calls may hang on
        decisions that are not certain; those that were `discarded` on the way count in.
        """
        self.discarded = discarded
        self.standing = standing
        self._settings = settings
        self._last = last
        self._at_once = at_once
        self._budget = budget
        self._plays: dict[int, Play] = {}
        self._paths: dict[int, Path] = {}
        self._settled = standing.iteration
        """All iterations up to this one have the task that they will have, or none."""
        self._earlier = Earlier()
        for iteration, task in (tasks or {}).items():
            self._earlier.put(iteration, task)
        self._bounds: dict[int, Bounds] = {}

    @property
    def is_over(self) -> bool:
        """Tell whether all iterations are finished; steps of wrong paths may be under way yet."""
        return self.standing.iteration >= self._last

    def begin(self) -> list[Step]:
        """Return what is asked first."""
        return list(self._open())

    def take(self, step: Step, replies: Sequence[Reply]) -> Turn:
        """Take the replies to a step, in the order of its asks."""
        play = self._plays.get(step.iteration)
        if play is None:
            return Turn([], [])  # it was asked along a wrong path, and the iteration is over
        play.take(step, replies)
        steps = list(self._look(play))
        finished: list[Finished] = []
        while (done := self._finish_next()) is not None:
            finished.append(done)
        if finished:
            # The weights are known better now, and so are the tasks.
            self._bounds.clear()
            for each in self._plays.values():
                if not self._paths[each.draw.iteration].settled:
                    steps += self._look(each)
            steps += self._open()
        return Turn(finished, steps)

    def _open(self) -> Iterator[Step]:
        """Begin as many iterations as may be under way."""
        done = self.standing.iteration
        begun = max(self._plays, default=done)
        for iteration in range(begun + 1, min(self._last, done + self._at_once) + 1):
            play = self._plays[iteration] = Play(drawn(iteration, self._settings), self._settings)
            yield from self._look(play)

    def _look(self, play: Play) -> Iterator[Step]:
        """Follow an iteration's path again, and yield what is to be asked along it now."""
        iteration = play.draw.iteration
        path = self._paths[iteration] = play.path(lambda proposal: self._verdict(play, proposal))
        self._keep_task(iteration, path)
        self._settle()
        step = path.step
        if step is None or (step.attempt, step.kind) in play.started:
            return
        cost = len(step.asked(self._settings))
        if not path.is_open or self._at_stake() + cost <= self._budget:
            play.start(step, cost, path)
            yield step

    def _at_stake(self) -> int:
        """Return how many calls were for nothing, or may turn out to have been."""
        under_way = (self._plays[it].at_stake(path) for it, path in self._paths.items())
        return self.discarded + sum(under_way)

    def _verdict(self, play: Play, proposal: Proposal) -> Verdict:
        """Decide whether a task passes, as far as that is known."""
        settings, iteration = self._settings, play.draw.iteration
        if not proposal.ratings:
            return Verdict(False)  # nobody was asked, or may be
        ahead = iteration - 1 - self.standing.iteration
        ranks = proposal.ranks
        if ahead == 0:
            passes: bool | None = accepted(ranks, self.standing.weights, settings)
        else:
            if ahead not in self._bounds:
                self._bounds[ahead] = bounds(self.standing, settings, ahead)
            passes = foreseen(ranks, self._bounds[ahead], settings)
        if passes is False:
            return Verdict(False)
        open_weights = passes is None
        if settings.faulty == "reject":
            repeated = self._earlier.like(proposal.task or "", before=iteration)
            if repeated is not None:
                return Verdict(False, open_tasks=repeated > self._settled)
            open_tasks = self._settled < iteration - 1
        else:
            open_tasks = False
        if open_weights:
            passes = accepted(ranks, self.standing.weights, settings)
        return Verdict(bool(passes), open_weights, open_tasks)

    def _keep_task(self, iteration: int, path: Path) -> None:
        """Know an iteration's task, be it only supposed, when later ones are looked at."""
        if path.accepted and path.proposals:
            self._earlier.put(iteration, path.proposals[-1].task or "")
        else:
            self._earlier.drop(iteration)

    def _settle(self) -> None:
        while (path := self._paths.get(self._settled + 1)) is not None and path.settled:
            self._settled += 1

    def _finish_next(self) -> Finished | None:
        """Finish the next iteration, if all of it has come."""
        iteration = self.standing.iteration + 1
        play = self._plays.get(iteration)
        if play is None:
            return None
        path = play.path(lambda proposal: self._verdict(play, proposal))
        if path.step is not None:
            return None
        repeats = [
            self._earlier.like(proposal.task, before=iteration) if proposal.task else None
            for proposal in path.proposals
        ]
        made, self.standing, calls = record(play, path, self.standing, repeats)
        self._keep_task(iteration, path)
        self._settled = max(self._settled, iteration)
        del self._plays[iteration], self._paths[iteration]
        self._settle()
        self.discarded += play.asked - calls
        return Finished(made, play.asked, play.asked - calls)
