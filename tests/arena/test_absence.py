"""One of those whom matches need is gone, in the middle of a tournament, and the others go on."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from arena.playing import fleet_of, here, house, models, schedule, timeless
from refusals import refused
from virtual_time import now

from raybench import sandbox
from raybench.arena.absence import SUSPECT, Absence
from raybench.arena.pool import Lines, Pool, Unplayed
from raybench.arena.room import House, Room
from raybench.arena.rooms import Rooms
from raybench.arena.seats import Seats
from raybench.errors import Problem, RunFailed
from raybench.fleet import Fleet
from raybench.fleet.simulated import SimulatedEngine
from raybench.sandbox import SandboxFaultError
from raybench.tournament import records
from raybench.tournament.fixtures import Fixture
from raybench.tournament.schedule import Schedule
from raybench.tournament.stopping import Budget, Stop
from raybench.types import Completion, ModelSpec, Request

pytestmark = pytest.mark.virtual_time

BOTH = {"debate": 2, "liars_dice": 2}
SPECS = [*models(), ModelSpec("x", "simulated", ""), ModelSpec("y", "simulated", "")]
JURY = house(jurors=("x", "y"), rules={"debate": {"rebuttals": 0}})


class Down(SimulatedEngine):
    """Has no reply of some models while it `is_down`; what asks for a schema is a jury's."""

    def __init__(self, is_down: Callable[[str, Request], bool]) -> None:
        super().__init__()
        self.is_down = is_down
        self.asked: Counter[str] = Counter()

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        self.asked[model.name] += len(requests)
        replies = await super().complete(model, requests)
        return [
            Completion.failed("connection refused") if self.is_down(model.name, request) else reply
            for request, reply in zip(requests, replies, strict=True)
        ]


class Session:
    """One session of a tournament; its journals are those of the sessions before it."""

    def __init__(self, earlier: "Session | None" = None) -> None:
        self.lines: list[dict[str, Any]] = [*earlier.lines] if earlier else []
        self.records: list[dict[str, Any]] = [*earlier.records] if earlier else []
        self.said: list[str] = []
        self.phases: list[str] = []

    async def play(
        self,
        rooms: Rooms,
        of: House,
        games: dict[str, int],
        matches: int,
        way: str = "random",
        *,
        at_once: int = 6,
        patience_s: float | None = 0.0,
    ) -> None:
        done = {it["match"]: records.kept(it) for it in self.records}
        unfinished: dict[int, records.Unfinished] = {}
        for line in self.lines:
            if line["match"] not in done:
                records.enter(unfinished, line)
        begun = {number: it.fixture for number, it in (done | unfinished).items()}
        plan = schedule(games, matches, way)
        plan = Schedule(plan.pairing, plan.stop, begun)
        for number, match in done.items():
            plan.done(number, match.result)

        async def keep(lines: Lines) -> None:
            self.lines += [dict(it) for it in lines]

        pool = Pool(
            plan, rooms, of, at_once=at_once, replays=2, keep=keep, unfinished=unfinished,
            replied={model for it in done.values() for model in it.fixture.seats},
            say=self.said.append, phase=self.phases.append, patience_s=patience_s, clock=now,
        )  # fmt: skip
        async with aclosing(pool.matches()) as ended:
            async for some in ended:
                self.records += some

    @property
    def void(self) -> list[dict[str, Any]]:
        return [it for it in self.records if it["void"] is not None]

    def ended(self, game: str) -> list[dict[str, Any]]:
        return [it for it in self.records if it["game"] == game]


def by_number(session: Session) -> list[dict[str, Any]]:
    """All but how often a match was begun: that is what the outage has changed."""
    found = sorted(timeless(session.records), key=lambda it: int(it["match"]))
    return [{key: it[key] for key in ("match", "game", "seed", "seats", "void")} for it in found]


def jury(model: str, request: Request) -> bool:
    return request.json_schema is not None


def nobody(model: str, request: Request) -> bool:
    return False


@pytest.mark.parametrize("down", [jury, lambda model, _: model in "xy"], ids=["schemas", "models"])
async def test_where_no_juror_replies_debates_wait_and_all_else_is_played(
    down: Callable[[str, Request], bool],
) -> None:
    """Also where the same models reply as players, but not to what jurors are asked."""
    first = Session()
    with refused("model.unreachable", kind=RunFailed) as caught:
        await first.play(here(fleet_of(Down(down), SPECS), JURY), JURY, BOTH, 80)
    for named in ("jury with x", "(x, y)", "connection refused", "40 matches"):
        assert named in str(caught.value)
    assert [it for it in first.said if "jury with x" in it]
    assert len(first.ended("liars_dice")) == 40 and not first.ended("debate")
    begun = {it["match"] for it in first.lines if "seats" in it and it["game"] == "debate"}
    assert 10 <= len(begun) <= 16, "what could not be judged was not begun"

    again = Session(first)
    await again.play(here(fleet_of(Down(nobody), SPECS), JURY), JURY, BOTH, 80)
    assert [it["match"] for it in by_number(again)] == [*range(1, 81)]
    assert not again.void


async def test_a_debate_that_waited_is_judged_and_not_spoken_again() -> None:
    first = Session()
    with pytest.raises(RunFailed):
        await first.play(here(fleet_of(Down(jury), SPECS), JURY), JURY, BOTH, 80)
    begun = {it["match"] for it in first.lines if "seats" in it and it["game"] == "debate"}
    again = Session(first)
    await again.play(here(fleet_of(Down(nobody), SPECS), JURY), JURY, BOTH, 80)
    before = Counter(it["match"] for it in first.lines if "role" in it)
    after = Counter(it["match"] for it in again.lines if "role" in it)
    more = {after[number] - before[number] for number in begun}
    assert more == {0}, "the speeches are kept: only votes were wanting"


async def test_where_the_sandbox_fails_its_games_wait_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise SandboxFaultError(Problem("sandbox.failed", "no processes left"))

    async def fleet() -> Fleet:
        return fleet_of(SimulatedEngine(), SPECS)

    games = {"pyjail": 2, "liars_dice": 2}
    of, first = house(), Session()
    monkeypatch.setattr(sandbox, "run", fails)
    room = Room(fleet, of)
    with refused("model.unreachable", kind=RunFailed) as caught:
        await first.play(Seats([room]), of, games, 60)
    await room.close()  # a thread that is about to call the sandbox would call the real one later
    assert str(caught.value).startswith("the sandbox (")
    assert len(first.ended("liars_dice")) == 30 and not first.ended("pyjail")


async def test_where_one_player_is_gone_the_others_go_on_and_its_matches_are_kept() -> None:
    engine = Down(nobody)
    engine.is_down = lambda model, _: model == "c" and engine.asked["c"] > 20
    of, first, dice = house(), Session(), {"liars_dice": 2}
    with refused("model.unreachable", kind=RunFailed) as caught:
        await first.play(here(fleet_of(engine, SPECS), of), of, dice, 120)
    assert str(caught.value).startswith("c (") and "connection refused" in str(caught.value)
    assert not first.void, "nothing of an outage is told"
    assert any("c" in it["seats"].values() for it in first.records)
    without = [it for it in first.records if "c" not in it["seats"].values()]
    assert len(without) == 60, "all that can be played without it"

    again = Session(first)
    await again.play(here(fleet_of(SimulatedEngine(), SPECS), of), of, dice, 120)
    whole = Session()
    await whole.play(here(fleet_of(SimulatedEngine(), SPECS), of), of, dice, 120)
    assert by_number(again) == by_number(whole)


async def test_a_draw_that_needs_results_waits_for_those_of_who_is_gone() -> None:
    engine = Down(nobody)
    engine.is_down = lambda model, _: model == "c" and engine.asked["c"] > 20
    of, first, dice = house(), Session(), {"liars_dice": 2}
    with refused("model.unreachable", kind=RunFailed) as caught:
        await first.play(here(fleet_of(engine, SPECS), of), of, dice, 400, "swiss")
    assert str(caught.value).startswith("c (")
    assert len(first.void) < SUSPECT
    again = Session(first)
    await again.play(here(fleet_of(SimulatedEngine(), SPECS), of), of, dice, 400, "swiss")
    assert [it["match"] for it in by_number(again)] == [*range(1, 401)]
    assert again.void == first.void


async def test_who_comes_back_plays_what_waited() -> None:
    """It is asked again by a match now and then, and what had to wait is played, each once."""
    # However fast the machine is, it is back long before all others have played.
    engine = Down(
        lambda model, _: model == "c" and engine.asked["c"] > 20 and engine.asked.total() < 800
    )
    of, session, dice = house(), Session(), {"liars_dice": 2}
    specs = [*models(latency_s=10.0)]
    await session.play(here(fleet_of(engine, specs), of), of, dice, 700)
    assert [it["match"] for it in by_number(session)] == [*range(1, 701)]
    assert not session.void
    gone, back = session.said
    assert gone.startswith("c cannot") and back.startswith("c replies")
    missed = sum(it["attempt"] > 0 for it in session.records)
    assert 10 <= missed <= 40, "most matches that needed it waited and were not tried"


async def test_who_comes_back_when_all_else_is_played_is_still_waited_for() -> None:
    """It is asked again though nobody else plays any more."""
    engine, of, session = Down(nobody), house(), Session()
    engine.is_down = lambda model, _: (
        model == "c" and engine.asked["c"] > 20 and not any("Waiting" in it for it in session.said)
    )
    await session.play(
        here(fleet_of(engine, SPECS), of), of, {"liars_dice": 2}, 60, patience_s=None
    )
    assert [it["match"] for it in by_number(session)] == [*range(1, 61)]
    assert not session.void
    gone, waiting, back = session.said
    assert gone.startswith("c cannot") and back.startswith("c replies")
    assert " c, " in waiting and "(games.patience_s)" in waiting
    assert " c, " in session.phases[0] and session.phases[-1] == "playing"


@pytest.mark.parametrize("lost", [(2,), (10, 11)])
async def test_what_was_lost_while_somebody_was_gone_is_forgiven(lost: tuple[int, ...]) -> None:
    """A match that was begun anew as often as it may be is so once more when they are back.

    The second request is of the match that found out.
    """
    engine, of, session = Down(nobody), house(at_once=1), Session()
    since = list[str]()

    def is_down(model: str, request: Request) -> bool:
        if model != "c" or engine.asked["c"] <= 20:
            return False
        if not any("Waiting" in it for it in session.said):
            return True
        since.append(model)
        return len(since) in lost

    engine.is_down = is_down
    await session.play(
        here(fleet_of(engine, SPECS), of), of, {"liars_dice": 2}, 60, patience_s=None
    )
    assert [it["match"] for it in by_number(session)] == [*range(1, 61)]
    assert not session.void
    assert max(it["attempt"] for it in session.records) == 3


class Hanging(Down):
    """Fails for a while, and then keeps whoever asks it waiting."""

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        replies = await super().complete(model, requests)
        if model.name == "c" and self.asked["c"] > 60:
            await asyncio.Event().wait()
        return replies


@pytest.mark.parametrize("kind", [Down, Hanging])
@pytest.mark.timeout(120)
async def test_who_never_comes_back_is_waited_for_as_long_as_is_wanted(
    kind: type[Down],
) -> None:
    """However long each of its failures takes."""
    engine, of, first, dice = kind(nobody), house(), Session(), {"liars_dice": 2}
    engine.is_down = lambda model, _: model == "c" and engine.asked["c"] > 20
    with refused("model.unreachable", kind=Unplayed) as caught:
        await first.play(here(fleet_of(engine, SPECS), of), of, dice, 120, patience_s=3000)
    assert str(caught.value).startswith("c (") and "connection refused" in str(caught.value)
    without = [it for it in first.records if "c" not in it["seats"].values()]
    assert len(without) == 60, "all that can be played without it"
    assert not first.void
    assert " c, 3000 s " in first.said[-1] and "(games.patience_s)" in first.said[-1]
    assert " c, 0 s " in first.phases[-1]

    again = Session(first)
    await again.play(here(fleet_of(SimulatedEngine(), SPECS), of), of, dice, 120)
    whole = Session()
    await whole.play(here(fleet_of(SimulatedEngine(), SPECS), of), of, dice, 120)
    assert by_number(again) == by_number(whole)


async def test_broken_matches_of_who_replies_in_between_are_told_as_void() -> None:
    """However many: three lost replies, then one, is no outage."""
    engine = Down(lambda model, request: model == "c" and engine.asked["c"] % 5 < 4)
    of, session = house(at_once=1), Session()
    await session.play(here(fleet_of(engine, SPECS), of), of, {"liars_dice": 2}, 60)
    assert len(session.void) >= 10 and not session.said
    assert {it["missing"] for it in session.void} == {"c"}
    assert [it["match"] for it in by_number(session)] == [*range(1, 61)]


async def test_an_outage_of_all_in_the_middle_ends_at_once() -> None:
    engine = Down(lambda model, request: engine.asked.total() > 60)
    of, first = house(), Session()
    with refused("model.unreachable", kind=RunFailed) as caught:
        await first.play(here(fleet_of(engine, SPECS), of), of, {"liars_dice": 2}, 500)
    assert str(caught.value).startswith("10 ")
    assert 0 < len(first.records) < 40 and not first.void
    again = Session(first)
    await again.play(here(fleet_of(SimulatedEngine(), SPECS), of), of, {"liars_dice": 2}, 500)
    assert [it["match"] for it in by_number(again)] == [*range(1, 501)] and not again.void


@pytest.mark.parametrize("heard", [0, 20])
async def test_who_fails_at_once_is_no_outage_of_those_who_take_their_time(heard: int) -> None:
    """Dozens of its matches are void before anybody else has replied."""
    engine = Down(nobody)
    engine.is_down = lambda model, _: model == "c" and engine.asked["c"] > heard
    of, session, dice = house(at_once=60), Session(), {"liars_dice": 2}
    specs = [
        replace(it, options={**it.options, "latency_s": 0.0 if it.name == "c" else 0.3})
        for it in models()
    ]
    rooms = here(fleet_of(engine, specs), of)
    if heard:
        with refused("model.unreachable", kind=RunFailed) as caught:
            await session.play(rooms, of, dice, 160, at_once=70)
        assert str(caught.value).startswith("c (")
        assert len(session.ended("liars_dice")) >= 80 and not session.void
    else:
        await session.play(rooms, of, dice, 160, at_once=70)
        assert len(session.void) == 80 and len(session.records) == 160


async def test_who_has_never_replied_is_not_waited_for() -> None:
    engine = Down(lambda model, request: model == "c")
    of, session = house(), Session()
    await session.play(here(fleet_of(engine, SPECS), of), of, {"liars_dice": 2}, 80)
    assert len(session.void) == 40 and len(session.records) == 80


async def test_who_has_never_replied_and_fails_last_ends_no_run() -> None:
    """All its matches are void after the last reply of the others: that is no outage of theirs."""
    engine = Down(lambda model, request: model == "c")
    of, session = house(at_once=60), Session()
    specs = [
        replace(it, options={**it.options, "latency_s": 0.15 if it.name == "c" else 0.0})
        for it in models()
    ]
    rooms = here(fleet_of(engine, specs), of)
    await session.play(rooms, of, {"liars_dice": 2}, 160, at_once=70)
    assert [it["match"] for it in by_number(session)] == [*range(1, 161)]
    assert {it["missing"] for it in session.void} == {"c"}


@pytest.mark.parametrize("returns", [True, False])
async def test_nothing_new_begins_when_a_budget_is_spent_during_an_absence(returns: bool) -> None:
    engine = Down(nobody)
    engine.is_down = lambda model, _: (
        model == "c" and engine.asked["c"] > 20 and not (returns and engine.asked.total() > 640)
    )
    of, begun = house(), list[float]()

    def spent() -> float:
        return float(engine.asked.total())

    async def keep(lines: Lines) -> None:
        begun.extend(spent() for line in lines if "seats" in line)

    plan = Schedule(
        schedule({"liars_dice": 2}, 700).pairing,
        Stop(matches=700, budgets=(Budget(700, "calls", spent),)),
    )
    rooms = here(fleet_of(engine, models(latency_s=10.0)), of)
    pool = Pool(plan, rooms, of, at_once=6, replays=2, keep=keep, replied={*"abcd"}, clock=now)
    ended = 0
    try:
        async with aclosing(pool.matches()) as stream:
            async for some in stream:
                ended += len(some)
    except RunFailed as error:
        assert not returns and error.code == "model.unreachable"
    assert ended > 100 and " calls of 700 " in plan.stopped
    assert sum(it >= 700 for it in begun) <= 6, "what was under way, and nothing new"


def test_who_is_asked_again_is_asked_by_a_match_that_tells_of_it() -> None:
    time = [0.0]
    found = Absence((), {*"abcd"}, lambda: time[0])

    def missed(number: int, *seats: str, by: str) -> None:
        fixture = Fixture("liars_dice", seats, number)
        record = {"match": number, "game": "liars_dice", "seed": number, "void": "no reply"}
        found.missed(fixture, record | {"seats": dict(enumerate(seats)), "missing": by})

    for number in range(10):
        missed(number, "c", "d", by="c")
    missed(10, "c", "a", by="c")
    for number in range(11, 21):
        missed(number, "d", "b", by="d")
    assert [*found.again()] == []
    time[0] += 60.0
    assert [*found.again()] == [10, 11]


async def test_a_jury_that_cannot_be_read_is_not_asked_once_more_for_each_kill() -> None:
    class Mumbling(SimulatedEngine):
        async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
            replies = await super().complete(model, requests)
            return [
                replace(reply, text="hm") if request.json_schema is not None else reply
                for request, reply in zip(requests, replies, strict=True)
            ]

    rooms = here(fleet_of(Mumbling(), SPECS), JURY)
    first = Session()
    await first.play(rooms, JURY, {"debate": 2}, 1)
    assert [it["attempt"] for it in first.records] == [2]
    killed = Session()
    killed.lines = [*first.lines]  # it was killed before the record
    await killed.play(rooms, JURY, {"debate": 2}, 1)
    assert [(it["attempt"], len(it["given_up"])) for it in killed.records] == [(2, 2)]
    assert killed.void == killed.records
