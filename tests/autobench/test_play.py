"""One iteration: who is asked what, retries, restarts, and what the record says."""

from dataclasses import replace

import pytest
from assessing import assess, obliging, play, question
from statements import values

from raybench.autobench.settings import ROUNDS, Settings, Task
from raybench.autobench.standing import FLOOR, Standing, advance
from raybench.autobench.steps import Ask, Reply, drawn

MODELS = ("a", "b", "c")
SETTINGS = Settings(models=MODELS, seed=7)


def test_an_accepted_task_is_answered_by_all_and_judged_by_all() -> None:
    record, asked = play(obliging, SETTINGS)
    assert [asks[0].kind for asks in asked] == ["task", "task_rating", "answer", "answer_rating"]
    assert [len(asks) for asks in asked] == [1, 3, 3, 9]
    assert record["task"] == record["attempts"][0]["task"] == question(record["generator"])
    assert record["answers"] == {model: f"by {model}" for model in MODELS}
    assert record["judgments"] == {judge: dict.fromkeys(MODELS, 4) for judge in MODELS}
    assert record["scores"] == dict.fromkeys(MODELS, 4.0)
    assert record["topic"] in SETTINGS.topics


def test_every_judge_of_an_answer_reads_that_answer() -> None:
    _, asked = play(obliging, SETTINGS)
    for ask in asked[-1]:
        contestant = ask.key.rsplit("/", 1)[1]
        assert f" by {contestant} Return:" in ask.prompt


def test_keys_are_unique_within_a_model() -> None:
    _, asked = play(lambda ask: Reply("<rank>1</rank>" if "rating" in ask.kind else "x"), SETTINGS)
    keys = [(ask.model, ask.key) for asks in asked for ask in asks]
    assert len(keys) == len(set(keys))


def test_a_rejected_task_is_tried_again_then_another_model_generates() -> None:
    settings = replace(SETTINGS, attempts=2, restarts=1)
    record, _ = play(
        lambda ask: Reply("<rank>1</rank>" if "rating" in ask.kind else "a poor task"), settings
    )
    generators = [attempt["generator"] for attempt in record["attempts"]]
    assert len(generators) == 4
    assert generators[0] == generators[1] != generators[2] == generators[3]
    assert not any(attempt["accepted"] for attempt in record["attempts"])


def test_when_the_restarts_are_used_up_the_iteration_ends_without_a_task() -> None:
    record, asked = play(
        lambda ask: Reply("<rank>1</rank>") if "rating" in ask.kind else obliging(ask), SETTINGS
    )
    assert len(record["attempts"]) == SETTINGS.attempts * SETTINGS.generators
    assert record["task"] is None
    assert record["answers"] == record["judgments"] == record["scores"] == {}
    assert record["weights"] == Standing.start(SETTINGS).weights
    assert {ask.kind for asks in asked for ask in asks} == {"task", "task_rating"}


def test_without_a_bound_new_generators_pose_tasks_until_one_is_accepted() -> None:
    settings = replace(SETTINGS, attempts=1, restarts=None)
    posed: list[str] = []

    def answer(ask: Ask) -> Reply:
        if ask.kind == "task":
            posed.append(ask.model)
        if ask.kind == "task_rating":
            return Reply(f"<rank>{4 if len(posed) > 13 else 1}</rank>")
        return obliging(ask)

    record, _ = play(answer, settings)
    generators = [attempt["generator"] for attempt in record["attempts"]]
    assert len(generators) == 14 and record["attempts"][-1]["accepted"]
    assert {*generators[:3]} == {*generators[3:6]} == {*MODELS}


def test_an_iteration_of_which_no_task_ever_passes_ends_all_the_same() -> None:
    settings = replace(SETTINGS, attempts=2, restarts=None)
    record, _ = play(lambda ask: Reply("<rank>1</rank>" if "rating" in ask.kind else "x"), settings)
    assert len(record["attempts"]) == 2 * ROUNDS * len(MODELS)
    assert record["task"] is None


def test_more_restarts_than_models_start_the_round_again() -> None:
    settings = replace(SETTINGS, attempts=1, restarts=6)
    record, _ = play(lambda ask: Reply("<rank>1</rank>" if "rating" in ask.kind else "x"), settings)
    generators = [attempt["generator"] for attempt in record["attempts"]]
    assert sorted(generators[:3]) == sorted(generators[3:6]) == list(MODELS)


@pytest.mark.parametrize("task", [None, "", "  \n"])
def test_no_task_is_not_put_before_the_judges(task: str | None) -> None:
    said = Reply(task, "error" if task is None else "stop")
    record, asked = play(lambda ask: said if ask.kind == "task" else obliging(ask), SETTINGS)
    assert all(asks[0].kind == "task" for asks in asked)
    assert record["attempts"][0]["ratings"] == {}


def test_answers_that_never_came_are_not_judged() -> None:
    def answer(ask: Ask) -> Reply:
        if ask.kind == "answer" and ask.model != "a":
            return Reply(None, "error", "dead") if ask.model == "b" else Reply("  ")
        return obliging(ask)

    record, asked = play(answer, SETTINGS)
    assert {ask.key.rsplit("/", 1)[1] for ask in asked[-1]} == {"a"}
    assert record["scores"] == {"a": 4.0, "b": None, "c": FLOOR}


def test_cut_answers_are_noted() -> None:
    def cut(ask: Ask) -> bool:
        return ask.kind == "answer" and ask.model == "b"

    record, _ = play(
        lambda ask: replace(obliging(ask), finish="length" if cut(ask) else "stop"), SETTINGS
    )
    assert record["truncated"] == ["b"]


def test_an_iteration_draws_the_same_whatever_went_before() -> None:
    later = advance(Standing.start(SETTINGS), {"a": 5.0, "b": 1.0, "c": 1.0}, SETTINGS)
    first, _ = play(obliging, SETTINGS, index=9)
    second, _ = play(obliging, SETTINGS, index=9, standing=replace(later, iteration=8))
    for field in ("generator", "topic", "difficulty"):
        assert first[field] == second[field]
    topics = {play(obliging, SETTINGS, index=index)[0]["topic"] for index in range(1, 60)}
    assert topics == set(SETTINGS.topics)


def test_harder_tasks_are_drawn_more_often() -> None:
    labels = [play(obliging, SETTINGS, index=index)[0]["difficulty"] for index in range(1, 400)]
    drawn = [labels.count(label) for label in ("very difficult", "difficult", "standard")]
    assert drawn == sorted(drawn, reverse=True)
    assert all(drawn)


def test_a_generator_that_cannot_be_reached_makes_way_for_the_next() -> None:
    order = drawn(1, SETTINGS).generators

    def answer(ask: Ask) -> Reply:
        dead = ask.kind == "task" and ask.model == order[0]
        return Reply(None, "error", "dead") if dead else obliging(ask)

    record, _ = play(answer, SETTINGS)
    assert [attempt["generator"] for attempt in record["attempts"]] == list(order[:2])
    assert record["attempts"][0]["task"] is None
    assert record["errors"] == [{"model": order[0], "key": "1/1/task", "error": "dead"}]
    assert record["task"] == question(order[1])


def test_one_model_more_leaves_the_order_of_the_others() -> None:
    more = replace(SETTINGS, models=(*MODELS, "d"), restarts=3)
    same = 0
    for index in range(1, 101):
        before, after = drawn(index, SETTINGS), drawn(index, more)
        assert (before.topic, before.difficulty) == (after.topic, after.difficulty)
        assert [model for model in after.generators if model != "d"] == list(before.generators)
        same += before.generators[0] == after.generators[0]
    assert 60 <= same <= 90  # three of four


def test_every_model_generates_about_as_often() -> None:
    firsts = [drawn(index, SETTINGS).generators[0] for index in range(1, 601)]
    assert all(150 <= firsts.count(model) <= 250 for model in MODELS)


def test_a_single_judge_rates_tasks_and_answers_alone() -> None:
    settings = replace(SETTINGS, judges=("b",))
    record, asked = play(obliging, settings)
    assert [len(asks) for asks in asked] == [1, 1, 3, 3]
    assert record["attempts"][0]["ratings"] == {"b": 4}
    assert record["judgments"] == {"b": dict.fromkeys(MODELS, 4)}
    assert record["weights"] == {"b": 1.0}


def test_judges_from_outside_rate_and_do_not_answer() -> None:
    record, asked = play(obliging, replace(SETTINGS, judges=("x", "y")))
    assert {ask.model for ask in asked[1]} == {ask.model for ask in asked[3]} == {"x", "y"}
    assert set(record["answers"]) == set(record["scores"]) == set(MODELS)
    assert set(record["judgments"]) == set(record["weights"]) == {"x", "y"}
    assert set(record["tokens"]) == {*MODELS, "x", "y"}


def test_without_self_judgement_nobody_rates_what_it_wrote() -> None:
    record, asked = play(obliging, replace(SETTINGS, self_judgement=False))
    assert [len(asks) for asks in asked] == [1, 2, 3, 6]
    assert record["generator"] not in record["attempts"][0]["ratings"]
    for judge, row in record["judgments"].items():
        assert set(row) == set(MODELS) - {judge}


def test_given_tasks_are_taken_in_order_and_from_the_first_again() -> None:
    settings = replace(SETTINGS, tasks=(Task("One?", "math", "difficult"), Task("Two?")))
    records = [play(obliging, settings, index=index)[0] for index in (1, 2, 3)]
    assert [record["task"] for record in records] == ["One?", "Two?", "One?"]
    assert (records[0]["topic"], records[0]["difficulty"]) == ("math", "difficult")
    assert (records[1]["generator"], records[1]["attempts"]) == ("", [])
    _, asked = play(obliging, settings)
    assert [asks[0].kind for asks in asked] == ["answer", "answer_rating"]


@pytest.mark.parametrize("faulty", ["reject", "flag"])
def test_a_task_that_was_there_before_is_told(faulty: str) -> None:
    settings = Settings(MODELS, attempts=1, restarts=0, faulty=faulty)  # type: ignore[arg-type]

    def answer(ask: Ask) -> Reply:
        if ask.kind == "task":
            return Reply("Why does the sea taste of salt, and rivers hardly do?")
        return obliging(ask)

    first, second = assess(answer, settings, 2)
    assert first["attempts"][0]["faults"] == []
    (fault,) = second["attempts"][0]["faults"]
    assert values(fault) == {"iteration": 1}
    assert second["attempts"][0]["accepted"] is (faulty == "flag")
    assert (second["task"] is None) is (faulty == "reject")
    assert second["attempts"][0]["mean"] == 4.0
