"""What a tournament may be told, by who plays in it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from refusals import refusal

from raybench.config import FleetConf, GamesConf, ModelConf, RosterConf
from raybench.config.games import problems
from raybench.errors import Problem

SIMULATED = ModelConf("sim", "simulated")
OURS = ModelConf("ours", "vllm", "embedded")
REMOTE = ModelConf("remote", "openai", "gpt")


def silent(value: object) -> ModelConf:
    return ModelConf("silent", "vllm", "embedded", options={"disable_log_stats": value})


def told(
    *models: ModelConf, judges: Sequence[ModelConf] = (), fleet: Mapping[str, Any] | None = None
) -> list[Problem]:
    """Return what is wrong with holding models to 60 s a turn."""
    roster = RosterConf("mine", [*models], [*judges])
    return [*problems(GamesConf(deadline_s=60), roster, FleetConf(**(fleet or {})))]


@pytest.mark.parametrize("name", ["reply_deadline_s", "endpoint_deadline_s"])
def test_an_endpoint_fails_later_than_its_models_forfeit(name: str) -> None:
    for most in (60, 30):
        (problem,) = told(REMOTE, OURS, fleet={name: most})
        assert (*refusal(problem), problem.given) == ("setting.conflict", "games.deadline_s", 60)
        assert f"{most} s" in problem.message
        assert problem.fix and f"fleet.{name}" in problem.fix
    assert not told(REMOTE, OURS, fleet={name: 61})


@pytest.mark.parametrize("name", ["reply_deadline_s", "endpoint_deadline_s"])
def test_who_plays_without_endpoints_need_not_care_for_theirs(name: str) -> None:
    """An engine of ours is waited for so much longer; a juror is held to no deadline."""
    assert not told(SIMULATED, OURS, judges=[REMOTE], fleet={name: 30})


def test_an_engine_that_counts_no_time_has_no_deadline() -> None:
    (problem,) = told(OURS, silent(True))
    assert refusal(problem) == ("setting.conflict", "roster.models[].options.disable_log_stats")
    for name in ("'silent'", "'mine'", "games.deadline_s"):
        assert name in problem.message
    assert not told(OURS, silent(False))
    assert not told(OURS, SIMULATED, judges=[silent(True)])


def test_without_a_deadline_neither_matters() -> None:
    roster = RosterConf("mine", [silent(True), REMOTE])
    assert not [*problems(GamesConf(), roster, FleetConf(reply_deadline_s=1))]
