"""The same games in several wordings, before and after prompts are optimised."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from raybench.config.games import GamesConf
from raybench.errors import Problem, did_you_mean, named_twice

BEFORE, AFTER = "before", "after"
STAGES = (BEFORE, AFTER)
"""By the program as it is, and by what it was compiled to."""


@dataclass
class GamesPhrasingsConf:
    """What is compared; the values are in conf/games_phrasings/default.yaml."""

    wordings: list[Any] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)


def problems(conf: GamesPhrasingsConf, games: GamesConf) -> Iterator[Problem]:
    """Yield what is wrong with the choice; what is wrong with wordings, games say."""
    here = "games_phrasings"
    if len(conf.wordings) < 2:
        yield Problem(
            "setting.range",
            f"{here}.wordings has {len(conf.wordings)}",
            setting=f"{here}.wordings",
            given=len(conf.wordings),
            fix="give two or more, as it is compared what comes of each",
        )
    for it, count in Counter(map(str, conf.wordings)).items():
        if count > 1:
            yield Problem(
                "setting.duplicate",
                f"{here}.wordings names {it} {count} times",
                setting=f"{here}.wordings",
                given=it,
                fix="once is enough",
            )
    for stage, count in Counter(conf.stages).items():
        if stage not in STAGES:
            yield Problem(
                "setting.choice",
                f"{here}.stages: unknown stage '{stage}'",
                setting=f"{here}.stages",
                given=stage,
                fix=did_you_mean(stage, STAGES),
            )
        elif count > 1:
            yield named_twice(f"{here}.stages", stage, count)
    if BEFORE not in conf.stages:
        told = ", ".join(conf.stages) or "empty"
        yield Problem(
            "setting.choice",
            f"{here}.stages is {told}",
            setting=f"{here}.stages",
            given=told,
            fix=f"give [{BEFORE}], or [{BEFORE}, {AFTER}]",
        )
    if games.phrasing not in ({}, 0):
        yield Problem(
            "setting.conflict",
            f"games.phrasing is {games.phrasing!r}, but {here}.wordings says in which words games "
            "are told",
            setting="games.phrasing",
            given=games.phrasing,
            fix="leave the former out",
        )
    if games.pairing not in ("round_robin", "random"):
        yield Problem(
            "setting.conflict",
            f"games.pairing is '{games.pairing}', by which results say who meets whom, and each "
            "wording would have other matches",
            setting="games.pairing",
            given=games.pairing,
            fix="round_robin or random",
        )
    for name in ("narrow", "budget_tokens", "budget_s"):
        if getattr(games, name) is not None:
            yield Problem(
                "setting.conflict",
                f"games.{name} would end some wordings earlier than others, and they are compared "
                "by the same matches",
                setting=f"games.{name}",
                fix="leave it out, and give games.matches",
            )


def asks(conf: GamesPhrasingsConf) -> bool:
    """Tell whether programs are optimised."""
    return AFTER in conf.stages
