from dataclasses import replace

from statements import code, values

from raybench.tracking.plan import awake, describe, turns
from raybench.types import ModelSpec, Plan, Sampling


def lines(*models: ModelSpec) -> list[str]:
    plan = Plan("autobench", models, ("one engine",), 1, 1200, "iteration", "1 to 2", ("a note",))
    return [line.strip() for line in describe(plan).splitlines()]


def told(model: ModelSpec) -> list[str]:
    """Return what a model's line says after its name."""
    (line,) = (it for it in lines(model) if it.startswith(f"{model.name}: "))
    return line.removeprefix(f"{model.name}: ").split(", ")


def test_a_models_line_says_what_it_samples_with_and_its_options() -> None:
    hot = ModelSpec("hot", "vllm", "org/m", sampling=Sampling(0.75), options={"seed": 1})
    assert told(hot) == ["vllm org/m", "temperature 0.75", "top_p 1", "seed 1"]


def test_a_commit_is_shown_by_its_beginning_and_a_branch_by_its_name() -> None:
    pinned = ModelSpec("a", "vllm", "org/m", revision="0123456789" * 4)
    branch = ModelSpec("b", "vllm", "org/m", revision="release-2507")
    assert "a: vllm org/m@01234567, temperature 0, top_p 1" in lines(pinned)
    assert "b: vllm org/m@release-2507, temperature 0, top_p 1" in lines(branch)


def test_what_is_left_to_an_endpoint_is_none_of_ours() -> None:
    options = {"extra_body": {"temperature": None, "top_p": 0.5}}
    far = ModelSpec("far", "openai", "o3", options=options)
    (line,) = (line for line in lines(far) if line.startswith("far"))
    assert line.startswith("far: openai o3, top_p 0.5, extra_body")


def test_a_stand_in_has_its_ability_instead() -> None:
    able = ModelSpec("able", "simulated", "", options={"ability": 0.9})
    assert told(able) == ["simulated", "ability 0.9"]


def test_a_models_line_says_how_much_it_may_write() -> None:
    model = ModelSpec("m", "vllm", "org/m", sampling=Sampling(max_tokens=4096))
    *drawn, most = told(model)
    assert drawn == ["vllm org/m", "temperature 0", "top_p 1"] and "4,096" in most


def test_a_plan_may_ask_nobody() -> None:
    plan = Plan("index", (), (), 0, 10, "gold answer", "0")
    assert code(awake(plan)) == "plan.no_engine" and awake(plan) in describe(plan)


def test_the_plan_says_how_much_there_is_to_do() -> None:
    shown = lines(ModelSpec("m", "vllm", "embedded"))
    assert "Units       1,200 iterations" in shown
    assert "Calls       1 to 2" in shown
    assert "Note        a note" in shown


def test_no_line_is_longer_than_a_terminal_and_no_word_is_lost() -> None:
    names = tuple(f"a-model-with-a-long-name-{n}" for n in range(40))
    engine = f"vllm org/m: {', '.join(names)}"
    note = " ".join(names)
    plan = Plan("index", (), (engine,), 1, 1, "unit", "1", (note,))
    shown = describe(plan)
    assert max(map(len, shown.splitlines())) <= 120
    for text in (engine, note):
        assert text in " ".join(shown.split())


def test_the_plan_says_whether_engines_take_turns() -> None:
    model = ModelSpec("m", "vllm", "embedded")
    plan = Plan("autobench", (model,), ("one", "two"), 2, 1, "iteration", "1")
    assert (code(awake(plan)), values(awake(plan))) == ("plan.all_awake", {"slots": 2})
    assert f" {awake(plan)}\n" in describe(plan)
    assert turns(2, 2) == []
    plan = replace(plan, slots=1, notes=tuple(turns(2, 1)))
    assert code(awake(plan)) == "plan.some_awake"
    assert values(plan.notes[0]) == {"engines": 2, "slots": 1}
    assert plan.notes[0] in describe(plan)


def test_the_plan_says_where_it_works_and_is_kept() -> None:
    model = ModelSpec("m", "vllm", "embedded")
    plan = Plan("index", (model,), ("one",), 1, 1, "unit", "1", ray=True)
    assert "Cluster" not in describe(plan)
    shown = describe(replace(plan, cluster=("head:6379", "work on a=b"), storage="s3://bucket"))
    facts = [line.split(maxsplit=1) for line in shown.splitlines()]
    assert ["Cluster", "head:6379"] in facts and ["work", "on a=b"] in facts
    assert ["Storage", "s3://bucket"] in facts
