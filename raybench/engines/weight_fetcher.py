"""Brings the weights of engines to the nodes that may run them, before a load needs their GPUs.

A node fetches the weights of one engine at a time. It begins with those that the fewest nodes have:
each engine is on one node before any is on two.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from raybench.config.labels import chosen
from raybench.engines.scheduler.messages import (
    EngineNeed,
    Node,
    WeightsFetched,
    WeightsMissing,
)
from raybench.errors import Problem
from raybench.statements import Statement

_TRIES = 2
_AGAIN_S = 30.0
_TRANSIENT = "hub.unreachable"


class Fetch(Protocol):
    """What fetches to a node. Cancelled, it leaves the rest."""

    async def __call__(self, node: str, engine: str) -> Problem | None:
        """Fetch the weights of an engine; return why they are not there, if so."""
        ...


class WeightFetcher:
    """The downloads of all nodes, one after the other on each of them."""

    def __init__(
        self,
        needs: Mapping[str, EngineNeed],
        fetch: Fetch,
        note: Callable[[WeightsFetched | WeightsMissing], None],
        say: Callable[[str], None],
        deadline_s: float,
        address: Callable[[str], str] = str,
    ) -> None:
        """Begin with no nodes.

        note: takes in what became of downloads. A download that takes longer than the deadline has
        failed. People know a node by its address.
        """
        # As the scheduler preloads them: referees first, then the largest.
        by_size = sorted(needs.values(), key=lambda it: (not it.is_referee, -it.memory.total))
        self._needs = {need.engine: need for need in by_size}
        self._fetch = fetch
        self._note = note
        self._say = say
        self._deadline_s = deadline_s
        self._address = address
        self._lacks: dict[str, set[str]] = {}
        """By node, the engines that it may run and whose weights it does not have."""
        self._tries = Counter[tuple[str, str]]()
        """How often a download, given by node and engine, has failed."""
        self._given_up: dict[tuple[str, str], Problem] = {}
        """Why those failed that are not tried again."""
        self._nodes: dict[str, Node] = {}
        self._fetching: dict[str, str] = {}
        """The engine whose weights a node fetches now."""
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def add(self, nodes: Sequence[Node]) -> None:
        """Begin to fetch what these nodes lack."""
        for node in nodes:
            before = self._nodes.get(node.name, node)
            devices = tuple(dict.fromkeys((*before.devices, *node.devices)))
            self._nodes[node.name] = node = replace(node, devices=devices)
            self._lacks[node.name] = {
                name for name in node.lacks if _may_run(node, self._needs[name])
            }
            self._begin(node.name)

    def _begin(self, node: str) -> None:
        if node not in self._tasks or self._tasks[node].done():
            self._tasks[node] = asyncio.create_task(self._fetch_all(node))

    def keep(self, names: set[str]) -> None:
        """Forget all nodes but these; where no other will have an engine's weights, try again."""
        for name in [name for name in self._tasks if name not in names]:
            self._tasks.pop(name).cancel()
            for by_node in (self._nodes, self._lacks, self._fetching):
                by_node.pop(name, None)
            self._forget_failures([key for key in self._given_up if key[0] == name])
        for engine in filter(self._has_failed, self._needs):
            keys = [key for key in self._given_up if key[1] == engine]
            self._forget_failures(keys)
            for name, _ in keys:
                self._begin(name)

    def _forget_failures(self, keys: Iterable[tuple[str, str]]) -> None:
        for key in keys:
            self._given_up.pop(key, None)
            self._tries.pop(key, None)

    async def close(self) -> None:
        """End all downloads."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch_all(self, node: str) -> None:
        while (engine := self._choose(node)) is not None:
            if self._tries[node, engine]:
                await asyncio.sleep(_AGAIN_S)
            self._fetching[node] = engine
            if not self._count(engine):
                self._say(
                    Statement(
                        "weights.fetching",
                        "node {node} fetches the weights of {engine}",
                        node=self._address(node),
                        engine=engine,
                    )
                )
            problem = await self._fetch_one(node, engine)
            del self._fetching[node]
            if problem is None:
                self._lacks[node].discard(engine)
                self._note(WeightsFetched(engine, node))
            else:
                self._tries[node, engine] += 1
                if problem.code == _TRANSIENT and self._tries[node, engine] < _TRIES:
                    continue
                self._given_up[node, engine] = problem
            self._tell_failure(engine, node, problem)

    async def _fetch_one(self, node: str, engine: str) -> Problem | None:
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._fetch(node, engine)
        except TimeoutError:
            return Problem(
                "model.weights",
                f"the weights were not there after fleet.start_deadline_s={self._deadline_s:g} s",
                setting="fleet.start_deadline_s",
                given=self._deadline_s,
                fix="Give it more time, or fetch them before: python -m raybench.prefetch",
            )
        except Exception as error:  # of Ray or the node: others may do better
            return Problem("model.weights", str(error) or type(error).__name__)

    def _choose(self, node: str) -> str | None:
        """Return whose weights a node fetches next: those that the fewest nodes have."""
        left = [it for it in self._lacks[node] if (node, it) not in self._given_up]
        order = [*self._needs]
        return min(
            left,
            key=lambda it: (self._tries[node, it], self._spare_copies(it), order.index(it)),
            default=None,
        )

    def _spare_copies(self, engine: str) -> int:
        """Return how many nodes more than an engine takes have its weights, or fetch them."""
        copies = self._count(engine) + sum(it == engine for it in self._fetching.values())
        return max(0, copies - self._needs[engine].nodes + 1)

    def _count(self, engine: str) -> int:
        """Return how many nodes that may run an engine have its weights."""
        need = self._needs[engine]
        return sum(
            engine not in self._lacks[name] and _may_run(node, need)
            for name, node in self._nodes.items()
        )

    def _has_failed(self, engine: str) -> bool:
        """Tell whether too few nodes have the weights of an engine, and none tries any more."""
        tries = any(
            engine in lacks and (node, engine) not in self._given_up
            for node, lacks in self._lacks.items()
        )
        return not tries and self._count(engine) < self._needs[engine].nodes

    def _tell_failure(self, engine: str, node: str, problem: Problem | None) -> None:
        """Tell that an engine is not available, at all or on a node, after a download ended."""
        if self._has_failed(engine):
            failures = (it for (_, name), it in self._given_up.items() if name == engine)
            reason = Statement(
                "weights.missing",
                "the weights of {engine} could not be fetched: {problem}",
                engine=engine,
                problem=next(failures).text,
            )
            self._note(WeightsMissing(engine, reason))
        elif problem is not None:
            self._say(
                Statement(
                    "weights.not_on_node",
                    "node {node} cannot run {engine}: {problem}",
                    node=self._address(node),
                    engine=engine,
                    problem=problem.text,
                )
            )


def _may_run(node: Node, need: EngineNeed) -> bool:
    """Tell whether a node can hold an engine, or a stage of one that is spread over nodes."""
    large = sum(device.memory_gib >= need.memory.weights for device in node.devices)
    return chosen(node.labels, need.on) and large >= -(-need.devices // need.nodes)
