"""How far the replies of an assessment have come: whoever waits for them is told."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from raybench.autobench.steps import Address, Kind, Reply
from raybench.experiments.parts.session import Session
from raybench.fleet import group_engines
from raybench.statements import Statement
from raybench.tracking.console.time_left import Lane
from raybench.types import ModelSpec

_WHOLE: Lane = ("", "reply")
_FURTHER: Lane = ("", "further reply")
"""This lane has no pace: while it has units left, no time left is shown."""


class Headway:
    """Known replies count as done, but say nothing about the pace: they took no time."""

    def __init__(
        self,
        session: Session,
        least: int,
        models: Sequence[ModelSpec],
        expected: Mapping[tuple[str, Kind], float] | None = None,
    ) -> None:
        """`least` is how many replies there have to be, known ones included.

        `expected` says how many each of the `models` gives of each kind; without it, one pace is
        assumed for all.
        """
        self._session = session
        self._least = least
        self._known = self._asked = 0
        self._expected = dict(expected or {})
        self._has_kinds = expected is not None
        self._answered: dict[int, tuple[int, Counter[tuple[str, Kind]]]] = {}
        """By iteration, to which attempt at a task answers and their ratings came, and how many."""
        for engine in group_engines(models) if self._has_kinds else ():
            if engine.kind == "vllm":
                names = [model.name for model in engine.models]
                session.progress.assign(names, engine.name, hosted=True)
        lanes = {self._lane(*each) for each in self._expected} or {_WHOLE}
        session.progress.expect({lane: self._left(lane) for lane in lanes})

    def waits(self, why: str) -> None:
        """Tell what is being waited for."""
        self._session.phase(why)

    def known(self, counts: Mapping[tuple[str, Kind], int]) -> None:
        """Count replies that need not be asked for, by model and kind."""
        self._known += sum(counts.values())
        self._count(counts)
        self._tell()

    def asked(self, came: Iterable[tuple[Address, str, Collection[Reply]]]) -> None:
        """Count replies that came now: to which step, and of which model."""
        done: dict[Lane, tuple[float, float]] = {}
        counts: Counter[tuple[str, Kind]] = Counter()
        every: list[Reply] = []
        for (iteration, attempt, kind), model, replies in came:
            lane = self._lane(model, kind)
            if self._has_kinds and kind in ("answer", "answer_rating"):
                self._follow(iteration, attempt, model, kind, len(replies))
            units, seconds = done.get(lane, (0.0, 0.0))
            done[lane] = units + len(replies), seconds + sum(it.seconds for it in replies)
            counts[model, kind] += len(replies)
            every += replies
        self._asked += len(every)
        self._session.progress.arrive(done)
        self._count(counts)
        self._tell()
        self._session.spend(
            prompt_tokens=sum(it.prompt_tokens for it in every),
            output_tokens=sum(it.output_tokens for it in every),
            errors=sum(it.finish == "error" for it in every),
        )

    def _follow(self, iteration: int, attempt: int, model: str, kind: Kind, replies: int) -> None:
        """Expect the answers of an iteration again where those to another task do not count."""
        before, counts = self._answered.get(iteration, (attempt, Counter()))
        if attempt != before:
            for each, count in counts.items():
                self._expected[each] += count
            counts = Counter()
        counts[model, kind] += replies
        self._answered[iteration] = attempt, counts

    def _lane(self, model: str, kind: Kind) -> Lane:
        if not self._has_kinds:
            return _WHOLE
        # Whatever is rated, a rating is as long: those of tasks come first and show the pace.
        return model, "rating" if kind in ("task_rating", "answer_rating") else kind

    def _left(self, lane: Lane) -> float:
        if not self._has_kinds:
            return max(0, self._least - self._known - self._asked)
        return sum(left for each, left in self._expected.items() if self._lane(*each) == lane)

    def _count(self, counts: Mapping[tuple[str, Kind], int]) -> None:
        for each, count in counts.items():  # tasks that are turned down take further tries
            if each in self._expected:
                self._expected[each] = max(0.0, self._expected[each] - count)
        left = {lane: self._left(lane) for lane in {self._lane(*each) for each in counts}}
        if not self._has_kinds and not any(left.values()):
            left[_FURTHER] = 1.0  # how many more there will be, nobody knows
        self._session.progress.expect(left)

    def _tell(self) -> None:
        # Where all iterations are under way at once, none is done for long.
        self._session.phase(
            Statement(
                "headway.replies",
                "{replies:,} replies of at least {least:,}",
                replies=self._known + self._asked,
                least=self._least,
            )
        )
