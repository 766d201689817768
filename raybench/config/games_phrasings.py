"""The same games in several wordings, before and after prompts are optimised."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from raybench.config.games import GamesConf
from raybench.errors import did_you_mean

BEFORE, AFTER = "before", "after"
STAGES = (BEFORE, AFTER)
"""By the program as it is, and by what it was compiled to."""


@dataclass
class GamesPhrasingsConf:
    """What is compared; the values are in conf/games_phrasings/default.yaml."""

    wordings: list[Any] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)


def problems(conf: GamesPhrasingsConf, games: GamesConf) -> Iterator[str]:
    """Yield what is wrong with the choice; what is wrong with wordings, games say."""
    here = "games_phrasings"
    if len(conf.wordings) < 2:
        yield (
            f"{here}.wordings has {len(conf.wordings)}: give two or more, as it is compared what "
            "comes of each"
        )
    for it, count in Counter(map(str, conf.wordings)).items():
        if count > 1:
            yield f"{here}.wordings names {it} {count} times: once is enough"
    for stage, count in Counter(conf.stages).items():
        if stage not in STAGES:
            yield f"{here}.stages: unknown stage '{stage}'." + did_you_mean(stage, STAGES)
        elif count > 1:
            yield f"{here}.stages names '{stage}' {count} times: once is enough"
    if BEFORE not in conf.stages:
        told = ", ".join(conf.stages) or "empty"
        yield f"{here}.stages is {told}: give [{BEFORE}], or [{BEFORE}, {AFTER}]"
    if games.phrasing not in ({}, 0):
        yield (
            f"games.phrasing is {games.phrasing!r}, but {here}.wordings says in which words games "
            "are told: leave the former out"
        )
    if games.pairing not in ("round_robin", "random"):
        yield (
            f"games.pairing is '{games.pairing}', by which results say who meets whom, and each "
            "wording would have other matches: round_robin or random"
        )
    for name in ("narrow", "budget_tokens", "budget_s"):
        if getattr(games, name) is not None:
            yield (
                f"games.{name} would end some wordings earlier than others, and they are compared "
                "by the same matches: leave it out, and give games.matches"
            )


def asks(conf: GamesPhrasingsConf) -> bool:
    """Tell whether programs are optimised."""
    return AFTER in conf.stages
