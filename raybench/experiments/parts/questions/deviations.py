"""Settings by which a run of benchmarks deviates from its source: for plan, report and results."""

from collections.abc import Iterator
from typing import Any

from raybench import benchmarks
from raybench.benchmarks.parts.choices import MultipleChoice
from raybench.config import Config, HleScreenConf
from raybench.experiments.parts.deviations import Deviation
from raybench.experiments.parts.questions import referees
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.terms import Terms, prepended, with_own_prompts
from raybench.sandbox import Settings, places

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


def other_sampling(config: Config) -> dict[str, Any]:
    """Return the settings by which the index samples otherwise than the methodology."""
    conf = Terms.of(config).conf
    if Terms.of(config).section != "index":
        return {}
    given = {name: getattr(conf, name) for name in _SAMPLING}
    return {name: value for name, value in given.items() if value != _SAMPLING[name][0]}


def other_letters(config: Config, data: Prepared) -> str | None:
    """Return which letters prompts name if those are others than the methodology's."""
    letters, asked = Terms.of(config).letters, [benchmarks.load(part.benchmark) for part in data]
    named = any(isinstance(it, MultipleChoice) and it.letters for it in asked)
    return letters if named and letters != "all" else None


def deviations(config: Config, data: Prepared) -> Iterator[Deviation]:
    """Yield all deviations from the source."""
    terms = Terms.of(config)
    section, conf = terms.section, terms.conf
    for name, value in other_sampling(config).items():
        _, source, told = _SAMPLING[name]
        text = "each model's own temperature" if value is None else told.format(value)
        yield Deviation(f"{section}.{name}", value, source, text)
    if terms.grader != "parity":
        text = "stricter rules grade the replies: scores cannot be compared with published ones"
        yield Deviation(f"{section}.grader", terms.grader, "its own rules, grader=parity", text)
    if letters := other_letters(config, data):
        text = "prompts name only the letters that a question has options for"
        yield Deviation(f"{section}.letters", letters, "ten letters in each prompt", text)
    if conf.own_system_prompts and (models := with_own_prompts(config)):
        text = f"{', '.join(models)} are asked with the roster's system prompts"
        yield Deviation(f"{section}.own_system_prompts", True, "no system prompts of users", text)
    if models := prepended(config):
        text = f"{', '.join(models)} read the exam's system prompt at the start of the question"
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
    if judge := referees.other_judge(config, data):
        text = f"HLE is judged by {judge}"
        yield Deviation(f"{section}.judges", [*conf.judges], _JUDGE[section], text)
    if section == "index":
        yield from _lacking(config, data)
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


def _lacking(config: Config, data: Prepared) -> Iterator[Deviation]:
    checker = referees.checker_of(config, data)
    if not config.index.judges and any(benchmarks.load(it).judged for it in data.left_out):
        text = "HLE is left out, because no model judges it"
        yield Deviation("index.judges", [], _JUDGE["index"], text)
    if (named := referees.checked_benchmarks(data)) and (
        checker is None or referees.other_checker(config, data)
    ):
        text = f"no model checks {' and '.join(named)}: the script alone decides"
        if checker:
            text = f"{' and '.join(named)} are checked by {checker.name}"
        source = f"Llama 3.3 70B checks what the script does not mark right, as in {_JUDGES}"
        yield Deviation("index.checker", config.index.checker, source, text)
