"""Where a run works and is kept, its replicas and keys, and which settings have no effect on it."""

from collections.abc import Iterator
from dataclasses import replace

from raybench.config import Config, FleetConf, labels
from raybench.fleet import group_engines, missing_keys, missing_token, name_keys
from raybench.fleet.devices import OWN, address, elsewhere, on_gpu
from raybench.fleet.engines import asked_replicas
from raybench.fleet.needs import plan_here
from raybench.statements import Statement
from raybench.types import JUDGING, Plan


def placed(config: Config, plan: Plan) -> Plan:
    """Return the plan with where it would work and be kept, its replicas and missing keys."""
    return replace(
        plan,
        cluster=tuple(_cluster(config, plan)),
        storage=config.storage.partition("?")[0] if config.storage and _is_run(plan) else None,
        notes=(*plan.notes, *replicas(config, plan), *_keys(plan), *ignored(config, plan)),
    )


def replicas(config: Config, plan: Plan) -> Iterator[str]:
    """Yield where engines would be on GPUs of this machine, and replicas that are not just one."""
    fleet = config.fleet
    asked = {model.name: model for model in (*plan.models, *plan.referees)}
    engines = [it for it in group_engines([*asked.values()]) if it.kind == "vllm"]
    here = plan_here(engines, fleet)
    has_places = here is not None and on_gpu(fleet) and bool(engines)
    if here is not None and has_places:
        yield from here.lines()
    for engine in engines:
        wanted = asked_replicas(engine, fleet)
        if here is None:
            number = 1 if wanted == "auto" else wanted
        else:  # engines that take turns have one
            number = max(1, here.replicas().get(engine.name, 0))
        names = dict.fromkeys(model.name.removesuffix(JUDGING) for model in engine.models)
        models = ", ".join(names)
        if wanted == "auto" and elsewhere(fleet):
            yield Statement(
                "plan.replicas_auto",
                "{models}: as many replicas as there are free GPUs during the run",
                models=models,
            )
        elif wanted != "auto" and number < wanted:
            yield Statement(
                "plan.fewer_replicas",
                "{models}: {planned} of {wanted} replicas, as there is no room for more beside the "
                "other engines (memory, fleet.slots)",
                models=models,
                planned=number,
                wanted=wanted,
            )
        elif number > 1 and not has_places:
            yield Statement(
                "plan.replicas", "{models}: {planned} replicas", models=models, planned=number
            )


def _keys(plan: Plan) -> Iterator[str]:
    """Yield a note that names the environment variables that the run needs and that are not set."""
    asked = [
        replace(model, name=model.name.removesuffix(JUDGING))
        for model in (*plan.models, *plan.referees)
    ]
    if missing := missing_keys(asked) | missing_token(asked):
        yield Statement(
            "plan.keys",
            "the run needs environment variables that are not set: {variables}",
            variables=name_keys(missing),
            missing=missing,
        )


def ignored(config: Config, plan: Plan) -> list[str]:
    """Return a note on settings of a cluster that the run makes no use of, where some are given.

    RAY_ADDRESS is none of them: it may have been set for something else.
    """
    fleet, kinds = config.fleet, _kinds(plan)
    if plan.ray and "vllm" in kinds:
        return []
    engines = {
        "fleet.nodes": fleet.nodes,
        "fleet.gpus": fleet.gpus,
        "fleet.replicas": fleet.replicas != FleetConf.replicas,
    }
    others = {"fleet.work_nodes": fleet.work_nodes, "sandbox.nodes": config.sandbox.nodes}
    every: dict[str, object] = {"fleet.address": fleet.address, **engines, **others}
    names = [it for it, value in every.items() if value and (it in engines or not plan.ray)]
    if not names:
        return []
    needs = "hosts no engine" if plan.ray else "needs no cluster"
    asked = (
        f"its models are {' or '.join(_WHO[it] for it in kinds)}" if kinds else "it asks no model"
    )
    here = ", and are asked from this process" if kinds and not plan.ray else ""
    return [
        Statement(
            "plan.no_effect",
            "{settings}: no effect, as this run {needs} ({asked}{here})",
            settings=", ".join(names),
            needs=needs,
            asked=asked,
            here=here,
            kinds=kinds,
        )
    ]


_WHO = {"openai": "at endpoints", "simulated": "simulated", "vllm": "hosted"}


def _kinds(plan: Plan) -> list[str]:
    return sorted({model.engine for model in (*plan.models, *plan.referees)} & {*_WHO})


def _is_run(plan: Plan) -> bool:
    """Tell whether it leaves a run, which is kept."""
    return bool(plan.units and plan.models)


def _cluster(config: Config, plan: Plan) -> Iterator[str]:
    """Yield which cluster is worked on, and on which of its nodes, where somebody chose that."""
    if not plan.ray:
        return
    fleet = config.fleet
    if (named := address(fleet)) != OWN:
        by = "fleet.address" if fleet.address else "RAY_ADDRESS"
        yield f"{named.rpartition('@')[2]} ({by})"
    else:
        yield Statement("plan.own_ray", "a Ray cluster of the run's own, on this machine")
    hosted = "vllm" in _kinds(plan)
    for setting, on, what in (
        ("fleet.nodes", fleet.nodes if hosted else {}, "engines"),
        ("fleet.work_nodes", fleet.work_nodes, "work"),
        ("sandbox.nodes", config.sandbox.nodes, "programs"),
    ):
        if on:
            yield Statement(
                "plan.nodes",
                "{what} on nodes with {labels} ({setting})",
                what=what,
                labels=labels.told(on),
                setting=setting,
            )
