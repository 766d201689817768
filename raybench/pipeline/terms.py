"""On what terms questions are put: what experiments that put some tell of how to."""

from dataclasses import dataclass, replace
from typing import Self, cast

from raybench import benchmarks
from raybench.config import Config, QuestionsConf
from raybench.pipeline.stages import Asking
from raybench.types import Grader, Letters, ModelSpec


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked and how, whichever experiment asks."""

    section: str
    """The experiment, and where its settings stand."""
    benchmarks: tuple[str, ...]
    conf: QuestionsConf
    languages: tuple[str, ...] | None = None
    checker: str | None = None
    grader: Grader = "parity"
    wording: str = ""
    letters: Letters = "all"
    images: bool = False
    """Questions that come with an image are put, too."""

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return the terms of the experiment that the configuration names."""
        section = str(config.experiment)
        if (exam := {"hle": config.hle, "hle_screen": config.hle_screen}.get(section)) is not None:
            return cls(section, ("hle",), exam, wording=exam.prompt, images=exam.images)
        conf = config.index
        return cls(
            section,
            tuple(conf.benchmarks),
            conf,
            languages=None if conf.languages is None else tuple(conf.languages),
            checker=conf.checker,
            grader=cast(Grader, conf.grader),  # `config.problems` has checked both
            letters=cast(Letters, conf.letters),
        )


def asking_of(config: Config) -> Asking:
    """Return how questions are put, by which anybody can put them again."""
    models, terms = {model.name: model for model in models_of(config)}, Terms.of(config)
    return Asking(
        models,
        config.seed,
        wording=terms.wording,
        letters=terms.letters,
        system_apart=config.experiment == "hle" and config.hle.without_system_role == "separate",
    )


def models_of(config: Config) -> list[ModelSpec]:
    """Return the roster's models with the sampling that they are asked with."""
    conf = Terms.of(config).conf
    found = [_sampled(model.spec(), conf) for model in config.roster.models]
    if conf.own_system_prompts:
        return found
    return [replace(model, system_prompt=None) for model in found]


def needed_referees(config: Config) -> list[str]:
    """Return the names of the models that are asked about replies to what is asked."""
    terms = Terms.of(config)
    asked = [benchmarks.load(name) for name in terms.benchmarks]
    checker = [terms.checker] if terms.checker and any(it.checked for it in asked) else []
    return [*checker, *(terms.conf.judges if any(it.judged for it in asked) else ())]


def with_own_prompts(config: Config) -> list[str]:
    """Return the models for which the roster has a system prompt."""
    return [model.name for model in config.roster.models if model.system_prompt]


def _sampled(model: ModelSpec, conf: QuestionsConf) -> ModelSpec:
    own = model.sampling
    bounds = [own.max_tokens, None if model.reasoning else conf.max_tokens]
    sampling = replace(
        own,
        temperature=own.temperature if conf.temperature is None else conf.temperature,
        # A model that reasons has its own maximum.
        max_tokens=min((bound for bound in bounds if bound is not None), default=None),
    )
    return replace(model, sampling=sampling)


def prepended(config: Config) -> list[str]:
    """Return the models that are known to take no system message and have it before the question.

    Of hosted models it is known when their engines are up, of others when they refuse one.
    """
    if config.experiment != "hle" or config.hle.without_system_role != "prepended":
        return []
    return [model.name for model in config.roster.models if model.system_role is False]
