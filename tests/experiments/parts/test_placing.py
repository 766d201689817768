"""Where a run works and is kept is told, and which settings of that have no effect on it."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers import SIMULATED
from in_process import run_here
from statements import code, codes, values

from raybench import cli
from raybench.config import Config
from raybench.experiments import load
from raybench.experiments.parts.placing import ignored, placed, replicas
from raybench.fleet import devices
from raybench.types import ModelSpec, Plan

FAR = ("fleet.address=127.0.0.1:1", "fleet.work_nodes={far: yes}")
STAND_IN, OURS, ENDPOINTS = (
    ModelSpec(kind, kind, "org/m") for kind in ("simulated", "vllm", "openai")
)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def config(*given: str) -> Config:
    return cli.check(cli.compose(cli.with_tables([*SIMULATED, *given])))


def plan(*models: ModelSpec, ray: bool = False) -> Plan:
    return Plan("index", models, (), 1, 9, "unit", "9", ray=ray)


@pytest.mark.parametrize(
    ("models", "kinds"),
    [
        ([STAND_IN], ["simulated"]),
        ([ENDPOINTS, STAND_IN], ["openai", "simulated"]),
        ([], []),
    ],
)
def test_what_names_a_cluster_has_no_effect_where_none_is_needed(
    models: list[ModelSpec], kinds: list[str]
) -> None:
    given = config(
        *FAR,
        "fleet.nodes={a: b}",
        "fleet.gpus=2",
        "sandbox.nodes={c: d}",
        "fleet.start_deadline_s=9",
    )
    (told,) = ignored(given, plan(*models))
    settings = "fleet.address, fleet.nodes, fleet.gpus, fleet.work_nodes, sandbox.nodes"
    assert (values(told)["settings"], values(told)["kinds"]) == (settings, kinds)
    assert bool(values(told)["here"]) is bool(models), "they are asked from this process"


def test_what_is_said_of_engines_has_no_effect_where_none_is_hosted() -> None:
    given = config(*FAR, "fleet.nodes={a: b}", "fleet.gpus=2")
    (told,) = ignored(given, plan(STAND_IN, ray=True))
    assert told.startswith("fleet.nodes, fleet.gpus: ")
    assert ignored(given, plan(OURS, ray=True)) == []
    # Who judges may be hosted where who is ranked is not.
    assert ignored(given, replace(plan(STAND_IN, ray=True), referees=(OURS,))) == []


def test_a_number_of_replicas_has_no_effect_where_no_engine_is_hosted() -> None:
    (told,) = ignored(config("fleet.replicas=auto"), plan(STAND_IN, ray=True))
    assert values(told)["settings"] == "fleet.replicas"
    assert ignored(config("fleet.replicas=2"), plan(OURS, ray=True)) == []


def test_the_plan_says_which_engine_sits_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "build", lambda: "gpu")
    judge = ModelSpec("j (judge)", "vllm", "org/j", options={"tensor_parallel_size": 2})

    def told(gpus: int, *given: str) -> list[tuple[object, ...]]:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(gpus))))
        models = (replace(OURS, name="a"), replace(OURS, name="b"), STAND_IN)
        asked = replace(plan(*models, ray=True), referees=(judge, models[0]))
        notes = [*replicas(config(*given), asked)]
        assert {*notes} <= {*placed(config(*given), asked).notes}
        fields = ("models", "devices", "replicas", "planned")
        return [
            (code(it), *(values(it)[name] for name in fields if name in values(it))) for it in notes
        ]

    one_each = [("plan.placed", "a, b", "GPU 2"), ("plan.placed", "j", "GPU 0, 1")]
    assert told(8) == told(8, "fleet.replicas=1") == told(3, "fleet.replicas=auto") == one_each
    two_each = [
        ("plan.placed_replicas", "a, b", "GPU 2, 3", 2),
        ("plan.placed_replicas", "j", "GPU 0, 1, 4, 5", 2),
    ]
    assert told(8, "fleet.replicas=2") == told(8, "fleet.replicas=2", "fleet.slots=1") == two_each
    auto = told(7, "fleet.replicas=auto")
    assert [(line[1], line[3]) for line in auto] == [("a, b", 3), ("j", 2)]
    assert told(4, "fleet.replicas=2")[-1] == ("plan.fewer_replicas", "j", 1)
    assert told(2) == [("plan.placed", "j", "GPU 0, 1"), ("plan.waiting_for_turn", "a, b")]


def test_the_plan_names_engines_with_several_replicas_on_cpus() -> None:
    models = plan(replace(OURS, name="a"), replace(OURS, name="b"), ray=True)

    def told(*given: str) -> list[tuple[str, object]]:
        notes = replicas(config("fleet.device=cpu", *given), models)
        return [(code(it), values(it)["planned"]) for it in notes]

    assert told() == told("fleet.replicas=auto") == []
    # What weights of the hub take on a CPU is not known before a run.
    assert told("fleet.replicas=2") == [("plan.replicas", 2)]
    assert told("fleet.replicas=2", "fleet.slots=1") == [("plan.fewer_replicas", 1)]


def test_nothing_is_said_where_nothing_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")  # it may be there for others
    assert ignored(config(), plan(STAND_IN)) == []


def test_a_plan_says_where_it_works_and_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    given = config(*FAR, "fleet.nodes={a: b}", "sandbox.nodes={c: d}")
    given.storage = "s3://bucket/runs?region=x"
    shown = placed(given, plan(OURS, ray=True))
    address, *nodes = shown.cluster
    assert address == "127.0.0.1:1 (fleet.address)"
    assert [(it["labels"], it["setting"]) for it in map(values, nodes)] == [
        ("a=b", "fleet.nodes"),
        ("far=yes", "fleet.work_nodes"),
        ("c=d", "sandbox.nodes"),
    ]
    assert shown.storage == "s3://bucket/runs"
    assert codes(placed(config(), plan(OURS, ray=True)).cluster) == ["plan.own_ray"]
    monkeypatch.setenv("RAY_ADDRESS", "me:geheim@head:6379")
    assert placed(config(), plan(OURS, ray=True)).cluster == ("head:6379 (RAY_ADDRESS)",)
    assert placed(config(), plan(STAND_IN)).cluster == ()
    assert placed(given, plan()).storage is None  # it leaves no run


@pytest.mark.parametrize(
    ("given", "ray"),
    [
        (["+experiment=autobench", "roster=simulated"], False),
        (["+experiment=autobench", "roster=simulated", "autobench.iterations=5000"], True),
        (["+experiment=autobench"], True),
        (["+experiment=autobench_ablations", "roster=simulated"], False),
        (["+experiment=autobench_biases", "roster=simulated"], False),
        (["+experiment=games", "roster=simulated", "games.matches=9"], False),
        (["+experiment=games"], True),
        (["+experiment=hle", "roster=simulated", "data=samples"], True),
        (["+experiment=suite", "roster=simulated", "suite.parts=[autobench,games]"], False),
        (["+experiment=suite", "roster=simulated", "data=samples"], True),
        (["+experiment=serve"], True),
    ],
)
@pytest.mark.usefixtures("known_python")
def test_who_needs_a_cluster(given: list[str], ray: bool) -> None:
    asked = cli.check(cli.compose([*given, "dry_run=true"]))
    assert load(asked.experiment or "").plan(asked).ray == ray


@pytest.mark.slow
def test_a_run_and_its_plan_say_it(tmp_path: Path) -> None:
    told = "Note: fleet.address, fleet.work_nodes: "
    done = run_here(*SIMULATED, "autobench.iterations=2", *FAR, cwd=tmp_path)
    assert done.returncode == 0
    assert (done.stdout + done.stderr).count(told) == 1
    planned = run_here(*SIMULATED, *FAR, "dry_run=true", cwd=tmp_path)
    assert planned.stdout.count(told.replace(": ", "        ", 1)) == 1
    assert "Cluster" not in planned.stdout
