from typing import Any

import pytest
from peerage import journal
from statements import code

from raybench.autobench import categories
from raybench.autobench.categories import Kind
from raybench.autobench.protocol import Counted, Standing, counted
from raybench.autobench.settings import Settings

MODELS = ("a", "b")


def iteration(topic: str, a: float | None, b: float | None, difficulty: str = "") -> Counted:
    nobody = Standing(0, {}, {}, {})
    record = {"topic": topic, "difficulty": difficulty}
    return Counted(record, {"a": a, "b": b}, nobody, nobody)


PLAYED = [
    iteration("logic", 4.0, 2.0),
    iteration("General culture", 3.0, None),
    iteration("logic", 3.0, 3.0),
    iteration("general-culture", 4.0, 1.0),
    iteration("", 5.0, 5.0),
    iteration("math", None, None),
]


def test_each_topic_has_its_own_scores_in_the_order_of_the_settings() -> None:
    found = categories.categories(PLAYED, Settings(MODELS, topics=("math", "general culture")))
    assert [(it.name, it.iterations, it.scored) for it in found] == [
        ("math", 1, 0),
        ("general culture", 2, 2),
        ("logic", 2, 2),
    ]
    logic = found[2].scores
    assert (logic["a"].value, logic["a"].n) == (3.5, 2)
    assert logic["a"].ci95 == (1.0, 5.0)
    assert code(logic["a"].method) == "method.cut"
    assert found[2].ranks == {"a": 1, "b": 2}


def test_one_scored_iteration_is_too_few() -> None:
    found = categories.categories(PLAYED, Settings(MODELS, topics=("math", "general culture")))
    b = found[1].scores["b"]
    assert (b.value, b.n) == (None, 1)
    assert found[1].ranks == {"a": 1}
    assert found[0].ranks == {}


def test_equal_scores_share_a_rank() -> None:
    played = [iteration("math", 3.0, 3.0), iteration("math", 4.0, 4.0)]
    assert categories.categories(played, Settings(MODELS))[0].ranks == {"a": 1, "b": 1}


def test_metrics_are_called_by_topic() -> None:
    found = categories.categories(PLAYED, Settings(MODELS))
    assert set(categories.metrics(found, "autobench/score")["a"]) == {
        "autobench/score/math",
        "autobench/score/general_culture",
        "autobench/score/logic",
    }
    assert [categories.key(it) for it in ("C++ & more", "数学", "?!")] == [
        "c_more",
        "数学",
        "unnamed",
    ]


def test_over_all_topics_the_scores_are_those_of_the_leaderboard() -> None:
    settings = Settings(("a", "b", "c"), topics=("x", "y"))
    records: list[dict[str, Any]] = journal(settings, 9)
    kinds: tuple[Kind, ...] = ("topic", "difficulty")
    for kind in kinds:
        found = categories.categories(counted(records, settings), settings, kind)
        assert sum(it.iterations for it in found) == 9
        for model in settings.models:
            total = sum((it.scores[model].value or 0) * it.scored for it in found)
            assert total / 9 == pytest.approx(records[-1]["cumulative"][model])
