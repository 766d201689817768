"""Models: what a roster may say of them, and the secrets that it may not hold."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from raybench.config import labels
from raybench.config.missing import MISSING
from raybench.config.places import replicas_problems
from raybench.errors import Problem, did_you_mean
from raybench.types import JUDGING, EngineKind, ModelSpec, Sampling

_SECRET = re.compile(
    r"(.*[_-])?(api[_-]?key|(access|secret)[_-]?key|(hf|api|auth|access|bearer)[_-]?token|secret"
    r"|password|authorization)|key|token",
    re.IGNORECASE,
)
"""Names of settings whose value is a secret."""
_ENGINES = tuple(kind for kind in get_args(EngineKind) if kind != "scripted")
_LOGIN = re.compile(r"://[^/\s]*@")


@dataclass
class SamplingConf:
    """How a model draws its tokens."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int | None = None


@dataclass
class ModelConf:
    """One entry of a roster."""

    name: str = MISSING
    engine: str = "vllm"
    weights: str = ""
    revision: str | None = None
    sampling: SamplingConf | None = field(default_factory=SamplingConf)
    system_prompt: str | None = None
    reasoning: bool | None = None
    images: bool | None = None
    system_role: bool | None = None
    family: str | None = None
    replicas: int | str | None = None
    """Copies of its engine, or 'auto'; None leaves that to `fleet.replicas`."""
    nodes: dict[str, str] | None = field(default_factory=dict)
    """Labels of the nodes that may hold its engine, among those of `fleet.nodes`."""
    options: dict[str, Any] | None = field(default_factory=dict)

    def spec(self) -> ModelSpec:
        """Return the model as the fleet knows it; an empty section is one left out."""
        return ModelSpec(
            name=self.name,
            engine=self.engine,  # type: ignore[arg-type]  # `problems` has checked it
            weights=self.weights,
            revision=self.revision,
            sampling=Sampling(**vars(self.sampling or SamplingConf())),
            system_prompt=self.system_prompt,
            reasoning=(
                "reasoning_parser" in (self.options or {})
                if self.reasoning is None
                else self.reasoning
            ),
            images=self.images,
            system_role=self.system_role,
            options=self.options or {},
            family=self.family,
            replicas=self.replicas,  # type: ignore[arg-type]  # as above
            nodes=self.nodes or {},
        )


@dataclass
class RosterConf:
    """The models to rank, and those that are asked about others without being ranked."""

    name: str = MISSING
    models: list[ModelConf] = field(default_factory=list)
    judges: list[ModelConf] = field(default_factory=list)


def problems(roster: RosterConf) -> Iterator[Problem]:
    """Yield what is wrong with a roster and its models."""
    if not roster.models:
        yield Problem(
            "setting.missing",
            f"roster '{roster.name}' has no models",
            setting="roster.models",
            fix="write them on the command line (roster.models='[{name: NAME, "
            "weights: ORG/NAME}]') or choose another roster (roster=NAME or roster=PATH.yaml)",
        )
    every = (*roster.models, *roster.judges)
    for name, count in Counter(model.name for model in every).items():
        if count > 1:
            yield Problem(
                "setting.duplicate",
                f"roster '{roster.name}' has {count} models named '{name}': results are kept by "
                "name",
                setting="roster.models[].name",
                given=name,
                fix="Give each its own under roster.models[].name",
            )
    for model in every:
        if model.name.endswith(JUDGING):
            yield Problem(
                "setting.conflict",
                f"roster '{roster.name}' has a model named '{model.name}', as "
                f"'{model.name.removesuffix(JUDGING)}' is when it judges",
                setting="roster.models[].name",
                given=model.name,
                fix="give it another name",
            )
        yield from _model_problems(f"model '{model.name}' of roster '{roster.name}'", model)


def _model_problems(where: str, model: ModelConf) -> Iterator[Problem]:
    if model.engine not in _ENGINES:
        yield Problem(
            "setting.choice",
            f"{where}: unknown engine '{model.engine}'",
            setting="roster.models[].engine",
            given=model.engine,
            fix=did_you_mean(model.engine, _ENGINES),
        )
    elif not model.weights and model.engine != "simulated":
        yield Problem(
            "setting.missing",
            f"{where} has no weights",
            setting="roster.models[].weights",
            fix="give 'embedded', a hub id ORG/NAME or a local folder (for an openai engine, the "
            "name the endpoint knows the model by)",
        )
    if model.family is not None and not model.family.strip():
        yield Problem(
            "setting.missing",
            f"{where}: family is empty",
            setting="roster.models[].family",
            fix="name one, or leave it out for the weights' own",
        )
    if model.replicas is not None and model.engine in _ENGINES:
        setting = "roster.models[].replicas"
        yield from replicas_problems(setting, model.replicas, where)
        if model.engine != "vllm":
            yield Problem(
                "setting.conflict",
                f"{where}: replicas is {model.replicas}, and its engine is {model.engine}",
                setting=setting,
                given=model.replicas,
                fix="leave it out, as only vllm engines have replicas",
            )
    if model.nodes:
        for problem in labels.problems("roster.models[].nodes", model.nodes):
            yield problem.prefixed(f"{where}: ")
        if model.engine in _ENGINES and model.engine != "vllm":
            yield Problem(
                "setting.conflict",
                f"{where}: nodes is {labels.told(model.nodes)}, and its engine is {model.engine}",
                setting="roster.models[].nodes",
                given=model.nodes,
                fix="leave it out, as only vllm engines run on nodes of the cluster",
            )
    for path in _secrets(model.options or {}, "options"):
        yield Problem(
            "setting.secret",
            f"{where}: {path} holds a secret (it is not repeated here), which would be copied "
            "into config.yaml and logs",
            setting=f"roster.models[].{path}",
            fix="take it out, and put it into the environment (options.api_key_env names an "
            "endpoint's variable; the Hugging Face hub's is HF_TOKEN)",
        )
    sampling = model.spec().sampling
    if not 0 <= sampling.temperature <= 2:
        yield Problem(
            "setting.range",
            f"{where}: sampling.temperature is {sampling.temperature}",
            setting="roster.models[].sampling.temperature",
            given=sampling.temperature,
            fix="it is 0 to 2",
        )
    if not 0 < sampling.top_p <= 1:
        yield Problem(
            "setting.range",
            f"{where}: sampling.top_p is {sampling.top_p}",
            setting="roster.models[].sampling.top_p",
            given=sampling.top_p,
            fix="it lies in (0, 1]",
        )
    if sampling.max_tokens is not None and sampling.max_tokens < 1:
        yield Problem(
            "setting.range",
            f"{where}: sampling.max_tokens is {sampling.max_tokens}",
            setting="roster.models[].sampling.max_tokens",
            given=sampling.max_tokens,
            fix="it is 1 or more",
        )


def _secrets(settings: Any, path: str) -> Iterator[str]:
    """Yield the paths of the settings that hold a secret, at any depth."""
    if isinstance(settings, list):
        settings = dict(enumerate(settings))
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            if not isinstance(value, str):
                yield from _secrets(value, f"{path}.{name}")
            elif _LOGIN.search(value) or (value and _SECRET.fullmatch(str(name))):
                yield f"{path}.{name}"
