"""The games: which are played, by which rules, by whom, how often."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from raybench.config.places import FleetConf
from raybench.config.roster import RosterConf
from raybench.errors import Problem, did_you_mean, named_twice, not_a_choice, out_of_range, plain

PAIRINGS = ("round_robin", "random", "swiss", "information")
"""The ways of raybench.tournament.pairing."""
FEWEST = 100
"""Replicates below which no bootstrap is published: raybench.stats.ratings.scale.FEWEST."""


@dataclass
class GamesConf:
    """A tournament; the values are in conf/games/default.yaml."""

    names: list[str] = field(default_factory=list)
    rules: dict[str, Any] = field(default_factory=dict)
    roster_rules: dict[str, dict[str, Any]] = field(default_factory=dict)
    phrasing: Any = field(default_factory=dict)
    strategy: Any = field(default_factory=dict)
    strategies: dict[str, Any] = field(default_factory=dict)
    anchors: list[str] = field(default_factory=list)
    matches: int = 1000
    cycles: int | None = None
    pairing: str = "round_robin"
    narrow: float | None = None
    budget_tokens: int | None = None
    budget_s: float | None = None
    tries: int = 3
    invalid: int = 10
    deadline_s: float | None = None
    replays: int = 2
    patience_s: float | None = 600.0
    jury: list[str] = field(default_factory=list)
    own_system_prompts: bool = True
    weights: dict[str, float] = field(default_factory=dict)
    listed_moves: bool = False
    temperature: float | None = None
    move_tokens: int = 1024
    speech_tokens: int = 1024
    code_tokens: int = 2048
    at_once: int | None = None
    bootstrap: int = 1000

    def __post_init__(self) -> None:
        self.pairing = spelled(self.pairing)


def spelled(pairing: str) -> str:
    """Return a way by its own name: 'Round Robin' is round_robin, as 'Chess' is chess."""
    return next((way for way in PAIRINGS if plain(way) == plain(pairing)), pairing)


def problems(games: GamesConf, roster: RosterConf, fleet: FleetConf) -> Iterator[Problem]:
    """Yield what is wrong with a tournament of a roster; what games say of their rules, they do."""
    if len(roster.models) == 1 and not games.anchors:
        yield Problem(
            "setting.range",
            "games needs at least two to play against each other, the roster has one model",
            setting="roster.models",
            fix="add one under roster.models, or a script (games.anchors=[random,able])",
        )
    for name, count in Counter(games.anchors).items():
        if count > 1:
            yield named_twice("games.anchors", name, count)
        if name in (model.name for model in (*roster.models, *roster.judges)):
            yield Problem(
                "setting.conflict",
                f"games.anchors names '{name}', which is a model of the roster, too: results are "
                "kept by name",
                setting="games.anchors",
                given=name,
                fix="Give the model another name",
            )
    if games.pairing not in PAIRINGS:
        yield not_a_choice("games.pairing", games.pairing, PAIRINGS)
    for name in ("matches", "tries", "invalid"):
        if getattr(games, name) < 1:
            yield out_of_range(f"games.{name}", getattr(games, name), "it is 1 or more")
    yield from drawing_problems(games)
    for name in ("cycles", "narrow", "budget_tokens", "budget_s", "deadline_s"):
        value = getattr(games, name)
        if value is not None and not 0 < value < math.inf:
            yield out_of_range(f"games.{name}", value, "it is more than 0, or null")
    if games.deadline_s is not None:
        yield from _deadline_problems(games.deadline_s, roster, fleet)
    if games.patience_s is not None and not 0 <= games.patience_s < math.inf:
        yield out_of_range(
            "games.patience_s", games.patience_s, "it is 0 or more, or null to wait for ever"
        )
    if games.at_once is not None and games.at_once < 1:
        yield out_of_range(
            "games.at_once",
            games.at_once,
            "it is 1 or more, or null for as many as keep the engines busy",
        )
    if games.replays < 0:
        yield out_of_range("games.replays", games.replays, "it is 0 or more")
    if games.bootstrap < FEWEST and games.bootstrap != 0:
        yield Problem(
            "setting.range",
            f"games.bootstrap is {games.bootstrap}",
            setting="games.bootstrap",
            given=games.bootstrap,
            fix=f"intervals need {FEWEST} replicates or more, or 0 for those of the sandwich alone",
        )
    if games.cycles is not None and games.pairing != "round_robin":
        yield Problem(
            "setting.conflict",
            f"games.cycles is {games.cycles}, but only a round robin has cycles",
            setting="games.cycles",
            given=games.cycles,
            fix="leave it out, or games.pairing=round_robin",
        )
    for game, weight in games.weights.items():
        if not 0 <= weight < math.inf:
            yield out_of_range(f"games.weights.{game}", weight, "it is 0 or more")
    known = [model.name for model in (*roster.models, *roster.judges)]
    for name, count in Counter(games.jury).items():
        if name not in known:
            yield Problem(
                "setting.choice",
                f"games.jury names '{name}', which the roster does not have",
                setting="games.jury",
                given=name,
                fix=did_you_mean(name, known),
            )
        if count > 1:
            yield named_twice("games.jury", name, count)


def drawing_problems(games: GamesConf) -> Iterator[Problem]:
    """Yield what is wrong with how moves are drawn."""
    for name in ("move_tokens", "speech_tokens", "code_tokens"):
        if getattr(games, name) < 1:
            yield out_of_range(f"games.{name}", getattr(games, name), "it is 1 or more")
    if games.temperature is not None and not 0 <= games.temperature <= 2:
        yield out_of_range(
            "games.temperature", games.temperature, "it is 0 to 2, or null for each model's own"
        )


def _deadline_problems(
    deadline_s: float, roster: RosterConf, fleet: FleetConf
) -> Iterator[Problem]:
    """Yield why models cannot be held to a deadline, by what stands behind them.

    An engine of ours is waited for so much longer than fleet.reply_deadline_s.
    """
    remote = any(model.engine == "openai" for model in roster.models)
    for name in ("reply_deadline_s", "endpoint_deadline_s") if remote else ():
        most = getattr(fleet, name)
        if most <= deadline_s < math.inf:
            yield Problem(
                "setting.conflict",
                f"games.deadline_s is {deadline_s:g}, but an endpoint that has not replied after "
                f"{most:g} s has failed, which makes the match void",
                setting="games.deadline_s",
                given=deadline_s,
                fix=f"set fleet.{name} above it",
            )
    for model in roster.models:
        if model.engine == "vllm" and (model.options or {}).get("disable_log_stats"):
            yield Problem(
                "setting.conflict",
                f"model '{model.name}' of roster '{roster.name}': with options.disable_log_stats "
                "its engine does not count how long it works on a request, which games.deadline_s "
                "goes by",
                setting="roster.models[].options.disable_log_stats",
                fix="leave one of the two out",
            )
