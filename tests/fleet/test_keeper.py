"""The keeper applies the policy: with engines that are only noted down, in virtual time."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from statements import code
from virtual_time import loop, now, until

from raybench.config import FleetConf
from raybench.errors import Problem, RunFailed
from raybench.fleet import attendance, group_engines, keeper
from raybench.fleet.keeper import Keeper
from raybench.fleet.llm_config import Place
from raybench.fleet.places import Layout, Node
from raybench.fleet.reasons import NO_REASON
from raybench.fleet.turns import Demand, Device, Rules, State
from raybench.types import ModelSpec

pytestmark = pytest.mark.virtual_time

RULES = Rules(linger_s=0.0, host_gib=100.0)


class Noted(Keeper):
    """A keeper whose engines only exist in its notes."""

    def __init__(
        self,
        names: str,
        *,
        slots: int = 1,
        can_sleep: bool = False,
        rules: Rules = RULES,
        nodes: str = "",
    ) -> None:
        specs = group_engines([ModelSpec(name, "vllm", f"org/{name}") for name in names])
        self.engine = {spec.models[0].name: spec.name for spec in specs}
        self.model = {spec.name: spec.models[0].name for spec in specs}
        demands = tuple(Demand(spec.name, 1, can_sleep=can_sleep) for spec in specs)
        plan = Layout((Device("d", slots),), demands, None, rules)
        if nodes:
            devices = tuple(Device(f"{node}/cpu", slots, node) for node in nodes)
            places = {device.name: (device.node, "") for device in devices}
            plan = Layout(devices, demands, places, rules)
        super().__init__(specs, FleetConf(), plan, gpu=False, clock=now)
        self.did: list[str] = []
        self.up: set[str] = set()
        self.broken: dict[str, Exception] = {}
        self.changed: set[str] = set()
        """Models that are others after a wake."""
        self.at: Callable[[str], Awaitable[None]] | None = None

    async def _do(self, what: str, name: str) -> None:
        self.did.append(f"{what} {self.model[name]}")
        if self.at:
            await self.at(self.did[-1])
        if error := self.broken.get(self.did[-1]):
            raise error

    async def _load(self, name: str) -> None:
        assert name not in self.up
        await self._do("load", name)
        self.up.add(name)

    async def _unload(self, name: str) -> None:
        await self._do("unload", name)
        self.up.discard(name)

    async def _sleep(self, name: str, level: int) -> None:
        await self._do("sleep", name)

    async def _wake(self, name: str) -> bool:
        assert name in self.up
        await self._do("wake", name)
        return self.model[name] not in self.changed

    def _stop_all(self) -> None:
        self.did.append("stop")
        self.up.clear()

    async def ask(self, lease: str, work: int = 1, client: str = "me") -> str:
        """Lease the engine that the lease is named after: a1 for model a."""
        return await self.lease(client, lease, self.engine[lease[0]], work)

    def stands(self) -> dict[str, State]:
        return {model: self.status().states[name] for model, name in self.engine.items()}


async def settle() -> None:
    """Let everything happen that does not wait for a time to come: the clock stands until then."""
    await asyncio.sleep(0.001)


async def still(task: "asyncio.Task[str]") -> bool:
    await settle()
    return not task.done()


@pytest.fixture(autouse=True)
async def no_exception_goes_unseen() -> AsyncIterator[None]:
    seen: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: seen.append(context))
    yield
    await asyncio.sleep(0)
    assert seen == []


# --------------------------------------------------------------------------------------- leases


async def test_what_fits_is_loaded_before_anybody_asks() -> None:
    noted = Noted("abc", slots=2)
    await noted.start()
    await until(lambda: noted.did == ["load a", "load b"])
    assert await noted.ask("a1") == await noted.ask("b1") == ""
    assert noted.stands() == {"a": State.AWAKE, "b": State.AWAKE, "c": State.COLD}
    assert noted.status().swaps.count == 0


async def test_an_engine_leaves_for_another_when_its_work_is_done() -> None:
    noted = Noted("ab")
    assert await noted.ask("a1") == ""
    waits = asyncio.create_task(noted.ask("b1", work=7))
    assert await still(waits)
    assert noted.status().waiting == {noted.engine["b"]: 7}
    await noted.release("a1")
    assert await waits == ""
    assert noted.did == ["load a", "unload a", "load b"]
    assert noted.status().swaps.count == 1
    assert noted.status().waiting == {}


async def test_an_engine_that_lingers_leaves_when_time_has_passed_though_nothing_happens() -> None:
    noted = Noted("ab", rules=Rules(linger_s=30.0))
    await noted.ask("a1")
    waits = asyncio.create_task(noted.ask("b1"))
    await asyncio.sleep(0)
    await noted.release("a1")
    began = now()
    assert await waits == ""
    assert now() - began == pytest.approx(30.0)


async def test_impatience_is_kept_though_nothing_happens() -> None:
    noted = Noted("ab", rules=Rules(patience_s=600.0, linger_s=5000.0))
    await noted.ask("a1")
    await noted.release("a1")
    began = now()
    assert await noted.ask("b1") == ""
    assert 0 < now() - began <= 600.0


async def test_a_lease_given_back_while_it_waits_brings_nobody_in() -> None:
    noted = Noted("ab")
    await noted.ask("a1")
    waits = asyncio.create_task(noted.ask("b1"))
    assert await still(waits)
    await noted.release("b1")
    assert "given back" in await waits
    await noted.release("a1")
    await settle()
    assert noted.did == ["load a"]
    assert noted.status().waiting == {}


async def test_a_lease_given_back_before_it_was_asked_for_is_never_granted() -> None:
    noted = Noted("ab")
    await noted.release("a1")
    assert "given back" in await noted.ask("a1")
    assert await noted.ask("b1") == ""
    assert noted.did == ["load b"]


async def test_the_leases_of_a_silent_client_are_taken_back() -> None:
    noted = Noted("ab")
    await noted.ask("a1", client="dead")
    waits = asyncio.create_task(noted.ask("b1"))
    assert await still(waits)
    await noted.alive("me")
    assert await still(waits)
    loop().advance(keeper.CLIENT_SILENCE_S - 1)
    await noted.alive("me")
    assert await still(waits)
    loop().advance(2)
    await noted.alive("me")
    assert await waits == ""
    await noted.release("a1")  # the dead one was only slow: its lease is gone all the same
    assert noted.stands() == {"a": State.COLD, "b": State.AWAKE}


async def test_nothing_is_kept_of_leases_that_are_over() -> None:
    noted = Noted("ab")
    noted.broken["load b"] = RunFailed(Problem("model.weights", "broken"))
    for turn in range(3):
        for model in "ab":
            await noted.ask(f"{model}{turn}")
            await noted.release(f"{model}{turn}")
    assert not noted._owners
    assert not noted._answers
    assert not noted._early
    await until(lambda: not noted._tasks)


async def test_an_engine_that_nobody_knows_leaves_nothing_behind() -> None:
    noted = Noted("a")
    with pytest.raises(KeyError):
        await noted.lease("me", "x", "x", 1)
    assert not noted._answers


# --------------------------------------------------------------------------------------- faults


async def test_a_load_that_fails_refuses_who_waits_and_the_others_go_on() -> None:
    noted = Noted("ab")
    why = "engine a: no weights. Download them"
    noted.broken["load a"] = RunFailed(Problem("model.weights", why))
    first, second = asyncio.create_task(noted.ask("a1")), asyncio.create_task(noted.ask("a2"))
    await asyncio.sleep(0)
    assert await noted.ask("b1") == ""
    assert await first == await second == why
    assert await noted.ask("a3") == why
    assert noted.status().failures == {noted.engine["a"]: why}
    assert noted.did == ["load a", "unload a", "load b"]


async def test_an_error_without_words_is_named() -> None:
    noted = Noted("a")
    noted.broken["load a"] = KeyError()
    assert (await noted.ask("a1")).endswith(" a: KeyError")


async def test_a_failing_load_whose_remains_cannot_be_cleared_is_told_as_what_failed() -> None:
    noted = Noted("a")
    noted.broken |= {
        "load a": RunFailed(Problem("model.weights", "why")),
        "unload a": OSError("and that"),
    }
    assert await noted.ask("a1") == "why"


async def swap(noted: Noted, lease: str) -> str:
    reason = await noted.ask(lease)
    await noted.release(lease)
    return reason


async def test_who_can_sleep_sleeps_and_wakes() -> None:
    noted = Noted("ab", can_sleep=True)
    for lease in ("a1", "b1", "a2", "b2"):
        assert await swap(noted, lease) == ""
    assert noted.did == [
        *("load a", "sleep a", "load b", "sleep b", "wake a", "sleep a", "wake b"),
    ]


async def test_a_sleep_that_fails_is_a_stop_and_a_later_wake_a_load() -> None:
    noted = Noted("ab", can_sleep=True)
    noted.broken["sleep a"] = OSError("no")
    for lease in ("a1", "b1", "a2"):
        assert await swap(noted, lease) == ""
    assert noted.did == [
        *("load a", "sleep a", "unload a", "load b", "sleep b", "load a"),
    ]
    # Loaded anew, it is as good as any: nothing remembers that it was once stopped.
    noted.broken.clear()
    noted.did.clear()
    for lease in ("b2", "a3"):
        assert await swap(noted, lease) == ""
    assert noted.did == ["sleep a", "wake b", "sleep b", "wake a"]


async def test_a_wake_that_fails_is_a_stop_and_a_load() -> None:
    noted = Noted("ab", can_sleep=True)
    noted.broken["wake a"] = OSError("its replica died")
    for lease in ("a1", "b1", "a2"):
        assert await swap(noted, lease) == ""
    assert noted.did[-3:] == ["wake a", "unload a", "load a"]
    assert noted.status().failures == {}


async def test_an_engine_that_changed_in_its_sleep_is_loaded_again() -> None:
    noted = Noted("ab", can_sleep=True)
    noted.changed.add("a")
    for lease in ("a1", "b1", "a2"):
        assert await swap(noted, lease) == ""
    assert noted.did[-3:] == ["wake a", "unload a", "load a"]
    assert noted.status().failures == {}
    (said,) = noted.status().said
    assert code(said) == "engine.changed_in_sleep"


async def test_a_move_that_hangs_is_ended() -> None:
    async def hang(what: str) -> None:
        if what == "sleep a":
            await asyncio.Event().wait()

    noted = Noted("ab", can_sleep=True)
    noted.at = hang
    for lease in ("a1", "b1"):
        assert await swap(noted, lease) == ""
    assert noted.did[1:3] == ["sleep a", "unload a"]


# --------------------------------------------------------------------- what Serve says of a load


class Served(Noted):
    """Engines whose loads go as Serve says."""

    _load = Keeper._load

    def __init__(self, statuses: list[Any]) -> None:
        super().__init__("a")
        self.statuses = statuses
        self._conf = FleetConf(start_deadline_s=50)

    def _deploy(self, name: str) -> None:
        self.did.append("deploy a")


def application(status: str, message: str = "") -> Any:
    return SimpleNamespace(status=status, message=message, deployments={})


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (application("RUNNING"), "^$"),
        (application("DEPLOYING"), r" fleet\.start_deadline_s=50 s.*logs"),
        (
            application("DEPLOY_FAILED", "torch.OutOfMemoryError: CUDA out of memory."),
            r": torch\..*memory\.? ?\. Lower fleet\.max_model_len",
        ),
        (application("UNHEALTHY"), f": {NO_REASON}$"),
    ],
)
async def test_a_load_goes_as_serve_says(
    monkeypatch: pytest.MonkeyPatch, last: Any, reason: str
) -> None:
    served = Served([None, application("DEPLOYING"), last])

    def applications() -> dict[str, Any]:
        state = served.statuses.pop(0) if len(served.statuses) > 1 else served.statuses[0]
        return {} if state is None else dict.fromkeys(served.engine.values(), state)

    monkeypatch.setattr(keeper, "applications", applications)
    assert re.search(reason, await served.ask("a1"))
    assert served.did == ["deploy a"] + ["unload a"] * (last.status != "RUNNING")


# ----------------------------------------------------------------------------------------- stop


async def test_who_waits_is_turned_away_and_what_runs_goes_on() -> None:
    noted = Noted("ab")
    await noted.ask("a1")
    waits = asyncio.create_task(noted.ask("b1"))
    assert await still(waits)
    await noted.turn_away()
    assert "stopped" in await waits
    assert "stopped" in await noted.ask("a2")
    await noted.release("a1")
    await settle()
    assert noted.did == ["load a"]


async def test_stopped_it_starts_nothing_and_nobody_waits_for_ever() -> None:
    never = asyncio.Event()

    async def hang(what: str) -> None:
        if what == "load b":
            await never.wait()

    noted = Noted("ab")
    noted.at = hang
    await noted.ask("a1")
    waits = asyncio.create_task(noted.ask("b1"))
    await asyncio.sleep(0)
    await noted.release("a1")
    await until(lambda: "load b" in noted.did)
    await noted.stop()
    assert "stopped" in await waits
    assert "stopped" in await noted.ask("a2")
    await noted.release("b1")
    await settle()
    assert noted.did == ["load a", "unload a", "load b", "stop"]
    assert not noted._tasks


# ---------------------------------------------------------------------------- what people are shown


async def test_requests_are_counted_by_model_where_they_wait_and_where_they_run() -> None:
    noted = Noted("ab")
    engine = noted.engine
    assert await noted.lease("me", "a1", engine["a"], 5, "a-hot") == ""
    assert await noted.lease("me", "a2", engine["a"], 2, "a-cold") == ""
    waits = asyncio.create_task(noted.lease("me", "b1", engine["b"], 7, "b"))
    await until(lambda: noted.status().queued == {"b": 7})
    assert noted.status().running == {"a-hot": 5, "a-cold": 2}
    await noted.release("a1")
    assert noted.status().running == {"a-cold": 2}
    await noted.release("a2")
    assert await waits == ""
    assert (noted.status().queued, noted.status().running) == ({}, {"b": 7})
    await noted.release("b1")
    assert (noted.status().queued, noted.status().running) == ({}, {})


async def test_requests_that_are_given_up_or_refused_are_counted_no_more() -> None:
    noted = Noted("ab")
    assert await noted.ask("a1", work=1) == ""
    waits = asyncio.create_task(noted.ask("b1", work=4))
    await until(lambda: noted.status().queued == {noted.engine["b"]: 4})
    await noted.release("b1")
    await waits
    assert noted.status().queued == {}
    noted.broken["load b"] = RunFailed(Problem("model.weights", "no weights"))
    refused = asyncio.create_task(noted.ask("b2", work=4))
    await noted.release("a1")
    assert "no weights" in await refused
    await noted.release("b2")
    assert (noted.status().queued, noted.status().running) == ({}, {})


# ----------------------------------------------------------------------------- nodes that die


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The nodes that are there."""
    found = set("xy")
    monkeypatch.setattr(attendance, "_alive", lambda: {*found})
    monkeypatch.setattr(attendance, "may_come", lambda: False)
    return found


async def test_what_was_on_a_node_that_dies_comes_up_on_another(there: set[str]) -> None:
    noted = Noted("ab", nodes="xy", can_sleep=True)
    await noted.start()
    assert await noted.ask("a1") == await noted.ask("b1") == ""
    assert noted._place(noted.engine["a"]) == Place("x")
    there.discard("x")
    await until(lambda: "unload a" in noted.did)
    again = asyncio.create_task(noted.ask("a2"))
    assert await still(again)  # the other one is at work where it could be
    await noted.release("a1")
    await noted.release("b1")
    assert await again == ""
    assert noted._place(noted.engine["a"]) == Place("y")
    assert noted.did[2:] == ["unload a", "sleep b", "load a"]
    await noted.turn_away()


async def test_a_load_on_a_node_that_dies_is_given_up(there: set[str]) -> None:
    noted = Noted("a", nodes="xy")
    tried: list[str] = []

    async def at(what: str) -> None:
        tried.append(what)
        if tried == ["load a"]:
            await asyncio.Event().wait()

    noted.at = at
    await noted.start()
    waits = asyncio.create_task(noted.ask("a1"))
    await until(lambda: tried == ["load a"])
    there.discard("x")
    assert await waits == ""
    assert tried == ["load a", "unload a", "load a"]
    await noted.turn_away()


async def test_where_every_node_dies_who_waits_is_told(there: set[str]) -> None:
    noted = Noted("a", nodes="xy")
    await noted.start()
    await noted.ask("a1")
    there.clear()
    await until(lambda: "unload a" in noted.did)
    assert code(await noted.ask("a2")) == "engine.no_node"
    await noted.turn_away()


async def test_who_has_no_node_any_more_comes_up_on_one_that_comes(
    there: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def come(lacking: Callable[[], int], *given: object, **more: object) -> None:
        while lacking():
            await asyncio.sleep(0.001)

    monkeypatch.setattr(attendance, "may_come", lambda: True)
    monkeypatch.setattr(attendance, "come", come)
    monkeypatch.setattr(
        attendance, "nodes", lambda conf, *, gpu, only: [Node(it, 1.0) for it in only]
    )
    noted = Noted("a", nodes="xy")
    await noted.start()
    assert await noted.ask("a1") == ""
    there.clear()
    await until(lambda: "unload a" in noted.did)
    await noted.release("a1")
    waits = asyncio.create_task(noted.ask("a2"))
    assert await still(waits)
    there.add("z")
    assert await waits == ""
    assert noted._place(noted.engine["a"]) == Place("z")
    await noted.turn_away()
