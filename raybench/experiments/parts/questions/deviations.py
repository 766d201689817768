"""Settings by which a run of benchmarks deviates from its source: for plan, report and results."""

from collections.abc import Iterator
from typing import Any

from raybench import benchmarks
from raybench.benchmarks.parts import indices
from raybench.benchmarks.parts.choices import MultipleChoice
from raybench.benchmarks.parts.contract import INDEX_LANGUAGES, Draw
from raybench.config import Config, FleetConf, HleScreenConf
from raybench.experiments.parts.deviations import HLE_PAPER, METHODOLOGY, SAMPLED, Deviation
from raybench.experiments.parts.questions import referees
from raybench.pipeline.datasets import Dataset, Prepared
from raybench.pipeline.sources import SAMPLES
from raybench.pipeline.terms import Terms, models_of, prepended, with_own_prompts
from raybench.sandbox import Settings, places
from raybench.statements import Statement

_SAMPLING: dict[str, tuple[Any, str, str]] = {
    "temperature": (0.0, "temperature 0", "temperature {:g}"),
    "max_tokens": (4096, "at most 4,096 tokens", "replies have at most {:,} tokens"),
    "repeats": (None, "each benchmark's own number", "each question is asked {:,} ×"),
}
"""How the methodology asks, in words as well, and how another value is named."""
_PYTHON = "3.12"
"""The methodology's, for programs."""
_JUDGES = "+roster/judges=methodology"
_JUDGE = {
    "index": f"GPT-4o of August 2024, as in {_JUDGES}",
    "hle": "o3-mini of January 2025 (o3-mini-2025-01-31)",
}
"""Who judges HLE in the methodology, and in HLE's paper."""


def source_of(config: Config) -> str:
    """Return what the run is held against."""
    return METHODOLOGY if Terms.of(config).section == "index" else HLE_PAPER


def other_sampling(config: Config, data: Prepared) -> dict[str, Any]:
    """Return the settings by which the index samples otherwise than the methodology."""
    conf = Terms.of(config).conf
    if Terms.of(config).section != "index":
        return {}
    given = {name: getattr(conf, name) for name in _SAMPLING}
    if all(benchmarks.load(name).repeats == conf.repeats for name in data.names):
        given["repeats"] = None  # it is what the methodology has
    return {name: value for name, value in given.items() if value != _SAMPLING[name][0]}


def other_letters(config: Config, data: Prepared) -> str | None:
    """Return which letters prompts name if some of them name others than the methodology's."""
    letters = Terms.of(config).letters
    return letters if letters != "all" and any(map(_has_other_letters, data)) else None


def _has_other_letters(part: Dataset) -> bool:
    """Tell whether a question has fewer options than its prompt names letters by default."""
    asked = benchmarks.load(part.benchmark)
    if not isinstance(asked, MultipleChoice) or not asked.letters:
        return False
    return any(len(asked.options(row, Draw())) < len(asked.letters) for row in part.rows())


def deviations(config: Config, data: Prepared) -> Iterator[Deviation]:
    """Yield all deviations from the source."""
    terms = Terms.of(config)
    section, conf = terms.section, terms.conf
    for name, value in other_sampling(config, data).items():
        _, source, told = _SAMPLING[name]
        text = "each model's own temperature" if value is None else told.format(value)
        yield Deviation(f"{section}.{name}", value, source, text)
    if terms.grader != "parity":
        text = "stricter rules grade the replies: scores cannot be compared with published ones"
        yield Deviation(f"{section}.grader", terms.grader, "its own rules, grader=parity", text)
    if letters := other_letters(config, data):
        text = "prompts name only the letters that a question has options for"
        yield Deviation(f"{section}.letters", letters, "ten letters in each prompt", text)
    if data.names and conf.own_system_prompts and (models := with_own_prompts(config)):
        text = Statement(
            "deviation.system_prompts",
            "{models} {are} asked with the roster's system prompts",
            models=", ".join(models),
            are="is" if len(models) == 1 else "are",
        )
        yield Deviation(f"{section}.own_system_prompts", True, "no system prompts of users", text)
    if models := prepended(config):
        reads = "reads" if len(models) == 1 else "read"
        text = f"{', '.join(models)} {reads} the exam's system prompt at the start of the question"
        source = "a user message of its own, for models that take no system message"
        yield Deviation("hle.without_system_role", "prepended", source, text)
    if referees.role_deviates(config, data):
        text = "judges read their prompt as a user message"
        yield Deviation(f"{section}.judge_role", conf.judge_role, "a system prompt", text)
    if judges := referees.bounded_judges(config, data):
        text = f"the reasoning of {', '.join(judges)} has at most {conf.judge_chars:,} characters"
        yield Deviation(f"{section}.judge_chars", conf.judge_chars, "no limit", text)
    if isinstance(conf, HleScreenConf) and conf.review == "skip":
        text = "what passes the panel is published without review"
        yield Deviation("hle_screen.review", conf.review, "two rounds of review", text)
    if isinstance(conf, HleScreenConf) and data.names and not (conf.private or conf.late):
        text = "no approved question is held out"
        source = "a private set is held out"
        yield Deviation("hle_screen.private", conf.private, source, text)
    if section == "hle" and terms.wording != "single":
        text = "each type of answer has its own system prompt, as in the methodology and the "
        text += "authors' code"
        source = "one system prompt for all questions, prompt=single"
        yield Deviation("hle.prompt", terms.wording, source, text)
    if judge := referees.other_judge(config, data):
        text = f"HLE is judged by {judge}"
        yield Deviation(f"{section}.judges", [*conf.judges], _JUDGE[section], text)
    if conf.accept_failures and section != "hle_screen":
        text = Statement(
            "deviation.accept_failures",
            "where replies never come, or get no grade, scores are made without them",
        )
        source = "all questions count"
        if section == "index":
            source = "results with persistent failures are not published"
        yield Deviation(f"{section}.accept_failures", True, source, text)
    if section == "index":
        yield from _models(config)
        yield from _lacking(config, data)
        yield from _tries(config, data)
    if any(benchmarks.load(part.benchmark).sandboxed for part in data):
        version = places.python_of(sandbox_of(config)).version
        if not version.startswith(f"{_PYTHON}."):
            text = f"programs run in Python {version}"
            source = f"Python {_PYTHON} on Ubuntu 22.04, as in sandbox=image"
            yield Deviation("sandbox.python", version, source, text)


def sandbox_of(config: Config) -> Settings:
    """Return how replies that are programs are confined, and in which Pythons they run."""
    conf = config.sandbox
    return Settings(conf.backend, conf.python, conf.scientific_python, pinned=True)


def lacking_languages(data: Prepared) -> list[str]:
    """Return the languages of the Multilingual Index that a benchmark of it is not asked in."""
    several = [it for it in data if len(benchmarks.load(it.benchmark).languages) > 1]
    return [name for name in INDEX_LANGUAGES if any(name not in it.by_language for it in several)]


def scope(config: Config, data: Prepared) -> list[str]:
    """Return the settings by which only some of the source's questions are asked, or others."""
    terms = Terms.of(config)
    section, conf = terms.section, terms.conf
    if section == "hle_screen":  # it asks candidates, never the source's questions
        return []
    of_index = section == "index"
    every = {name for index in indices.INDICES for name in indices.constituents(index)}
    found = {
        SAMPLED: any(part.origin == SAMPLES for part in data),
        f"{section}.benchmarks": of_index and not every <= {*terms.benchmarks},
        f"{section}.languages": of_index and bool(lacking_languages(data)),
        f"{section}.images": not of_index and not terms.images,
        f"{section}.limit": conf.limit is not None,
        f"{section}.subset": bool(conf.subset),
    }
    return [name for name, narrows in found.items() if narrows]


def _models(config: Config) -> Iterator[Deviation]:
    """Yield how models are sampled otherwise by their own settings in the roster."""
    conf, found = config.index, dict[str, str]()
    for model in models_of(config):
        heat, most = model.drawn_with["temperature"], model.drawn_with["max_tokens"]
        other = []
        if conf.temperature is not None and heat != conf.temperature:
            other.append("its endpoint's temperature" if heat is None else f"temperature {heat:g}")
        if not model.reasoning and most is not None and most != conf.max_tokens:
            other.append(f"at most {most:,} tokens")
        if other:
            found[model.name] = " and ".join(other)
    if found:
        text = "; ".join(f"{name} has {own}" for name, own in found.items())
        source = "temperature 0 and at most 4,096 tokens for models that do not reason"
        yield Deviation("roster.models[].sampling", found, source, text)


def _tries(config: Config, data: Prepared) -> Iterator[Deviation]:
    """Yield which limits of tries are lower, of the engines that are asked."""
    asked = {it.engine for it in (*models_of(config), *referees.others_of(config, data))}
    fleet, usual, source = config.fleet, FleetConf(), "up to 30 tries of a failed call"
    if "vllm" in asked and fleet.attempts < usual.attempts:
        s = "s" * (fleet.attempts > 1)
        text = f"hosted engines have {fleet.attempts} attempt{s} for a batch of requests"
        yield Deviation("fleet.attempts", fleet.attempts, source, text)
    if "openai" not in asked:
        return
    if fleet.endpoint_attempts < usual.endpoint_attempts:
        text = f"endpoints have {fleet.endpoint_attempts} tries for a request"
        yield Deviation("fleet.endpoint_attempts", fleet.endpoint_attempts, source, text)
    if fleet.endpoint_deadline_s < usual.endpoint_deadline_s:
        text = f"endpoints have {fleet.endpoint_deadline_s:g} s for all tries of a request"
        yield Deviation("fleet.endpoint_deadline_s", fleet.endpoint_deadline_s, source, text)


def _partial(config: Config, data: Prepared) -> bool:
    """Tell whether an index is made of a part of its benchmarks or languages."""
    asked = {*data.names}
    parts = [{*indices.constituents(index)} for index in indices.INDICES]
    some = any(asked & of and not of <= asked for of in parts)
    return config.index.partial and (some or bool(lacking_languages(data)))


def _lacking(config: Config, data: Prepared) -> Iterator[Deviation]:
    if _partial(config, data):
        text = "indices are made of the benchmarks and languages at hand"
        source = "an index is made of all its benchmarks"
        yield Deviation("index.partial", True, source, text)
    checker = referees.checker_of(config, data)
    if not config.index.judges and any(benchmarks.load(it).judged for it in data.left_out):
        text = "HLE is left out, because no model judges it"
        yield Deviation("index.judges", [], _JUDGE["index"], text)
    if (named := referees.checked_benchmarks(data)) and (
        checker is None or referees.other_checker(config, data)
    ):
        text = f"no model checks {' and '.join(named)}: the script alone decides"
        if checker:
            text = f"{checker.name} checks {' and '.join(named)}"
        source = f"Llama 3.3 70B checks what the script does not mark right, as in {_JUDGES}"
        yield Deviation("index.checker", config.index.checker, source, text)
