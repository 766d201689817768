"""What does a kill cost in replies, and what does it cost to keep them?

    python -m perf.lost_replies [--kills 50] [--concurrency 4] [--seed 0]
    python -m perf.lost_replies --rate [--rounds 3]

The first form starts `+experiment=index` on an endpoint of this machine and kills its process group
(SIGKILL) at a random moment, between 0 and 3 s after the session's first reply. It gives the same
command again, as often as it was told, and lets the last session end. Of every kill it says how
many requests were under way, and how many replies were asked for again by a later session although
they had been sent. Exit code 1 where one of these had been sent more than 50 ms before its kill.

The second form measures the rate of the graph (questions to graded samples) with an endpoint that
replies at once, with the log of replies and without it, in turn, and prints the ratio.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import aclosing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from perf.measured import in_turn
from raybench import benchmarks
from raybench.config import DataConf, FleetConf
from raybench.fleet import open_fleet
from raybench.fleet.link import Link
from raybench.pipeline import datasets, graph
from raybench.pipeline.datasets import Selection
from raybench.pipeline.reply_log import ReplyLog
from raybench.pipeline.stages import Asking
from raybench.pipeline.units import Questions, jobs
from raybench.types import ModelSpec

WITHIN_S = 0.05
_LATENCY_S = (0.1, 0.6)
_SESSION_S = 3.0
_WORD = "Say a word."
"""So begins what a run asks to see whether an endpoint is there."""
_RATED = 6_000
"""Samples of one measurement of the rate."""


class Handler(BaseHTTPRequestHandler):
    """Replies to one request after a while."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "Endpoint"

    def do_POST(self) -> None:
        """Reply, and note when the reply was sent."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        endpoint = self.server
        sample = f"{body['seed']}/{body['messages'][-1]['content']}"
        is_sample = not body["messages"][-1]["content"].startswith(_WORD)
        if is_sample:
            endpoint.note_request(sample)
            time.sleep(random.uniform(*endpoint.latency_s))
        message = {"message": {"content": "Answer: A"}, "finish_reason": "stop"}
        payload = json.dumps({"choices": [message]}).encode()
        with suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)
            if is_sample:
                endpoint.note_reply(sample)

    def do_GET(self) -> None:
        """Say that nothing else is here."""
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def handle(self) -> None:
        """Serve a connection until it ends, or is cut off by a kill."""
        with self.server.counted(), suppress(OSError):
            super().handle()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Endpoint(ThreadingHTTPServer):
    """An endpoint that remembers, by session, what it was asked and when it replied."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, latency_s: tuple[float, float]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.latency_s = latency_s
        self.session = 0
        self.first_reply = threading.Event()
        self.asked: dict[int, list[str]] = defaultdict(list)
        self.replied: dict[int, dict[str, float]] = defaultdict(dict)
        self._connections = 0
        self._lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        """Return the address for `base_url`."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a connection while it is open."""
        with self._lock:
            self._connections += 1
        try:
            yield
        finally:
            with self._lock:
                self._connections -= 1

    def wait_until_left(self) -> None:
        """Wait until nobody is connected: a process that asks may outlive its driver a little."""
        while self._connections:
            time.sleep(0.1)

    def note_request(self, sample: str) -> None:
        """Note that a sample was asked."""
        with self._lock:
            self.asked[self.session].append(sample)

    def note_reply(self, sample: str) -> None:
        """Note that the reply to a sample was sent."""
        with self._lock:
            self.replied[self.session][sample] = time.monotonic()
        self.first_reply.set()


def main() -> int:
    """Measure what was asked for; return 1 where a reply was lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", action="store_true", help="measure the rate instead")
    parser.add_argument("--rounds", type=int, default=3, help="of the rate")
    arguments = parser.parse_args()
    if arguments.rate:
        compare_rates(arguments.rounds)
        return 0
    return count_losses(arguments.kills, arguments.concurrency, arguments.seed)


def count_losses(kills: int, concurrency: int, seed: int) -> int:
    """Kill a run again and again; print what each kill cost."""
    rng, endpoint, killed_at = random.Random(seed), Endpoint(_LATENCY_S), list[float]()
    model = (
        "{name: far, engine: openai, weights: far, "
        f"options: {{base_url: '{endpoint.url}', concurrency: {concurrency}}}}}"
    )
    # Enough samples for all sessions, each of which is killed before it has asked all that is left.
    samples = 2 * kills * _SESSION_S * concurrency / statistics.mean(_LATENCY_S)
    with tempfile.TemporaryDirectory() as folder:
        repeats = 1 + int(samples / sum(rows for _, rows in questions(Path(folder))))
        command = [
            sys.executable, "-m", "raybench", "+experiment=index", "data=samples",
            f"roster.models=[{model}]", "benchmarks=[mmlu_pro]", f"index.repeats={repeats}",
            "index.temperature=1.0", f"runs_dir={folder}/runs", f"tracking.uri=sqlite:///{folder}/m.db",
        ]  # fmt: skip
        with Path(folder, "said.txt").open("w") as said:
            for session in range(kills + 1):
                endpoint.session = session
                endpoint.first_reply.clear()
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                    start_new_session=True, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
                )  # fmt: skip
                if session == kills:
                    endpoint.latency_s = (0.0, 0.0)
                    process.wait()
                    break
                _wait_for_reply(endpoint, process, Path(folder) / "said.txt")
                time.sleep(rng.uniform(0, _SESSION_S))
                killed_at.append(time.monotonic())
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                endpoint.wait_until_left()
        if process.returncode:
            sys.exit(Path(folder, "said.txt").read_text()[-2000:])
    return _print_losses(endpoint, killed_at)


def questions(folder: Path) -> list[tuple[str, int]]:
    """Write the questions that are shipped; return their files, and how many each has."""
    (found,) = datasets.prepare(
        [benchmarks.load("mmlu_pro")], DataConf(source="samples"), Selection(), folder
    )
    return [(str(it), len(it.read_bytes().splitlines())) for it in found.shards]


def _wait_for_reply(endpoint: Endpoint, process: "subprocess.Popen[bytes]", said: Path) -> None:
    while not endpoint.first_reply.wait(0.2):
        if process.poll() is not None:
            sys.exit(f"the run ended before its first reply:\n{said.read_text()[-2000:]}")


def _print_losses(endpoint: Endpoint, killed_at: list[float]) -> int:
    sessions = len(killed_at)
    lost = 0
    print("kill  asked  replied  under way  replies asked again  of these sent > 50 ms before")
    for session, moment in enumerate(killed_at):
        later = Counter(
            sample for after in range(session + 1, sessions + 1) for sample in endpoint.asked[after]
        )
        replies = {it: at for it, at in endpoint.replied[session].items() if at <= moment}
        again = [sample for sample in replies if later[sample]]
        late = [sample for sample in again if replies[sample] < moment - WITHIN_S]
        asked = len(endpoint.asked[session])
        lost += len(late)
        print(
            f"{session + 1:4}  {asked:5}  {len(replies):7}  {asked - len(replies):9}  "
            f"{len(again):19}  {len(late):27}"
        )
    every = Counter(it for asked in endpoint.asked.values() for it in asked)
    print(
        f"{sessions} kills, {len(every)} samples, {every.total()} requests "
        f"({every.total() - len(every)} more than samples); lost: {lost}"
    )
    return int(lost > 0)


def compare_rates(rounds: int) -> None:
    """Print the rate of the graph with and without the log, and their ratio."""
    rates: dict[bool, list[float]] = {True: [], False: []}
    for number, keeps in in_turn(rounds, (False, True)):
        rates[keeps].append(asyncio.run(rate(keeps)))
        print(
            f"round {number}: {'with' if keeps else 'without'} {rates[keeps][-1]:.0f}/s", flush=True
        )
    ratios = [kept / plain for kept, plain in zip(rates[True], rates[False], strict=True)]
    print(
        f"with the log {statistics.median(rates[True]):.0f}/s, without it "
        f"{statistics.median(rates[False]):.0f}/s; ratio, median over rounds: "
        f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
    )


async def rate(keeps: bool) -> float:
    """Return how many graded samples a second come out of the graph."""
    endpoint = Endpoint((0.0, 0.0))
    options = {"base_url": endpoint.url, "concurrency": 32}
    model = ModelSpec("far", "openai", "far", options=options)
    with tempfile.TemporaryDirectory() as folder:
        shards = questions(Path(folder))
        part = Questions("mmlu_pro", shards, _RATED // sum(rows for _, rows in shards))
        asking = Asking({"far": model}, 0, log=ReplyLog.of(Path(folder)) if keeps else None)
        work = graph.Work(jobs(["far"], [part]), asking)
        first, count = 0.0, 0
        async with open_fleet([model], FleetConf(), lambda text: None, ray=True) as fleet:
            link = Link.to(fleet, [model], FleetConf())
            async with aclosing(graph.stream(work, link)) as blocks:
                async for units in blocks:
                    first = first or time.monotonic()
                    count += len(units)
        seconds = time.monotonic() - first
    endpoint.shutdown()
    return count / seconds


if __name__ == "__main__":
    sys.exit(main())
