"""The runs that are disturbed, and what can break in each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chaos.world import World
from stores import CREDENTIALS

WORK_FAR = "fleet.work_nodes={far: yes}"


@dataclass(frozen=True)
class Scenario:
    """A command, and what can break under it."""

    experiment: str
    arguments: Sequence[str]
    faults: Sequence[str]
    """Each happens once in a round, in some order."""
    slow: Sequence[str] = ()
    """What is added where it is disturbed, so that there is time for it; replies are the same."""
    services: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    """What it speaks to, each with the setting that leads there."""
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self, world: World, folder: str, *, slow: bool) -> list[str]:
        """Return what the run is started with."""
        told = [setting(world.service(name).url) for name, setting in self.services.items()]
        told = [it.replace("FOLDER", folder) for it in told]
        added = self.slow if slow else ()
        return [f"+experiment={self.experiment}", *self.arguments, *told, *added]


def _storage(url: str) -> str:
    where = url.removeprefix("http://")
    return f"storage='s3://bucket/FOLDER?scheme=http&endpoint_override={where}'"


def _endpoint(url: str) -> str:
    options = f"{{base_url: {url}/v1, concurrency: 8}}"
    models = (
        f"{{name: {name}, engine: openai, weights: {name}, options: {options}}}"
        for name in ("bold", "shy")
    )
    return f"roster.models=[{','.join(models)}]"


def _served(url: str) -> str:
    options = f"{{base_url: {url}/v1, concurrency: 2}}"
    sampling = "{temperature: 0.0, max_tokens: 8}"
    small = f"name: small, engine: openai, weights: small, images: false, sampling: {sampling}"
    return f"roster.models=[{{{small}, options: {options}}}]"


def later(seconds: float, more: float = 0.0) -> list[str]:
    """Have all stand-ins take so long for what they are sent at once, and each so much `more`."""
    return [
        f"++roster.models.{place}.options.latency_s={seconds + more * place}" for place in range(12)
    ]


SCENARIOS = {
    # Letters, graded on other machines; every batch is in a store, too.
    "letters": Scenario(
        "index",
        [
            "roster=simulated", WORK_FAR, "data=samples", "index.benchmarks=[mmlu_pro]",
            "index.repeats=30",
        ],
        ["generating actor", "grading actor", "store away", "driver", "clocks"],
        later(2.0, more=1.5),  # who is sent nearly all at once is done with it all at once
        {"store": _storage},
        CREDENTIALS,
    ),
    # Programs, which run in sandboxes of all machines.
    "programs": Scenario(
        "index",
        [
            "roster=simulated", WORK_FAR, "data=samples", "index.benchmarks=[humaneval]",
            "index.repeats=2",
        ],
        ["slot", "sandbox", "raylet", "disk full"],
        later(0.3),
    ),
    # Matches on other machines, and somebody who is told of them.
    "games": Scenario(
        "games",
        [
            "roster=simulated", WORK_FAR, "games.names=[liars_dice]", "games.matches=3000",
            "games.at_once=100",  # else most end together, and nothing is left to break
        ],
        ["driver", "match worker", "raylet", "gcs", "tracking server", "clocks"],
        later(0.5),
        {"tracking": lambda url: f"tracking.uri={url}"},
        {"RAYBENCH_TRACKING_SEND": "now"},
    ),
    # A Ray of its own, which nothing mends: the same command goes on with another one.
    "alone": Scenario(
        "games",
        ["roster=simulated", "fleet.address=local", "games.names=[liars_dice]",
         "games.matches=2000"],
        ["gcs for good"],
        later(1.0),
        environment={"RAY_gcs_storage": "memory", "RAY_gcs_rpc_server_reconnect_timeout_s": "15"},
    ),
    # Two models behind an endpoint, which the driver asks.
    "endpoint": Scenario(
        "games",
        ["roster=endpoint", "games.names=[liars_dice]", "games.matches=400"],
        ["driver", "endpoint flaps", "disk full"],
        [f"roster.models.{place}.options.concurrency=2" for place in range(2)],
        {"endpoint": _endpoint},
    ),
    # Real engines that Ray Serve hosts on other machines, behind its proxy.
    "engines": Scenario(
        "index",
        ["roster=endpoint", "data=samples", "index.benchmarks=[mmlu_pro]", "index.repeats=2"],
        ["replica", "engine core", "proxy"],
        services={"served": _served},
    ),
    "peers": Scenario(
        "autobench",
        ["roster=simulated", WORK_FAR, "autobench.iterations=260"],
        ["driver", "raylet", "gcs", "disk full"],
        [*later(0.1), "autobench.at_once=16"],
    ),
}  # fmt: skip

BRIEF = {
    # Letters and programs in one.
    "questions": replace(
        SCENARIOS["letters"],
        arguments=[
            "roster=simulated", WORK_FAR, "data=samples",
            "index.benchmarks=[mmlu_pro,humaneval]", "index.repeats=2",
        ],
        faults=[
            "generating actor", "grading actor", "slot", "sandbox", "raylet", "store away",
            "disk full", "clocks",
        ],
        slow=later(0.6, more=0.4),
    ),
    "games": replace(
        SCENARIOS["games"],
        arguments=[
            "roster=simulated", WORK_FAR, "games.names=[liars_dice]", "games.matches=2000",
            "games.at_once=100",  # fewer matches are played without a cluster
        ],
        faults=["driver", "match worker", "raylet", "gcs", "tracking server"],
        slow=later(0.25),
    ),
    "endpoint": replace(
        SCENARIOS["endpoint"],
        arguments=["roster=endpoint", "games.names=[liars_dice]", "games.matches=60"],
        faults=["endpoint flaps"],
    ),
}  # fmt: skip
"""Smaller runs for `make test`, with every fault that needs no engine. With clocks set wrong the
driver is killed, too."""
