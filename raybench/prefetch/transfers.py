"""Fetching and checking: two downloads at once, here or on each node of a cluster."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from raybench.benchmarks import Source
from raybench.config import FleetConf
from raybench.errors import Problem, RaybenchError, RunFailed
from raybench.fleet import downloads
from raybench.fleet.downloads import Download, Outcome
from raybench.pipeline import hanging, hub_files
from raybench.prefetch.needs import Needs
from raybench.statements import Statement
from raybench.tracking import console

T = TypeVar("T")

_AT_ONCE = 2
"""Downloads on one machine at the same time."""
_EVERY_S = 30.0
"""Between reports on a download."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Files of a model repository, on this machine or on a node of the cluster."""

    models: tuple[str, ...]
    download: Download
    outcome: Outcome
    node: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "models": list(self.models),
            "repository": self.download.repository,
            "revision": self.download.revision,
            "setting": self.download.setting,
            "gib": round(self.outcome.gib, 3) or None,
            "state": self.outcome.state,
            "missing": list(self.outcome.files),
            **({} if self.node is None else {"node": self.node}),
        }


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """A file of questions, or one that goes with them."""

    benchmark: str
    source: Source
    file: str
    outcome: Outcome

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "benchmark": self.benchmark,
            "repository": self.source.repo,
            "revision": self.source.revision,
            "file": self.file,
            "state": self.outcome.state,
        }


@dataclass
class Contact:
    """Fetches from the hub. One that has never answered is not asked again."""

    answered: bool = False
    silent: bool = False

    def outcome(self, check: Callable[[], Outcome], fetch: Callable[[], Outcome]) -> Outcome:
        """Return the outcome of a fetch; if it is not tried, of a check without a problem."""
        if self.silent and not self.answered:
            return replace(check(), problem=None)
        outcome = fetch()
        unreachable = outcome.problem is not None and outcome.problem.code == "hub.unreachable"
        self.silent |= unreachable
        self.answered |= outcome.state != "here" and not unreachable
        return outcome


def fetch_questions(needs: Needs, hub: Contact | None) -> list[QuestionFile]:
    """Fetch files of questions; without a hub only check."""

    def done(benchmark: str, source: Source, file: str) -> QuestionFile:
        outcome = Outcome("here" if hub_files.is_here(source, file) else "missing")
        if hub is not None and outcome.state == "missing":
            outcome = hub.outcome(lambda: outcome, partial(_questions_outcome, source, file))
        return QuestionFile(benchmark, source, file, outcome)

    return _two_at_once([partial(done, *each) for each in needs.questions])


def _questions_outcome(source: Source, file: str) -> Outcome:
    _say_fetching(f"{source.repo}/{file}")
    try:
        hub_files.check_access(source, file)
        hub_files.fetch(source, file)
    except RaybenchError as error:
        return Outcome("missing", problem=error.problems[0])
    return Outcome("fetched")


def fetch_weights(needs: Needs, hub: Contact | None) -> list[Weights]:
    """Fetch weights; without a hub only check."""

    def done(download: Download, models: tuple[str, ...]) -> Weights:
        check = partial(downloads.check, download)
        outcome = hub.outcome(check, partial(_weights_outcome, download)) if hub else check()
        return Weights(models, download, outcome)

    return _two_at_once([partial(done, *each) for each in needs.weights.items()])


def _weights_outcome(download: Download) -> Outcome:
    began = time.monotonic()
    if downloads.check(download).state == "missing":  # others are only looked up
        _say_fetching(download.name)
    with _progress(download):
        outcome = downloads.fetch(download)
    _say_fetched(download.name, outcome, time.monotonic() - began)
    return outcome


async def fetch_on_nodes(needs: Needs, conf: FleetConf, *, check: bool) -> list[Weights]:
    """Fetch or check on every node on which engines may run."""
    from raybench.fleet.cluster import cluster, nodes, on_gpus

    async with cluster(conf, console.say):
        gpu = on_gpus(conf)
        names = [it.id for it in nodes(conf, gpu=gpu) if it.gpus_gib or not gpu]
        if not names:
            raise RunFailed(no_node(conf))
        work = downloads.check_on if check else downloads.fetch_on
        at_once = {name: asyncio.Semaphore(_AT_ONCE) for name in names}

        async def done(node: str, download: Download, models: tuple[str, ...]) -> Weights:
            async with at_once[node]:
                address = downloads.address_of(node)
                began, where = time.monotonic(), f"{download.name} on node {address}"
                if not check:
                    _say_fetching(where)
                outcome = await work(node, download)
                if problem := outcome.problem:
                    outcome = replace(outcome, problem=problem.prefixed(f"node {address}: "))
                if not check:
                    _say_fetched(where, outcome, time.monotonic() - began)
                return Weights(models, download, outcome, node)

        return await asyncio.gather(
            *(done(node, *each) for each in needs.weights.items() for node in names)
        )


def no_node(conf: FleetConf) -> Problem:
    """Return the problem of a cluster without a node for engines."""
    return Problem(
        "resources.nodes",
        "the cluster has no node on which engines may run",
        setting="fleet.nodes",
        given=dict(conf.nodes),
        fix="Look at `ray status`, then change fleet.nodes or fleet.device",
    )


def _two_at_once(jobs: Sequence[Callable[[], T]]) -> list[T]:
    """Do jobs in two threads and return what they return, in order."""
    waiting = queue.SimpleQueue[tuple[int, Callable[[], T]]]()
    done = queue.SimpleQueue[tuple[int, T | Exception]]()
    for numbered in enumerate(jobs):
        waiting.put(numbered)

    def work() -> None:
        while True:
            try:
                place, job = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((place, job()))
            except Exception as error:  # raised again in the main thread
                done.put((place, error))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(_AT_ONCE, len(jobs)))]
    results = dict[int, T]()
    try:
        # Ctrl-C may come while a thread starts, which then downloads all the same.
        for thread in threads:
            thread.start()
        # After Ctrl-C in join() Python takes a thread for ended that still runs.
        for _ in jobs:
            place, result = done.get()
            if isinstance(result, Exception):
                raise result
            results[place] = result
    except BaseException:
        for thread in threads:
            hanging.leave(thread)
        raise
    return [results[place] for place in range(len(jobs))]


def _say_fetching(what: str) -> None:
    console.say(Statement("prefetch.fetching", "fetching {what}", what=what))


@contextmanager
def _progress(download: Download) -> Iterator[None]:
    """Say from time to time how much of a download is here."""
    over = threading.Event()

    def report() -> None:
        while not over.wait(_EVERY_S):
            console.say(
                Statement(
                    "prefetch.progress",
                    "fetching {what}: {gib:.1f} GiB are here",
                    what=download.name,
                    gib=downloads.cached_gib(download),
                )
            )

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        over.set()
        reporter.join()


def _say_fetched(what: str, outcome: Outcome, seconds: float) -> None:
    if outcome.state == "fetched":
        console.say(
            Statement(
                "prefetch.fetched",
                "fetched {what}: {gib:.1f} GiB in {time}",
                what=what,
                gib=outcome.gib,
                time=console.duration(seconds),
            )
        )
