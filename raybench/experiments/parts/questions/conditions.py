"""How it was asked: the questions, the models and the settings, for whoever does it again."""

from collections.abc import Iterator, Mapping
from typing import Any

from raybench import benchmarks
from raybench.config import Config
from raybench.experiments.parts.deviations import DEVIATIONS, Deviation, note, planned, section
from raybench.experiments.parts.questions import referees
from raybench.experiments.parts.questions.deviations import deviations as named
from raybench.experiments.parts.questions.deviations import (
    lacking_languages,
    other_letters,
    other_sampling,
    scope,
    source_of,
)
from raybench.experiments.parts.questions.exam_remarks import remarks
from raybench.experiments.parts.reproducing import publishable
from raybench.pipeline.datasets import Dataset, Prepared
from raybench.pipeline.revisions import Stamp
from raybench.pipeline.terms import Terms, models_of, prepended, with_own_prompts
from raybench.statements import Statement
from raybench.tracking.report import Section, Table

_DIGEST = 16
_THINKS = "multilingual_mmlu"
_ROLES = {"system": "a system prompt", "user": "a user message"}


def about(part: Dataset, repeats: int, chance: float | None, grading: int = 1) -> dict[str, Any]:
    """Return what results.json says of a benchmark's questions."""
    return {
        "origin": part.origin,
        "files": list(part.files),
        "digest": part.digest,
        "questions": part.questions,
        "languages": dict(part.by_language),
        "repeats": repeats,
        "chance": chance,
        "grading": grading,
        **({"caveats": dict(part.caveats)} if part.caveats else {}),
        **({"repeated": [list(ids) for ids in part.repeated]} if part.repeated else {}),
        **(_stamped(part.stamp) if part.stamp else {}),
    }


def _stamped(stamp: Stamp) -> dict[str, Any]:
    """Return what results.json says of the review of a revision's questions."""
    return {
        "review": stamp.review,
        "unreviewed": stamp.unreviewed,
        **({"older_version": True} if stamp.older else {}),
        **({"screened_by_simulated": True} if stamp.simulated else {}),
    }


def questions(data: Mapping[str, Mapping[str, Any]]) -> Section:
    """Return the section that says what was asked, from what results.json says of it."""
    return Section(
        "The questions",
        "",
        table=Table(
            ("benchmark", "questions", "repeats", "languages", "origin", "files", "sha256"),
            [
                (
                    benchmarks.load(name).title,
                    of["questions"],
                    of["repeats"],
                    _languages(of["languages"]),
                    publishable(of["origin"]),
                    ", ".join(of["files"]),
                    of["digest"][:_DIGEST],
                )
                for name, of in data.items()
            ],
            caption="sha256: the beginning of the digest of what the questions say, whatever their "
            "order; results.json has it whole (run.data).",
        ),
    )


def settings(config: Config) -> dict[str, str]:
    """Return the settings that the numbers depend on, in words."""
    terms = Terms.of(config)
    conf = terms.conf
    judges = conf.judges if any(benchmarks.load(it).judged for it in terms.benchmarks) else ()
    found = {
        "questions": Statement("questions.all", "all of them")
        if conf.limit is None
        else Statement(
            "questions.some",
            "{most:,} of each benchmark and language, drawn at random with the run's seed",
            most=conf.limit,
        ),
        "subjects": ", ".join(conf.subset),
        "temperature": "each model's own" if conf.temperature is None else f"{conf.temperature:g}",
        "most tokens of a reply": f"{conf.max_tokens:,}; models that reason have their own maximum",
        "judges": ", ".join(judges),
        "judges' prompt": _ROLES.get(conf.judge_role, "") if judges else "",
        "judges' reasoning": f"{conf.judge_chars:,} characters at most, of hosted judges"
        if judges and conf.judge_chars is not None
        else "",
        "system prompts of the roster": (
            "asked with (own_system_prompts)" if conf.own_system_prompts else "left out"
        )
        if with_own_prompts(config)
        else "",
        "replies that never came or got no grade": "left out (accept_failures)"
        if conf.accept_failures
        else "withhold the score",
    }
    return {name: text for name, text in found.items() if text}


def deviations(config: Config, data: Prepared) -> dict[str, Any]:
    """Return what results.json says of what was asked otherwise than the source does.

    That is what could not be asked, models asked with system prompts of the roster, other letters
    and another sampling, and how judges are asked; nothing where there is nothing.
    """
    conf = Terms.of(config).conf
    found = {
        "left_out": dict(data.left_out),
        "own_system_prompts": _prompted(config),
        "judge_role": conf.judge_role if referees.role_deviates(config, data) else None,
        "letters": other_letters(config, data),
        "sampling": other_sampling(config, data),
        "judge_chars": conf.judge_chars if referees.bounded_judges(config, data) else None,
        "without_system_role": config.hle.without_system_role if prepended(config) else None,
    }
    return {name: it for name, it in found.items() if it}


def named_deviations(config: Config, data: Prepared) -> tuple[Deviation, ...]:
    """Return the settings that deviate from the source."""
    return tuple(named(config, data))


def listed_deviations(config: Config, data: Prepared) -> dict[str, Any]:
    """Return these settings as results.json lists them; an empty list where none deviates."""
    return {"deviations": [it.to_json() for it in named_deviations(config, data)]}


def planned_deviations(config: Config, data: Prepared) -> Iterator[str]:
    """Yield these settings as lines of a plan, or that there are none."""
    yield from planned(named_deviations(config, data), source_of(config), scope(config, data))


def deviations_section(config: Config, data: Prepared) -> Section:
    """Return the section that says how each setting deviates."""
    return section(named_deviations(config, data), source_of(config))


def thinking_note(config: Config, data: Prepared) -> Statement | None:
    """Say so where models that reason are told to think step by step; None where none is."""
    models = [model.name for model in models_of(config) if model.reasoning]
    if not models or not any(part.benchmark == _THINKS for part in data):
        return None
    return Statement(
        "plan.told_to_think",
        "{benchmark}: {models} are also told to think step by step, as in the prompt of "
        "simple-evals; the methodology states no prompt",
        benchmark=_THINKS,
        models=", ".join(models),
    )


def _prompted(config: Config) -> list[str]:
    """Return the models that are asked with a system prompt of the roster."""
    return with_own_prompts(config) if Terms.of(config).conf.own_system_prompts else []


def narrowed(config: Config, data: Prepared) -> dict[str, str]:
    """Return what keeps scores from comparing with those of others, by short names."""
    subjects = ", ".join(Terms.of(config).conf.subset)
    parts = list(data)
    found = {
        "Subjects": subjects and f"only {subjects}: scores are over these alone",
        "Samples": Statement(
            "deviation.samples",
            "questions shipped to try things out: scores on them cannot be compared with published "
            "ones",
        )
        if any(part.origin == "samples" for part in parts)
        else "",
        "Questions": "; ".join(it for part in parts for it in part.notes),
        "Left out": "; ".join(f"{name}: {why}" for name, why in data.left_out.items()),
    }
    told = {name: text for name, text in found.items() if text}
    return told | lacking(config, data) | referees.remarks(config, data) | remarks(config, data)


def lacking(config: Config, data: Prepared) -> dict[str, Statement]:
    """Return what plan and report say of languages that the Multilingual Index lacks."""
    languages = lacking_languages(data)
    if not languages or Terms.of(config).section != "index":
        return {}
    told = "covers only the others" if config.index.partial else "is not computed"
    return {
        "Languages": Statement(
            "plan.languages",
            "the Multilingual Index {told}, as not all benchmarks are asked in {languages} "
            "(index.languages)",
            told=told,
            languages=", ".join(languages),
        )
    }


def closing(config: Config, data: Prepared, reused: int, units: int) -> dict[str, str]:
    """Return the last footnotes: who checked, how the run deviates, what was in the cache."""
    deviating = note(named_deviations(config, data), source_of(config), scope(config, data))
    return {
        **referees.checked_by(config, data),
        DEVIATIONS: deviating,
        **({"From cache": _reused(config, reused, units)} if units else {}),
    }


def _reused(config: Config, reused: int, units: int) -> str:
    """Return how many of the replies an earlier run had had."""
    if not Terms.of(config).conf.cache:
        return "not used (cache=false)"
    if not reused:
        return Statement(
            "cache.none", "no reply came from an earlier run (new: {replies:,})", replies=units
        )
    return Statement(
        "cache.some",
        "{reused:,} of {replies:,} replies came from earlier runs (new: {new:,})",
        reused=reused,
        replies=units,
        new=units - reused,
    )


def _languages(questions: Mapping[str, int]) -> str:
    """Return the languages, with their questions where they differ in that."""
    if len(set(questions.values())) <= 1:
        return ", ".join(questions)
    return ", ".join(f"{language} {count:,}" for language, count in questions.items())
