"""A tournament names every setting by which it deviates from its source."""

import pytest

from raybench import cli
from raybench.experiments.games.deviations import SOURCE, deviations

SEVEN = f"games.names=[{','.join(SOURCE)}]"
CLOSINGS = "games.rules.debate.closings=false"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], ["games.names", "games.rules.debate.closings"]),
        ([SEVEN], ["games.rules.debate.closings"]),
        ([SEVEN, CLOSINGS], []),
        (["games.names=[chess]"], []),
        (["games.names=[chess]", "games.listed_moves=true"], ["games.listed_moves"]),
    ],
)
def test_what_a_setting_deviates_in_is_named(given: list[str], expected: list[str]) -> None:
    arguments = ["+experiment=games", "roster=simulated", *given]
    asked = cli.check(cli.compose(cli.with_tables(cli.own_roster(cli.at_home(arguments)))))
    assert [it.setting for it in deviations(asked)] == expected
