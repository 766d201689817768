"""In which settings a tournament deviates from ZeroSumEval, read from what runs."""

from collections.abc import Sequence

from raybench.config import Config
from raybench.experiments.games import asking, setup
from raybench.experiments.parts.deviations import GAMES_PAPER, Deviation
from raybench.experiments.parts.deviations import section as titled
from raybench.games.parts.debate.settings import DebateRules
from raybench.statements import Statement
from raybench.tracking.report import Section

SOURCE = ("chess", "debate", "gandalf", "liars_dice", "mathquiz", "poker", "pyjail")
"""The games of the source, section 4."""


def deviations(config: Config) -> tuple[Deviation, ...]:
    """Return all deviations from what the source says; () where there are none."""
    played, found = [game.name for game in setup.chosen(config)], list[Deviation]()
    if others := [name for name in played if name not in SOURCE]:
        found.append(
            Deviation(
                "games.names",
                played,
                f"seven games: {', '.join(SOURCE)}",
                Statement(
                    "deviation.games.names",
                    "{games} {are} played, which the paper does not have",
                    games=", ".join(others),
                    are="are" if len(others) > 1 else "is",
                ),
            )
        )
    debated = setup.rules(config).get("debate", {})
    if "debate" in played and not debated.get("rebuttals", DebateRules().rebuttals):
        found.append(
            Deviation(
                "games.rules.debate.rebuttals",
                0,
                "openings, rebuttals in turn, then the jury",
                Statement("deviation.games.rebuttals", "no side writes a rebuttal"),
            )
        )
    if "debate" in played and debated.get("closings", DebateRules().closings):
        found.append(
            Deviation(
                "games.rules.debate.closings",
                True,
                "openings, rebuttals in turn, then the jury",
                Statement(
                    "deviation.games.closings", "both sides also write a closing before the jury"
                ),
            )
        )
    if config.games.listed_moves:
        found.append(
            Deviation(
                "games.listed_moves",
                True,
                "players reply freely, and an invalid move is tried again",
                Statement(
                    "deviation.games.listed_moves",
                    "where moves can be listed, one of them is decoded",
                ),
            )
        )
    if config.games.tries == 1:
        found.append(
            Deviation(
                "games.tries",
                1,
                "several chances to make a legal move",
                Statement("deviation.games.tries", "an invalid move is not tried again"),
            )
        )
    if not config.games.bootstrap:
        found.append(
            Deviation(
                "games.bootstrap",
                0,
                "bootstrapped intervals of ratings",
                Statement("deviation.games.bootstrap", "intervals come without a bootstrap"),
            )
        )
    if prompted := [model.name for model in asking.asked(config) if model.system_prompt]:
        found.append(
            Deviation(
                "roster.models[].system_prompt",
                prompted,
                "the prompts of games and strategies alone",
                Statement(
                    "deviation.games.system_prompt",
                    "{models} {are} also given a system prompt (games.own_system_prompts=false "
                    "leaves it out)",
                    models=", ".join(prompted),
                    are="are" if len(prompted) > 1 else "is",
                ),
            )
        )
    return tuple(found)


def section(found: Sequence[Deviation]) -> Section:
    """Return the section of the report that names them all."""
    return titled(
        found,
        GAMES_PAPER,
        Statement(
            "deviation.games.section",
            "What the paper leaves open (numbers of tries, of matches, rules of single games) is "
            "in this run's settings.",
        ),
    )
