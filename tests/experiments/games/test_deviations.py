"""A tournament names every setting by which it deviates from its source."""

import pytest

from raybench import cli
from raybench.experiments.games.deviations import SOURCE, deviations

SEVEN = f"games.names=[{','.join(SOURCE)}]"
CLOSINGS = "games.rules.debate.closings=false"

PROMPTED = (
    "roster.models=[{name: a, engine: simulated, system_prompt: Be brief.}, "
    "{name: b, engine: simulated}, {name: c, engine: simulated}]"
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], ["games.names", "games.rules.debate.closings"]),
        ([SEVEN], ["games.rules.debate.closings"]),
        ([SEVEN, CLOSINGS], []),
        (["games.names=[chess]"], []),
        (["games.names=[chess]", "games.listed_moves=true"], ["games.listed_moves"]),
        (["games.names=[chess]", "games.tries=1"], ["games.tries"]),
        (["games.names=[chess]", "games.tries=2"], []),
        (["games.names=[chess]", "games.bootstrap=0"], ["games.bootstrap"]),
        (["games.names=[chess]", "games.rules.debate.rebuttals=0"], []),
        (
            ["games.names=[debate]", CLOSINGS, "games.rules.debate.rebuttals=0"],
            ["games.rules.debate.rebuttals"],
        ),
        (["games.names=[chess]", PROMPTED], ["roster.models[].system_prompt"]),
        (["games.names=[chess]", PROMPTED, "games.own_system_prompts=false"], []),
        (["games.names=[werewolf]"], ["games.names"]),
    ],
)
def test_what_a_setting_deviates_in_is_named(given: list[str], expected: list[str]) -> None:
    arguments = ["+experiment=games", "roster=simulated", *given]
    asked = cli.check(cli.compose(cli.with_tables(cli.own_roster(cli.at_home(arguments)))))
    assert [it.setting for it in deviations(asked)] == expected
