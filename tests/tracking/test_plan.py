from dataclasses import replace

from raybench.tracking.plan import describe, turns
from raybench.types import ModelSpec, Plan, Sampling


def lines(*models: ModelSpec) -> list[str]:
    plan = Plan("autobench", models, ("one engine",), 1, 1200, "iteration", "1 to 2", ("a note",))
    return [line.strip() for line in describe(plan).splitlines()]


def test_a_models_line_says_what_it_samples_with_and_its_options() -> None:
    hot = ModelSpec("hot", "vllm", "org/m", sampling=Sampling(0.75), options={"seed": 1})
    assert "hot: vllm org/m, temperature 0.75, top_p 1, seed 1" in lines(hot)


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
    assert "able: simulated, ability 0.9" in lines(able)


def test_a_models_line_says_how_much_it_may_write() -> None:
    model = ModelSpec("m", "vllm", "org/m", sampling=Sampling(max_tokens=4096))
    assert "m: vllm org/m, temperature 0, top_p 1, at most 4,096 tokens" in lines(model)


def test_a_plan_may_ask_nobody() -> None:
    plan = Plan("index", (), (), 0, 10, "gold answer", "0")
    assert "Slots       0 (no model is asked)" in describe(plan)


def test_the_plan_says_how_much_there_is_to_do() -> None:
    shown = lines(ModelSpec("m", "vllm", "embedded"))
    assert "Units       1,200 iterations" in shown
    assert "Calls       1 to 2" in shown
    assert "Note        a note" in shown


def test_the_plan_says_whether_engines_take_turns() -> None:
    model = ModelSpec("m", "vllm", "embedded")
    plan = Plan("autobench", (model,), ("one", "two"), 2, 1, "iteration", "1")
    assert "Slots       2 (every engine stays awake)" in describe(plan)
    assert turns(2, 2) == []
    plan = replace(plan, slots=1, notes=tuple(turns(2, 1)))
    assert "Slots       1 (engines take turns)" in describe(plan)
    assert "Note        2 engines take turns, about 1 awake at once" in describe(plan)


def test_the_plan_says_where_it_works_and_is_kept() -> None:
    model = ModelSpec("m", "vllm", "embedded")
    plan = Plan("index", (model,), ("one",), 1, 1, "unit", "1", ray=True)
    assert "Cluster" not in describe(plan)
    shown = describe(replace(plan, cluster=("head:6379", "work on a=b"), storage="s3://bucket"))
    assert "Cluster     head:6379\n              work on a=b\nStorage     s3://bucket\n" in shown
