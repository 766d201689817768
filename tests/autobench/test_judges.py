import random
from typing import Any

import pytest
from peerage import fair, journal
from statements import code

from raybench.autobench import judges
from raybench.autobench.judges import Judge
from raybench.autobench.preference import NO_CONTESTANT
from raybench.autobench.protocol import Counted, Standing, counted
from raybench.autobench.settings import Settings

MODELS = ("a", "b", "c")
SIX = ("a", "b", "c", "d", "e", "f")


def found(settings: Settings, records: list[dict[str, Any]]) -> dict[str, Judge]:
    return judges.statistics(list(counted(records, settings)), settings)


def record(**judgments: tuple[int | None, int | None, int | None]) -> Counted:
    rows = {judge: dict(zip(MODELS, row, strict=True)) for judge, row in judgments.items()}
    record = {
        "iteration": 1, "task": "Why?" if rows else None, "judgments": rows,
        "answers": dict.fromkeys(MODELS, "Because."),
    }  # fmt: skip
    standing = Standing(0, {}, {}, {"a": 0.5, "b": 0.25, "c": 0.25})
    return Counted(record, {}, standing, standing)


def test_severity_of_worked_ratings() -> None:
    # To the answers of others: a gives b 2 where c gives 3, and c 4 where b gives 5: 1 below each.
    played = [record(a=(5, 2, 4), b=(3, 4, 5), c=(4, 3, 5))]
    a = judges.statistics(played, Settings(MODELS))["a"]
    assert (a.severity.value, a.severity.n, a.severity.ci95) == (1.0, 2, None)
    assert (a.own.value, a.own_by_others.value) == (5.0, 3.5)
    assert a.used == {1: 0, 2: 1, 3: 0, 4: 1, 5: 1}


def test_agreement_is_with_the_weighted_consensus_of_the_others() -> None:
    # For c the others' weigh 2 to 1: (11/3, 8/3, 13/3) against its (4, 3, 5).
    played = [record(a=(4, 2, 4), b=(3, 4, 5), c=(4, 3, 5))]
    c = judges.statistics(played, Settings(MODELS))["c"]
    assert c.same.value == pytest.approx(2 / 3)  # 5 is 2/3 away
    assert c.within_one.value == 1.0
    assert c.agreement.value == pytest.approx(0.9933, abs=1e-4)


def test_what_was_not_rated_is_left_out() -> None:
    played = [
        record(a=(None, 2, None), b=(3, None, 5), c=(None, 3, 5)),
        record(),
        record(a=(1, 1, 1)),
    ]
    a = judges.statistics(played, Settings(MODELS))["a"]
    assert (a.severity.value, a.severity.n) == (1.0, 1)
    assert a.own.value is None
    assert code(a.own.method) == "refused.empty"
    assert a.used == {1: 3, 2: 1, 3: 0, 4: 0, 5: 0}


def test_nothing_is_said_of_judges_that_gave_nothing() -> None:
    for judge in judges.statistics([], Settings(MODELS)).values():
        preference = judge.self_preference.over_tasks
        for estimate in (judge.severity, judge.agreement, judge.same, preference):
            assert estimate.value is None
            assert estimate.method.startswith("not computed: ")


def test_outsiders_have_no_answers_of_their_own() -> None:
    settings = Settings(MODELS, judges=("c", "x", "y", "z"))
    of = found(settings, journal(settings, 20))
    assert set(of) == {"c", "x", "y", "z"}
    preference = of["x"].self_preference
    for estimate in (
        preference.over_tasks, preference.among_leanings, of["x"].own, of["x"].own_by_others
    ):  # fmt: skip
        assert estimate == NO_CONTESTANT
    assert of["x"].severity.value is not None
    assert of["c"].self_preference.over_tasks.value is not None
    assert set(judges.metrics(of, settings)) == {"c"}


def test_a_row_says_whether_a_judge_prefers_itself() -> None:
    settings = Settings(SIX, judges=("a", "x", "y", "z"))
    of = found(settings, journal(settings, 20))
    row = of["a"].to_json()
    assert row["used"].keys() == {"1", "2", "3", "4", "5"}
    value = row["self_preference"]["value"]
    assert value is not None
    assert value == row["self_preference_among_leanings"]["value"]
    assert row["prefers_itself"] is False
    assert of["x"].to_json()["prefers_itself"] is None
    metrics = judges.metrics(of, settings)["a"]
    assert metrics["autobench/self_preference"].value == value
    assert metrics["autobench/self_preference_among_leanings"].value == value


def test_without_the_diagonal_nobody_prefers_himself() -> None:
    settings = Settings(SIX, self_judgement=False)
    for judge in found(settings, journal(settings, 10)).values():
        assert code(judge.self_preference.over_tasks.method) == "refused.empty"
        assert judge.self_preference.told is None
        assert judge.agreement.value is not None


def test_a_severe_judge_is_found() -> None:
    def rate(judge: str, contestant: str, quality: float, rng: random.Random) -> float:
        return fair(judge, contestant, quality, rng) - 0.8 * (judge == "b")

    settings = Settings(SIX)
    able = dict.fromkeys(SIX, 3.2)
    of = found(settings, journal(settings, 60, rate=rate, ability=able))
    severity = of["b"].severity
    assert severity.ci95
    assert severity.ci95[0] < 0.8 < severity.ci95[1]
    # The others have one severe judge among their five.
    assert of["a"].severity.value == pytest.approx(-0.8 / 5, abs=0.1)
    assert of["b"].self_preference.told is False


def test_who_prefers_himself_is_found_and_only_he() -> None:
    def rate(judge: str, contestant: str, quality: float, rng: random.Random) -> float:
        return fair(judge, contestant, quality, rng) + 0.7 * (judge == contestant == "c")

    settings = Settings(SIX)
    able = {model: 2 + 0.4 * i for i, model in enumerate(SIX)}
    of = found(settings, journal(settings, 80, rate=rate, ability=able))
    assert [model for model in SIX if of[model].self_preference.told] == ["c"]
    over_tasks = of["c"].self_preference.over_tasks
    assert over_tasks.ci95
    assert 0.4 < over_tasks.ci95[0] < 0.7 < over_tasks.ci95[1]
    for model in "abdef":
        value = of[model].self_preference.over_tasks.value
        assert value is not None
        assert abs(value) < 0.2


def test_a_judge_that_rates_at_random_agrees_with_nobody_and_prefers_nobody() -> None:
    """Its own answers are the worst: rated as all others are, they are rated above their worth."""

    def rate(judge: str, contestant: str, quality: float, rng: random.Random) -> float:
        return rng.randint(1, 5) if judge == "a" else fair(judge, contestant, quality, rng)

    settings = Settings(SIX)
    able = {model: 1.2 + 0.7 * i for i, model in enumerate(SIX)}
    a = found(settings, journal(settings, 100, rate=rate, ability=able))["a"]
    assert a.agreement.ci95
    assert a.agreement.ci95[0] < 0 < a.agreement.ci95[1]
    assert a.own.value is not None
    assert a.own_by_others.value is not None
    assert a.own.value - a.own_by_others.value > 1
    over_tasks = a.self_preference.over_tasks
    assert over_tasks.ci95
    assert over_tasks.ci95[0] < 0 < over_tasks.ci95[1]
    assert a.self_preference.told is False
