"""Weights come to nodes before a load needs their GPUs, in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from statements import code, codes
from virtual_time import until

from raybench.engines.scheduler.messages import (
    Device,
    EngineNeed,
    MemoryBudget,
    Node,
    WeightsFetched,
    WeightsMissing,
)
from raybench.engines.weight_fetcher import WeightFetcher
from raybench.errors import Problem

pytestmark = pytest.mark.virtual_time

FULL = Problem("resources.disk", "no room")
DOWN = Problem("hub.unreachable", "no network")
Download = tuple[str, str]


def node(name: str, *lacks: str, devices: int = 1, **labels: str) -> Node:
    made = tuple(Device(f"{name}/{number}", 80.0) for number in range(devices))
    return Node(name, made, labels=labels, lacks=frozenset(lacks))


def need(engine: str, weights: float = 10.0, **more: Any) -> EngineNeed:
    return EngineNeed(engine, MemoryBudget(weights), **more)


class Downloads:
    """Downloads that take 1 s each, or as long as a test says, and what became of them."""

    def __init__(self) -> None:
        self.seconds: dict[Download, float] = {}
        self.problems: dict[Download, list[Problem | None]] = {}
        """How each try of a download ends; the last one again and again."""
        self.began: list[Download] = []
        self.running: list[Download] = []
        self.most: dict[str, int] = {}
        """The most downloads of a node at a time."""
        self.notes: list[WeightsFetched | WeightsMissing] = []
        self.said: list[str] = []

    async def __call__(self, node: str, engine: str) -> Problem | None:
        self.began.append((node, engine))
        self.running.append((node, engine))
        there = sum(each == node for each, _ in self.running)
        self.most[node] = max(there, self.most.get(node, 0))
        try:
            await asyncio.sleep(self.seconds.get((node, engine), 1.0))
        finally:
            self.running.remove((node, engine))
        found = self.problems.get((node, engine), [None])
        return found.pop(0) if len(found) > 1 else found[0]

    @property
    def fetched(self) -> list[Download]:
        notes = (it for it in self.notes if isinstance(it, WeightsFetched))
        return [(it.node, it.engine) for it in notes]

    @property
    def missing(self) -> list[WeightsMissing]:
        return [it for it in self.notes if isinstance(it, WeightsMissing)]


@asynccontextmanager
async def fetching(
    needs: list[EngineNeed], *nodes: Node, **problems: Mapping[str, list[Problem | None]]
) -> AsyncIterator[tuple[WeightFetcher, Downloads]]:
    """Fetch to these nodes; problems are those of each node, by engine."""
    downloads = Downloads()
    for name, by_engine in problems.items():
        downloads.problems |= {(name, engine): each for engine, each in by_engine.items()}
    by_name = {each.engine: each for each in needs}
    fetcher = WeightFetcher(
        by_name, downloads, downloads.notes.append, downloads.said.append, 100.0
    )
    fetcher.add(nodes)
    await asyncio.sleep(0)
    try:
        yield fetcher, downloads
    finally:
        await fetcher.close()
        assert downloads.running == []


async def test_each_engine_comes_to_one_node_before_any_comes_to_two() -> None:
    needs = [need("small", 1.0), need("large", 30.0), need("judge", 2.0, is_referee=True)]
    names = [each.engine for each in needs]
    async with fetching(needs, node("a", *names), node("b", *names)) as (_, downloads):
        await until(lambda: len(downloads.notes) == 6)
        assert downloads.began[:2] == [("a", "judge"), ("b", "large")]
        assert {engine for _, engine in downloads.began[:3]} == {*names}
        assert {*downloads.began} == {(each, name) for each in "ab" for name in names}
        assert len(downloads.began) == 6
        assert downloads.most == {"a": 1, "b": 1}


async def test_weights_that_are_here_are_not_fetched() -> None:
    async with fetching([need("e"), need("f")], node("a", "f"), node("b")) as (_, downloads):
        await until(lambda: bool(downloads.notes))
        await asyncio.sleep(100)
        assert downloads.began == [("a", "f")]


async def test_nodes_that_cannot_run_an_engine_do_not_get_its_weights() -> None:
    needs = [
        need("labelled", on={"kind": "x"}), need("two", devices=2), need("large", 90.0), need("any")
    ]  # fmt: skip
    names = [each.engine for each in needs]
    async with fetching(needs, node("a", *names), node("b", *names, devices=2, kind="x")) as (
        _,
        downloads,
    ):
        await asyncio.sleep(100)
        assert {engine for each, engine in downloads.fetched if each == "a"} == {"any"}
        assert {engine for each, engine in downloads.fetched if each == "b"} == {
            "any", "labelled", "two"
        }  # fmt: skip


async def test_what_one_node_has_no_room_for_comes_to_another() -> None:
    names = ("e", "f")
    async with fetching(
        [need("e"), need("f")], node("a", *names), node("b", *names), a={"e": [FULL]}
    ) as (_, downloads):
        await asyncio.sleep(100)
        assert {*downloads.fetched} == {("a", "f"), ("b", "e"), ("b", "f")}
        assert downloads.began.count(("a", "e")) == 1
        assert downloads.missing == []
        assert "weights.not_on_node" in codes(downloads.said)


async def test_an_engine_fails_once_no_node_can_have_its_weights() -> None:
    async with fetching(
        [need("e")], node("a", "e"), node("b", "e"), a={"e": [FULL]}, b={"e": [FULL]}
    ) as (_, downloads):
        await until(lambda: bool(downloads.notes))
        (missing,) = downloads.missing
        assert (missing.engine, code(missing.reason)) == ("e", "weights.missing")
        assert FULL.text in missing.reason
        await asyncio.sleep(100)
        assert len(downloads.notes) == 1


async def test_an_engine_of_two_nodes_fails_where_only_one_gets_its_weights() -> None:
    spread = need("e", devices=2, nodes=2)
    async with fetching([spread], node("a", "e"), node("b", "e"), a={"e": [FULL]}) as (
        _,
        downloads,
    ):
        await until(lambda: len(downloads.notes) == 2)
        assert downloads.fetched == [("b", "e")]
        assert [each.engine for each in downloads.missing] == ["e"]


@pytest.mark.parametrize("tries", [2, 3])
async def test_a_hub_that_cannot_be_reached_is_asked_once_more(tries: int) -> None:
    problems: list[Problem | None] = [*[DOWN] * (tries - 1), None]
    async with fetching([need("e")], node("a", "e"), a={"e": problems}) as (_, downloads):
        await asyncio.sleep(50)
        assert len(downloads.began) == 2
        assert downloads.fetched == ([("a", "e")] if tries == 2 else [])


async def test_a_download_that_hangs_fails() -> None:
    async with fetching([need("e")]) as (fetcher, downloads):
        downloads.seconds["a", "e"] = 10_000.0
        fetcher.add([node("a", "e")])
        await asyncio.sleep(99)
        assert downloads.notes == []
        await asyncio.sleep(2)
        assert downloads.missing and downloads.running == []


async def test_a_node_that_comes_fetches_and_one_that_died_does_not() -> None:
    async with fetching([need("e"), need("f")], node("a", "e", "f")) as (fetcher, downloads):
        await asyncio.sleep(0.1)
        fetcher.keep(set())
        await asyncio.sleep(0.1)
        assert downloads.running == []
        fetcher.add([node("b", "e")])
        await until(lambda: bool(downloads.notes))
        assert downloads.fetched == [("b", "e")]
        fetcher.add([node("b", "f")])  # more of its devices have come
        await until(lambda: len(downloads.notes) == 2)
        assert downloads.fetched == [("b", "e"), ("b", "f")]


async def test_a_node_that_had_no_room_is_tried_again_when_the_one_that_had_it_dies() -> None:
    async with fetching([need("e")], node("a", "e"), node("b", "e"), a={"e": [FULL, None]}) as (
        fetcher,
        downloads,
    ):
        await asyncio.sleep(100)
        assert downloads.fetched == [("b", "e")]
        fetcher.keep({"a"})
        await until(lambda: len(downloads.notes) == 2)
        assert downloads.fetched == [("b", "e"), ("a", "e")]


async def test_more_devices_of_a_node_may_make_it_large_enough() -> None:
    async with fetching([need("e", devices=2)], node("a", "e")) as (fetcher, downloads):
        await asyncio.sleep(100)
        assert downloads.began == []
        other = replace(node("a", "e"), devices=(Device("a/other", 80.0),))
        fetcher.add([other])
        await until(lambda: bool(downloads.notes))
        assert downloads.fetched == [("a", "e")]
