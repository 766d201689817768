"""One iteration under way: what came back so far, and which step its path leads to next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from raybench.autobench import faults
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Ratings
from raybench.autobench.steps import Draw, Kind, Reply, Step


@dataclass
class Proposal:
    """A task that was posed, and what the judges hold of it."""

    number: int
    generator: str
    said: Reply
    ratings: dict[str, Reply] | None = None
    """By judge; None before they came."""
    faults: tuple[str, ...] = ()
    """What is wrong with it by itself."""

    @property
    def task(self) -> str | None:
        """The task's text; None where the generator could not be reached."""
        return None if self.said.text is None else self.said.text.strip()

    @property
    def ranks(self) -> Ratings:
        """What it was given."""
        return {judge: reply.rank for judge, reply in (self.ratings or {}).items()}


@dataclass
class Contest:
    """What the contestants answered to a task, and what the judges hold of it."""

    answers: dict[str, Reply]
    judgments: dict[tuple[str, str], Reply] | None = None
    """By judge and contestant; None before they came."""

    @property
    def judged(self) -> dict[str, str]:
        """The answers that there are to be judged, by contestant."""
        texts = {model: reply.text or "" for model, reply in self.answers.items()}
        return {model: text for model, text in texts.items() if text.strip()}


class Verdict(NamedTuple):
    """Whether a task passes, and which part of that is still open before the iteration's turn."""

    accepted: bool
    open_weights: bool = False
    """It hangs on the judges' weights."""
    open_tasks: bool = False
    """It hangs on which tasks earlier iterations will have."""


class Path(NamedTuple):
    """Where an iteration stands by what is known, and supposed, of its tasks."""

    step: Step | None
    """What is asked next; None where all has come."""
    proposals: Sequence[Proposal]
    """Those on the path: all but the last were turned down."""
    accepted: bool = False
    """Whether the last one, or the given task, passes."""
    contest: Contest | None = None
    """The contest over it, where that has begun."""
    open_weights: bool = False
    open_tasks: bool = False

    @property
    def is_open(self) -> bool:
        """Tell whether it may turn out to be another one."""
        return self.open_weights or self.open_tasks

    @property
    def settled(self) -> bool:
        """Tell whether it is certain which task the iteration has, or that it has none."""
        return (self.accepted or self.step is None) and not self.is_open

    def has(self, attempt: int, kind: Kind) -> bool:
        """Tell whether a step lies on it."""
        last = len(self.proposals)
        if kind in ("answer", "answer_rating"):
            return self.accepted and attempt == last
        return attempt <= last or (self.step is not None and attempt == self.step.attempt)


Judge = Callable[[Proposal], Verdict]
"""Decides whether a task passes."""


@dataclass
class Play:
    """An iteration under way."""

    draw: Draw
    settings: Settings
    proposals: list[Proposal] = field(default_factory=list)
    contests: dict[int, Contest] = field(default_factory=dict)
    started: dict[tuple[int, Kind], int] = field(default_factory=dict)
    """What was asked: attempt and kind, and how many calls it took."""
    ventured: set[tuple[int, Kind]] = field(default_factory=set)
    """What of it was asked although the path was not certain."""

    @property
    def asked(self) -> int:
        """How many calls were made for it."""
        return sum(self.started.values())

    def at_stake(self, path: Path) -> int:
        """How many of its calls are, or may yet turn out to have been, for nothing."""
        return sum(
            cost
            for step, cost in self.started.items()
            if not path.has(*step) or (path.is_open and step in self.ventured)
        )

    def start(self, step: Step, cost: int, path: Path) -> None:
        """Note that a step of the path is asked."""
        self.started[step.attempt, step.kind] = cost
        if path.is_open:
            self.ventured.add((step.attempt, step.kind))

    def take(self, step: Step, replies: Sequence[Reply]) -> None:
        """Take the replies to a step, in the order of its asks."""
        asked = step.asked(self.settings)
        match step.kind:
            case "task":
                proposal = Proposal(step.attempt, step.author, replies[0])
                proposal.faults = tuple(faults.found(proposal.task)) if proposal.task else ()
                turned_down = proposal.faults and self.settings.faulty == "reject"
                if not proposal.task or turned_down or not self.settings.judges_of(step.author):
                    proposal.ratings = {}  # nobody need be asked
                self.proposals.append(proposal)
            case "task_rating":
                ratings = {judge: it for (judge, _), it in zip(asked, replies, strict=True)}
                self.proposals[step.attempt - 1].ratings = ratings
            case "answer":
                answers = {model: it for (model, _), it in zip(asked, replies, strict=True)}
                self.contests[step.attempt] = contest = Contest(answers)
                if not any(self.settings.judges_of(model) for model in contest.judged):
                    contest.judgments = {}
            case "answer_rating":
                self.contests[step.attempt].judgments = dict(zip(asked, replies, strict=True))

    def path(self, judge: Judge) -> Path:
        """Follow the path as far as what came leads, by how a judge of tasks decides."""
        if self.draw.given is not None:
            return self._contest(Path(None, ()))
        path = Path(None, ())
        for place, proposal in enumerate(self.proposals, start=1):
            path = path._replace(proposals=self.proposals[:place])
            if proposal.ratings is None:
                return path._replace(step=self._step("task_rating", proposal))
            verdict = judge(proposal)
            path = path._replace(
                open_weights=path.open_weights or verdict.open_weights,
                open_tasks=path.open_tasks or verdict.open_tasks,
            )
            if verdict.accepted:
                return self._contest(path)
        generator = self._generator()
        if generator is None:
            return path
        return path._replace(step=Step(self.draw, len(self.proposals) + 1, "task", generator))

    def _contest(self, path: Path) -> Path:
        """Follow a path on which a task has passed."""
        last = path.proposals[-1] if path.proposals else None
        contest = self.contests.get(last.number if last else 0)
        path = path._replace(accepted=True, contest=contest)
        if contest is None:
            return path._replace(step=self._step("answer", last))
        if contest.judgments is None:
            return path._replace(step=self._step("answer_rating", last, contest.judged))
        return path

    def _step(
        self, kind: Kind, proposal: Proposal | None, answers: Mapping[str, str] | None = None
    ) -> Step:
        if proposal is None:
            return Step(self.draw, 0, kind, task=self.draw.given or "", answers=answers or {})
        task = proposal.task or ""
        return Step(self.draw, proposal.number, kind, proposal.generator, task, answers or {})

    def _generator(self) -> str | None:
        """Return who poses the next task, after those that were posed; None where nobody does.

        One that could not be reached is not asked again.
        """
        place = 0
        for generator in self.draw.generators:
            for _ in range(self.settings.attempts):
                if place == len(self.proposals):
                    return generator
                place += 1
                if self.proposals[place - 1].task is None:
                    break
        return None
