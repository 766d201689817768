"""Studies are done one after another: tried, taught, tried again; nothing is done twice."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from refusals import refused
from statements import code, values

from raybench import positions
from raybench.arena.chair import Decoding
from raybench.arena.desk import Desk
from raybench.arena.studies import PHASES, Curriculum, Learned, Study
from raybench.arena.workshop import Workshop
from raybench.config import FleetConf
from raybench.errors import ConfigurationError, Problem, RunFailed
from raybench.fleet.link import Link
from raybench.fleet.simulated.engine import INFRA_ERROR
from raybench.games.parts.phrasing import phrased
from raybench.players.parts.asking import REFUSED
from raybench.players.parts.programs.optimisers import Optimiser
from raybench.players.parts.programs.studies import Studies
from raybench.positions.parts import metrics
from raybench.types import ModelSpec

pytest.importorskip("dspy", reason="programs need DSPy")


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raybench.arena.replies._AGAIN_S", (0.0,))


SIZES = {"train": 8, "validation": 4, "held_out": 12}


def link(**options: float) -> Link:
    model = ModelSpec("m", "simulated", "", options={"ability": 0.3, **options})
    return Link((model,), FleetConf(), None, {})


def curriculum(optimiser: str = "BootstrapFewShot", **options: Any) -> Curriculum:
    return Curriculum(
        Studies("predict", Optimiser(optimiser, options), seed=0, threads=4),
        SIZES,  # type: ignore[arg-type]
        0,
        "worth",
        Decoding({"line": 64, "text": 64, "code": 64}),
        stand_ins=frozenset({"m"}),
        at_once=4,
    )


async def done(shop: Workshop, *studies: Study) -> dict[int, Learned]:
    """Return all that came of studies."""
    whole = {it.number: Learned(it.number) for it in studies}
    await shop.put(studies)
    async with asyncio.timeout(60):
        while not all(it.over for it in whole.values()):
            for told in await shop.pick_up():
                of = whole[told.number]
                of.marks += told.marks
                of.spent += told.spent
                of.state = told.state or of.state
                of.replies |= told.replies
                of.over, of.failure, of.gave_up = told.over, told.failure, told.gave_up
    return whole


def places(told: Learned, phase: str) -> list[int]:
    return sorted(mark.place for mark in told.marks if mark.phase == phase)


async def test_every_held_out_position_is_played_before_and_after() -> None:
    shop = Workshop(link(learns=0.6), curriculum())
    (told,) = (await done(shop, Study(1, "m", "liars_dice_odds"))).values()
    assert [places(told, phase) for phase in PHASES] == [[*range(12)]] * 2
    by = {
        phase: {it.place: it.position for it in told.marks if it.phase == phase} for phase in PHASES
    }
    assert by["before"] == by["after"] and len({*by["after"].values()}) == 12
    assert told.state is not None and told.state["demos"] and not told.failure
    worth = {phase: sum(it.worth for it in told.marks if it.phase == phase) for phase in PHASES}
    assert worth["after"] > worth["before"], "it learns from examples"
    assert len(told.spent) >= 24 and {model for model, _ in told.spent} == {"m"}
    assert not any(completion.text for _, completion in told.spent), "texts stand in the marks"


async def test_what_is_known_is_not_done_again() -> None:
    shop = Workshop(link(), curriculum())
    (whole,) = (await done(shop, Study(1, "m", "liars_dice_odds"))).values()
    rest = Study(2, "m", "liars_dice_odds", state=whole.state)
    rest.known["before"] |= {*range(12)}
    rest.known["after"] |= {0, 1, 2}
    (told,) = (await done(shop, rest)).values()
    assert told.state is None and places(told, "before") == []
    assert places(told, "after") == [*range(3, 12)] and len(told.spent) == 9
    again = {it.place: it for it in whole.marks if it.phase == "after"}
    assert all(again[it.place].worth == it.worth for it in told.marks), "by the same seeds"


async def test_a_successor_is_asked_for_the_rest() -> None:
    shop = Workshop(link(), curriculum())
    (told,) = (await done(shop, Study(1, "m", "liars_dice_odds"))).values()
    study = Study(1, "m", "liars_dice_odds")
    half = Learned(1, told.marks[:15], told.state)
    left = study.left(half)
    assert left is study and study.state == told.state
    assert sum(map(len, study.known.values())) == 15
    assert study.left(Learned(1, over=True)) is None


async def test_who_cannot_be_reached_learns_nothing_and_the_next_study_goes_on() -> None:
    shop = Workshop(link(infra_error=1.0), curriculum())
    told = await done(shop, Study(1, "m", "liars_dice_odds"), Study(2, "m", "mathquiz_solve"))
    for each in told.values():
        assert INFRA_ERROR in each.failure
        assert each.state is None and not each.marks, "it is no reply of no worth"


async def test_a_failure_among_an_optimisers_calls_is_none_of_the_models() -> None:
    """An optimiser takes what its program raises for a reply without a worth, and goes on."""
    shop = Workshop(link(infra_error=0.1), curriculum())
    study = Study(1, "m", "liars_dice_odds")
    study.known["before"] |= {*range(12)}
    (told,) = (await done(shop, study)).values()
    assert told.failure and told.state is None


async def test_an_optimiser_that_gives_up_ends_its_study_alone() -> None:
    """A stand-in writes no instructions: DSPy raises what it raises."""
    given = {"auto": None, "num_candidates": 2, "num_trials": 2, "minibatch": False}
    shop = Workshop(link(), curriculum("MIPROv2", **given))
    (told,) = (await done(shop, Study(1, "m", "liars_dice_odds"))).values()
    assert " MIPROv2 " in told.failure and "(AdapterParseError: LM " in told.failure
    assert len(told.failure) < 650 and told.state is None and told.gave_up
    assert "optimise_players.proposer" in told.failure
    assert places(told, "before") == [*range(12)], "what was played is kept"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("MIPROv2", {"auto": None, "num_candidates": 2, "num_trials": 2, "minibatch": False}),
        ("COPRO", {"breadth": 2, "depth": 1}),
        ("InferRules", {"num_candidates": 1, "num_rules": 1}),
        ("GEPA", {"max_metric_calls": 40}),
    ],
)
async def test_whatever_an_optimiser_makes_of_it_a_failed_request_is_told(
    name: str, given: dict[str, Any]
) -> None:
    shop = Workshop(link(infra_error=0.5), curriculum(name, **given))
    study = Study(1, "m", "liars_dice_odds")
    study.known["before"] |= {*range(12)}
    (told,) = (await done(shop, study)).values()
    assert INFRA_ERROR in told.failure


async def test_an_optimiser_goes_the_same_way_again_as_far_as_it_was_replied() -> None:
    shop = Workshop(
        link(), curriculum("BootstrapFewShotWithRandomSearch", num_candidate_programs=2)
    )
    (whole,) = (await done(shop, Study(1, "m", "liars_dice_odds"))).values()
    assert len(whole.replies) > 10
    study = Study(1, "m", "liars_dice_odds", replies=dict(whole.replies))
    study.known["before"] |= {*range(12)}
    study.known["after"] |= {*range(12)}
    (again,) = (await done(shop, study)).values()
    assert again.state == whole.state and not again.spent, "nothing was asked twice"


@pytest.mark.parametrize("optimiser", ["BootstrapFewShot", "BootstrapFewShotWithRandomSearch"])
async def test_a_metric_that_fails_is_no_move_of_no_worth(
    optimiser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> float:
        raise OSError("the sandbox cannot be started")

    shop = Workshop(link(), curriculum(optimiser))
    study = Study(1, "m", "liars_dice_odds")
    study.known["before"] |= {*range(12)}
    monkeypatch.setattr(metrics, "load", lambda name: broken)
    await shop.put([study])
    with refused("extension.failed", "optimise_players.metric", kind=RunFailed) as caught:
        async with asyncio.timeout(30):
            while not any(it.state for it in await shop.pick_up()):
                pass
    assert "'liars_dice_odds'" in str(caught.value) and "OSError" in str(caught.value)


async def test_who_gave_up_is_written_to_otherwise_the_next_time() -> None:
    given = {"auto": None, "num_candidates": 2, "num_trials": 2, "minibatch": False}
    first = Study(1, "m", "liars_dice_odds")
    first.known["before"] |= {*range(12)}
    (told,) = (await done(Workshop(link(), curriculum("MIPROv2", **given)), first)).values()
    again = Study(1, "m", "liars_dice_odds", replies=dict(told.replies), attempt=1)
    again.known["before"] |= {*range(12)}
    (other,) = (await done(Workshop(link(), curriculum("MIPROv2", **given)), again)).values()
    assert other.gave_up and other.replies and not other.replies.keys() & told.replies.keys()
    same = Study(1, "m", "liars_dice_odds", replies=dict(told.replies))
    same.known["before"] |= {*range(12)}
    (nothing,) = (await done(Workshop(link(), curriculum("MIPROv2", **given)), same)).values()
    assert not nothing.replies, "which nobody would mend"


async def test_a_mistake_of_ours_ends_it() -> None:
    shop = Workshop(link(), curriculum())
    await shop.put([Study(1, "m", "no_such_set")])
    with pytest.raises(ConfigurationError, match="no_such_set"):
        async with asyncio.timeout(30):
            while True:
                await shop.pick_up()


async def test_reasons_are_told_with_what_a_move_is_worth() -> None:
    conf = curriculum()
    from raybench import positions

    of = positions.load("liars_dice_odds")

    async def put(*_: object) -> Any:
        raise RunFailed(Problem("model.unreachable", "nobody is asked"))

    desk = Desk(
        "m", "m", of, metrics.load("worth"), conf.decoding, put, asyncio.get_running_loop(),
        states=dict(zip("ab", of.some(0, "train", 2), strict=True)),
    )  # fmt: skip
    lesson = desk.lesson("a")
    assert lesson.answer is not None
    best, none = desk.mark("a", lesson.answer), desk.mark("a", "sing")
    assert best.worth == 1 and code(best.why) == "move.worth"
    assert values(best.why) == {"move": lesson.answer, "worth": 1.0}
    assert none.worth == 0 and none.why.startswith(f"{REFUSED}: ")
    moves: Sequence[str] = desk.states["a"].legal() or ()
    worst = min(moves, key=lambda move: desk.mark("a", move).worth)
    why = desk.mark("a", worst).why
    assert code(why) == "move.worth_less" and values(why)["best"] == lesson.answer


async def test_positions_are_told_in_the_words_of_the_study() -> None:
    shop = Workshop(link(learns=0.6), curriculum())
    several = [Study(1 + number, "m", "liars_dice_odds", phrasing=number) for number in (0, 2)]
    found = await done(shop, *several)
    of = positions.load("liars_dice_odds")
    states = of.some(0, "train", SIZES["train"])
    for number, told in zip((0, 2), found.values(), strict=True):
        assert told.state is not None
        shown = {demo["task"] for demo in told.state["demos"]}
        seen = (phrased(of.game, number, it.observe(str(it.to_move))).task for it in states)
        assert shown and shown <= {*seen}
