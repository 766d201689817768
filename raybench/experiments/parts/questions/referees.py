"""The models that are asked about replies: HLE's judges, and the checker of maths."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from raybench import benchmarks
from raybench.config import Config, ExamConf
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.judges import as_judge
from raybench.pipeline.terms import Terms, models_of
from raybench.statements import Statement
from raybench.types import ModelSpec

_JUDGES = {
    "index": re.compile(r"(.*/)?gpt-4o-2024-08-06", re.IGNORECASE),
    "hle": re.compile(r"(.*/)?o3-mini-2025-01-31", re.IGNORECASE),
}
"""What HLE's judge of the methodology, and of HLE's paper, is called by those who serve it."""
_CHECKER = re.compile(r".*llama-?3\.3-70b.*", re.IGNORECASE)
"""What the methodology's checker is called."""
_JUDGES_ITS = {True: "judges its", False: "judge their"}


def is_judged(data: Prepared) -> bool:
    """Tell whether any reply takes a judge."""
    return any(benchmarks.load(name).judged for name in data.names)


def checked_benchmarks(data: Prepared) -> list[str]:
    """Return the benchmarks whose answers go to a checker where the script finds them not right."""
    return [name for name in data.names if benchmarks.load(name).checked]


def checker_of(config: Config, data: Prepared) -> ModelSpec | None:
    """Return the checker as it is asked; None where nothing is checked."""
    name = Terms.of(config).checker
    if name is None or not checked_benchmarks(data):
        return None
    ranked = {model.name: model for model in models_of(config)}
    return ranked.get(name) or replace(_every(config)[name], system_prompt=None)


def judges_of(config: Config) -> dict[str, ModelSpec]:
    """Return the judges by name, as they are asked."""
    every = _every(config)
    return {name: as_judge(every[name]) for name in Terms.of(config).conf.judges}


def others_of(config: Config, data: Prepared) -> list[ModelSpec]:
    """Return the models that are asked about replies and not ranked as they are asked."""
    checker = checker_of(config, data)
    unranked = checker and checker.name not in {model.name for model in config.roster.models}
    found = [checker] if checker and unranked else []
    return [*found, *(judges_of(config).values() if is_judged(data) else ())]


def bounded_judges(config: Config, data: Prepared) -> list[str]:
    """Return the judges whose reasoning is bounded: those that raybench hosts."""
    if Terms.of(config).conf.judge_chars is None or not is_judged(data):
        return []
    return [name for name, model in judges_of(config).items() if model.engine == "vllm"]


def role_deviates(config: Config, data: Prepared) -> bool:
    """Tell whether judges read their prompt otherwise than the exam's paper has it."""
    conf = Terms.of(config).conf
    return isinstance(conf, ExamConf) and is_judged(data) and conf.judge_role != "system"


def referee_results(config: Config, data: Prepared) -> dict[str, Any]:
    """Return what results.json says of who judged and checked."""
    checker = checker_of(config, data)
    return {
        **({"judges": list(Terms.of(config).conf.judges)} if is_judged(data) else {}),
        **({"checker": checker and checker.name} if checked_benchmarks(data) else {}),
    }


def plan_notes(config: Config, data: Prepared) -> list[Statement]:
    """Return the plan's notes on who judges and who checks, and why these do."""
    terms = Terms.of(config)
    section, first = terms.section, config.roster.judges[0].name if config.roster.judges else None
    notes = []
    if checker := checker_of(config, data):
        default = first if checker.name == first else None
        itself = checker.name in {it.name for it in config.roster.models}
        notes.append(
            Statement(
                "plan.checked",
                "{benchmarks}: {checker} checks the answers that the script does not mark right"
                "{itself}{why}",
                benchmarks=", ".join(checked_benchmarks(data)),
                checker=checker.name,
                itself=", its own answers too" if itself else "",
                own=itself,
                why=f"; {section}.checker=NAME chooses another, null none" + _by_default(default),
                default=default,
            )
        )
    if named := [name for name in data.names if benchmarks.load(name).judged]:
        names, judges = [model.name for model in config.roster.models], terms.conf.judges
        own = [name for name in judges if name in names]
        default = first if [*judges] == [first] else None
        notes.append(
            Statement(
                "plan.judged",
                "{benchmarks}: {judges} {judge} the replies{itself}{why}",
                benchmarks=", ".join(named),
                judges=" and ".join(judges),
                judge="judges" if len(judges) == 1 else "judge",
                itself=f" ({' and '.join(own)} also {_JUDGES_ITS[len(own) == 1]} own replies)"
                if own
                else "",
                why=f"; {section}.judges=[NAME] chooses another"
                + ", [] leaves it out" * (section == "index")
                + _by_default(default),
                own=own,
                default=default,
            )
        )
    return notes


def _by_default(first: str | None) -> str:
    """Say who is asked by default; '' where another is, whom a group or the user chose."""
    return f"; by default it is {first}, the first of roster.judges" if first else ""


def remarks(config: Config, data: Prepared) -> dict[str, Statement]:
    """Return what plan and report say of referees with the weights of a ranked model."""
    found: dict[str, Statement] = {}
    asked = _asked(config, data)
    if alike := {name: it for name, model in asked.items() if (it := _alike(config, model))}:
        found["Weights"] = Statement(
            "referees.same_weights",
            "{told}: replies are judged by the model that wrote them",
            told="; ".join(
                f"{name} has the weights of {', '.join(of)}" for name, of in alike.items()
            ),
            alike=alike,
        )
    return found


def checked_by(config: Config, data: Prepared) -> dict[str, Statement]:
    """Return who checks answers in maths, under the short name 'Checked by', if any are checked."""
    if not (named := checked_benchmarks(data)):
        return {}
    checker, titles = checker_of(config, data), ", ".join(benchmarks.load(it).title for it in named)
    if checker is None:
        told = Statement(
            "referees.unchecked", "no model, the script alone decides ({of})", of=titles
        )
    elif checker.name in {model.name for model in config.roster.models}:
        told = Statement(
            "referees.checks_itself",
            "{checker} ({of}), its own answers too",
            checker=checker.name,
            of=titles,
        )
    else:
        told = Statement("referees.checked", "{checker} ({of})", checker=checker.name, of=titles)
    return {"Checked by": told}


def other_judge(config: Config, data: Prepared) -> str | None:
    """Return the judge whose verdicts count where it is another model than the source has."""
    source = _JUDGES.get(Terms.of(config).section)
    if source is None or not is_judged(data):
        return None
    first, model = next(iter(judges_of(config).items()))
    return None if source.fullmatch(model.weights) else first


def other_checker(config: Config, data: Prepared) -> str | None:
    """Return the checker where it is another model than the index's methodology has."""
    checker = checker_of(config, data) if Terms.of(config).section == "index" else None
    return None if checker is None or _CHECKER.fullmatch(checker.weights) else checker.name


def _asked(config: Config, data: Prepared) -> dict[str, ModelSpec]:
    """Return the models that are asked about replies, by the roster's names."""
    checker = checker_of(config, data)
    judges = judges_of(config) if is_judged(data) else {}
    return {**({checker.name: checker} if checker else {}), **judges}


def _alike(config: Config, referee: ModelSpec) -> Sequence[str]:
    """Return the models of other names that are ranked and have a referee's weights."""
    own = (referee.engine, referee.weights, referee.revision, referee.options.get("base_url"))
    return [
        model.name
        for model in (it.spec() for it in config.roster.models)
        if referee.weights
        and referee.name not in (model.name, as_judge(model).name)
        and (model.engine, model.weights, model.revision, model.options.get("base_url")) == own
    ]


def _every(config: Config) -> dict[str, ModelSpec]:
    return {model.name: model.spec() for model in (*config.roster.models, *config.roster.judges)}
