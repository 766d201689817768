"""Settings by which a run of benchmarks deviates from its source, as results.json lists them."""

from collections.abc import Iterator
from typing import Any

from raybench.config import Config, HleScreenConf
from raybench.experiments.parts.deviations import Deviation
from raybench.experiments.parts.questions import referees
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.terms import Terms, prepended, with_own_prompts

_SAMPLING: dict[str, tuple[Any, str]] = {
    "temperature": (0.0, "0"),
    "max_tokens": (4096, "4,096"),
    "repeats": (None, "each benchmark's own number"),
}
"""How the methodology asks."""


def other_sampling(config: Config) -> dict[str, Any]:
    """Return the settings by which the index samples otherwise than the methodology."""
    conf = Terms.of(config).conf
    if Terms.of(config).section != "index":
        return {}
    given = {name: getattr(conf, name) for name in _SAMPLING}
    return {name: value for name, value in given.items() if value != _SAMPLING[name][0]}


def deviations(config: Config, data: Prepared, *, names_letters: bool) -> Iterator[Deviation]:
    """Yield them; `names_letters` tells whether prompts of a benchmark name letters."""
    terms = Terms.of(config)
    section, conf = terms.section, terms.conf
    for name, value in other_sampling(config).items():
        yield Deviation(f"{section}.{name}", value, _SAMPLING[name][1], f"{name} {value}")
    if terms.grader != "parity":
        yield Deviation(
            f"{section}.grader", terms.grader, "parity", "stricter rules that read more"
        )
    if names_letters and terms.letters != "all":
        text = "prompts name the letters of a question's own options"
        yield Deviation(f"{section}.letters", terms.letters, "ten letters in each", text)
    if conf.own_system_prompts and (models := with_own_prompts(config)):
        text = f"{', '.join(models)} are asked with the roster's system prompts"
        yield Deviation(f"{section}.own_system_prompts", True, "no system prompts", text)
    if models := prepended(config):
        text = f"{', '.join(models)} read the system prompt before the question"
        yield Deviation("hle.without_system_role", "prepended", "a message of its own", text)
    if referees.role_deviates(config, data):
        text = "judges read their prompt as a user message"
        yield Deviation(f"{section}.judge_role", conf.judge_role, "a system prompt", text)
    if judges := referees.bounded_judges(config, data):
        text = f"{', '.join(judges)} may reason in {conf.judge_chars:,} characters at most"
        yield Deviation(f"{section}.judge_chars", conf.judge_chars, "no bound", text)
    if isinstance(conf, HleScreenConf) and conf.review == "skip":
        text = "what passes the panel is published without review"
        yield Deviation("hle_screen.review", conf.review, "two rounds of review", text)
    if section == "index":
        yield from _referees(config, data)


def _referees(config: Config, data: Prepared) -> Iterator[Deviation]:
    judge, checker = referees.other_judge(config, data), referees.checker_of(config, data)
    if judge:
        text = f"HLE is judged by {judge}"
        yield Deviation("index.judges", [*config.index.judges], "GPT-4o of August 2024", text)
    if referees.checked_benchmarks(data) and (
        checker is None or referees.other_checker(config, data)
    ):
        text = f"maths is checked by {checker.name}" if checker else "the script alone decides"
        yield Deviation("index.checker", config.index.checker, "Llama 3.3 70B", text)
