"""Judges that move the order are told, where it is they and not chance."""

import numpy as np
import pytest
from panels import held, named, rounded, world
from statements import code, values

from raybench.autobench.analysis import echoes, warned
from raybench.autobench.analysis.echoes import Company, Echoes
from raybench.autobench.analysis.lots import Lot
from raybench.autobench.analysis.resample import draw, resampled
from raybench.autobench.analysis.swaps import Swap
from raybench.types import Estimate


def test_too_few_judges_and_iterations_are_refused() -> None:
    ratings = rounded(world(np.random.default_rng(0), 8, 4))
    draws = draw(8, 20)
    few = echoes.echoes(resampled(held(ratings).by(named(3)), "consensus", draws), draws, {})
    assert values(few.refusal) == {"least": 4, "judges": 3}
    short = resampled(held(ratings[:4]), "consensus", draw(4, 20))
    assert values(echoes.echoes(short, draw(4, 20), {}).refusal) == {"least": 5, "tasks": 4}


def favoured() -> tuple[Echoes, dict[str, str]]:
    """A family of three of which the judges lift m03, its own, above m04."""
    rng = np.random.default_rng(4)
    said = world(rng, 60, 8)
    said[:, [1, 3, 5], 4] -= 0.9
    said[:, [1, 3, 5], 3] += 1.2
    said[:, [[1], [3], [5]], [1, 5]] += 0.6
    families = dict.fromkeys(("m01", "m03", "m05"), "kin")
    draws = draw(60, 200)
    return echoes.echoes(resampled(held(rounded(said)), "consensus", draws), draws, families), (
        families
    )


def test_a_family_that_lifts_its_own_is_warned_of() -> None:
    found, families = favoured()
    (kin,) = found.families
    assert kin.judges == ("m01", "m03", "m05")
    assert 0.25 < kin.weight < 0.5
    assert kin.lot is not None and kin.lot.p is not None and kin.lot.p < 0.01
    assert kin.lifted.ci95 is not None and kin.lifted.ci95[0] > 0.1
    swap = next(swap for swap in kin.swaps if (swap.up, swap.down) == ("m03", "m04"))
    assert swap.likely
    assert kin.without["m03"].value is not None
    said = values(next(it for it in warned.warnings(found, families) if "of kin" in it))
    assert 0 < said["points"] < 1 and said["judges"].startswith("3 ")
    first = values(said["named"])
    assert (first["up"], first["down"]) == ("m03", "m04") and first["own"]


def panel(seed: int, favour: float) -> tuple[Echoes, dict[str, str]]:
    """Twelve close models in families of three with tastes of their own; the first may favour."""
    rng = np.random.default_rng(seed)
    families = {model: f"f{at % 4}" for at, model in enumerate(named(12))}
    kin = [[families[a] == families[b] == "f0" for b in named(12)] for a in named(12)]
    said = world(rng, 60, 12) + rng.normal(0, 0.3, (12, 12)) + favour * np.array(kin)
    ratings = rounded(said - np.linspace(-0.7, 0.7, 12))
    draws = draw(60, 100)
    found = resampled(held(ratings), "consensus", draws)
    return echoes.echoes(found, draws, families), families


def alarms(favour: float, panels: int) -> dict[str, int]:
    """Return how many of so many panels have a warning of each family."""
    told, changed = dict.fromkeys(("f0", "f1", "f2", "f3"), 0), 0
    for seed in range(panels):
        found, families = panel(seed, favour)
        changed += sum(bool(family.swaps) for family in found.families)
        for text in warned.warnings(Echoes((), found.families), families):
            told[text.split(",")[0].rsplit(" ", 1)[1]] += 1
    assert changed >= 3 * panels
    return told


def test_close_models_that_change_places_are_no_warning() -> None:
    assert sum(alarms(0.0, panels=3).values()) <= 1


def test_a_favour_among_close_models_is_told_of_those_that_give_it() -> None:
    told = alarms(1.0, panels=3)
    assert told.pop("f0") >= 2
    assert sum(told.values()) <= 1


@pytest.mark.long(
    short="tests/autobench/analysis/test_echoes.py"
    "::test_a_favour_among_close_models_is_told_of_those_that_give_it"
)
def test_of_many_panels_hardly_any_is_warned_of_wrongly() -> None:
    assert sum(alarms(0.0, panels=15).values()) <= 2
    told = alarms(1.0, panels=15)
    assert told.pop("f0") >= 13
    assert sum(told.values()) <= 2


def test_fair_judges_are_not_warned_of() -> None:
    draws = draw(40, 100)
    found = resampled(held(rounded(world(np.random.default_rng(8), 40, 6))), "consensus", draws)
    families = {model: "one" if model < "m03" else "two" for model in named(6)}
    looked = echoes.echoes(found, draws, families)
    assert [family.name for family in looked.families] == ["one", "two"]
    assert list(warned.warnings(looked, families)) == []


def test_a_family_that_is_all_the_judges_cannot_be_left_out() -> None:
    draws = draw(10, 20)
    found = resampled(held(rounded(world(np.random.default_rng(1), 10, 4))), "consensus", draws)
    (family,) = echoes.echoes(found, draws, dict.fromkeys(named(4), "one")).families
    assert code(family.refusal) == "refused.no_other_judge"
    assert family.weight == pytest.approx(1)
    assert not family.swaps


def company(lot: Lot | None, *swaps: Swap) -> Company:
    lifted = Estimate(0.25, 0.1, (0.05, 0.45), 20, "method")
    return Company("kin", ("a", "b"), 0.4, {}, swaps, lifted=lifted, lot=lot)


def test_only_what_is_likely_is_named() -> None:
    chance, sure = Swap("a", "b", 0.99, 0.7), Swap("a", "c", 0.95, 0.9)
    families = {"a": "kin", "b": "kin"}
    for lot in (Lot(0.2), Lot(refusal="not computed: half of the judges are its own"), None):
        assert list(warned.warnings(Echoes((), (company(lot, sure),)), families)) == []
    assert list(warned.warnings(Echoes((), (company(Lot(0.01)),)), families)) == []
    (vague,) = warned.warnings(Echoes((), (company(Lot(0.01), chance),)), families)
    assert values(vague)["points"] == 0.25 and "0.010" in values(vague)["p"]
    assert code(values(vague)["named"]) == "echoes.chance"
    (exact,) = warned.warnings(Echoes((), (company(Lot(0.0001), sure, chance),)), families)
    assert values(exact)["p"] == "< 0.001"
    named = values(values(exact)["named"])
    assert [named[it] for it in ("up", "down", "before", "after")] == ["a", "c", 0.95, 0.9]
    assert named["own"] and not named["more"]


def test_of_a_cluster_that_moves_nothing_surely_there_is_no_warning() -> None:
    few, close = Swap("a", "b", None, None), Swap("a", "c", 0.99, 0.7)
    assert list(warned.warnings(Echoes((company(None, few, close),), ()), {})) == []
    (said,) = warned.warnings(Echoes((company(None, Swap("a", "b", 0.95, 0.91)),), ()), {})
    named = values(values(said)["named"])
    assert [named[it] for it in ("up", "down", "before", "after")] == ["a", "b", 0.95, 0.91]
    assert not named["own"]
