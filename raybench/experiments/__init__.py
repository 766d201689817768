"""One room per `+experiment=NAME`, a file or a folder: what it plans and how it runs."""

import importlib
from collections.abc import Mapping
from typing import Any, Protocol, cast

from raybench import modules
from raybench.config import Config
from raybench.errors import ConfigurationError, Problem, did_you_mean
from raybench.types import Plan


class Experiment(Protocol):
    """What a room offers."""

    def plan(self, config: Config) -> Plan:
        """Say what a run would do. Starts nothing."""
        ...

    async def run(self, config: Config, resolved: Mapping[str, Any]) -> None:
        """Run it. `resolved` is the configuration as plain data, for the record."""
        ...


def load(name: str) -> Experiment:
    """Import an experiment by name."""
    known = modules.names(__name__)
    if name not in known:
        raise ConfigurationError(
            Problem(
                "setting.choice",
                f"unknown experiment '{name}'",
                setting="experiment",
                given=name,
                fix=did_you_mean(name, known),
            )
        )
    return cast(Experiment, importlib.import_module(f"{__name__}.{name}"))
