"""The peer protocol."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from raybench.config.missing import MISSING


@dataclass
class DifficultyConf:
    """A difficulty label, its noun phrase in the task prompt, and how often it is drawn."""

    label: str = MISSING
    phrase: str = MISSING
    probability: float = MISSING  # type: ignore[assignment]


@dataclass
class AutobenchConf:
    """The peer protocol; the values are in conf/autobench/default.yaml."""

    iterations: int = 50
    topics: list[str] = field(default_factory=list)
    difficulties: list[DifficultyConf] = field(default_factory=list)
    mean_threshold: float = 2.5
    median_threshold: float = 2.0
    attempts: int = 3
    restarts: int = 2
    constrained_ratings: bool = True
    rating_temperature: float | None = None
    task_tokens: int = 256
    answer_tokens: int = 1024
    rating_tokens: int = 16
    external: dict[str, str] = field(default_factory=dict)


def problems(autobench: AutobenchConf, models: int) -> Iterator[str]:
    """Yield what is wrong with the protocol for so many models."""
    if models == 1:
        yield (
            "autobench needs at least two models to assess one another, the roster has one: add "
            "one under roster.models"
        )
    for name in ("iterations", "attempts", "task_tokens", "answer_tokens", "rating_tokens"):
        if getattr(autobench, name) < 1:
            yield f"autobench.{name} is {getattr(autobench, name)}: it is 1 or more"
    if autobench.restarts < 0:
        yield f"autobench.restarts is {autobench.restarts}: it is 0 or more"
    if not autobench.topics:
        yield "autobench.topics is empty: name at least one topic"
    if not any(difficulty.probability > 0 for difficulty in autobench.difficulties):
        yield "autobench.difficulties has none with a probability above 0: give one"
    for difficulty in autobench.difficulties:
        if difficulty.probability < 0:
            yield (
                f"autobench.difficulties: '{difficulty.label}' has probability "
                f"{difficulty.probability}; it is 0 or more"
            )
    if autobench.rating_temperature is not None and not 0 <= autobench.rating_temperature <= 2:
        yield (
            f"autobench.rating_temperature is {autobench.rating_temperature}: it is 0 to 2, or "
            "null for each model's own"
        )
    for name, path in autobench.external.items():
        if not path.strip():
            yield f"autobench.external.{name} is empty: give the path of a CSV of model and score"
    for name in ("mean_threshold", "median_threshold"):
        if getattr(autobench, name) >= 5:
            yield (
                f"autobench.{name} is {getattr(autobench, name)}: ratings end at 5 and a task has "
                "to exceed it, so none would ever be accepted; give less than 5"
            )
