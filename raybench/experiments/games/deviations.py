"""In which settings a tournament deviates from ZeroSumEval, read from what runs."""

from collections.abc import Sequence

from raybench.config import Config
from raybench.experiments.games import setup
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
                    "{games} {are} played as well",
                    games=", ".join(others),
                    are="are" if len(others) > 1 else "is",
                ),
            )
        )
    closings = setup.rules(config).get("debate", {}).get("closings", DebateRules().closings)
    if "debate" in played and closings:
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
