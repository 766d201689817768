"""The nouns every floor shares: plain, frozen dataclasses and nothing that does work."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]
Finish = Literal[
    "stop", "length", "late", "thinking", "empty", "refusal", "overflow", "unsupported", "error"
]
"""How a request ended.

stop: answered. length: the answer was cut at the token limit. late: it was cut because the time was
up that the request gave. thinking: the limit came before the
answer began. empty: the model stopped by itself without a word. refusal: the model declined, or
somebody's content filter stopped it. overflow: prompt and reply do not fit the model's context.
unsupported: the model does not take what the prompt holds, images for one. error: something broke,
which is no model's fault.
"""


JUDGING = " (judge)"
"""What the name of a model ends in where it is asked about others' replies, as another model."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str
    images: tuple[str, ...] = ()
    """URLs, http or data, of the images that follow the text."""
    foreign: bool = False
    """Somebody else's words are in it: a control token among them is text and nothing more."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model draws its tokens. Two models may differ in nothing else."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int | None = None
    """Most tokens of one reply; None leaves the bound to the request or to the context."""


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt for one model.

    What is left None here is taken from the model's own sampling.
    """

    messages: tuple[Message, ...]
    seed: int
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    regex: str | None = None
    """The reply must match this, where the engine can constrain its decoding."""
    json_schema: Mapping[str, Any] | None = None
    """The reply must be JSON of this schema, where the engine can constrain its decoding. Beside a
    regex it is for engines that take none: endpoints.

    It always ends in time if each text has a maxLength and max_tokens has room for all of them at
    four tokens a character, which is what a model that cannot stop writing emoji takes.
    """
    deadline_s: float | None = None
    """So long may the model work on it: then the request is ended, and the completion is late.

    It is the model's own time, without what the request waits for (`Completion.waited`). That a
    server hangs is no model's time either: then the request fails. (An endpoint hangs that gives no
    word either, asked for one and waited for as for any reply.)
    """
    gold: str | None = None
    """A right reply, from which simulated models make theirs. Requests to others have none."""
    system_apart: bool = field(default=False, repr=False)  # digests of requests are of their repr
    """Where the model takes no system message, its text becomes a user message of its own; else it
    goes before that of the first user message."""


@dataclass(frozen=True, slots=True)
class Retries:
    """Tries of a request that an endpoint turned away before it answered one."""

    rate_limited: int = 0
    """HTTP 429: too many requests."""
    server_errors: int = 0
    """HTTP 5xx."""
    pauses: int = 0
    """Of these, those that asked for a pause."""

    def __add__(self, other: "Retries") -> "Retries":
        return Retries(*(getattr(self, it) + getattr(other, it) for it in self.__slots__))

    def to_json(self) -> dict[str, int]:
        """Return the counts that are not zero."""
        return {name: count for name in self.__slots__ if (count := getattr(self, name))}


_LATE = "the time was up that the request gave the model"


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back for one request. A failure is data here, never an exception."""

    text: str
    finish: Finish
    reasoning: str = ""
    """Thinking, kept apart from the answer. Only the text counts."""
    prompt_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    """Prompt tokens that came from the engine's prefix cache; None where it does not tell."""
    seconds: float = 0.0
    """From the request to the reply, with all that it waited for on the way."""
    waited: float = 0.0
    """Of these, so many were none of the model's: for a place, in its engine's queue, for tries
    that brought nothing and for those after them."""
    error: str | None = None
    """Why there is no answer, in words (a refusal's own); None where finish is stop or length."""
    token_limit: int | None = None
    """The most tokens that an endpoint let the reply have, where it let it have fewer than were
    asked for; None elsewhere."""
    retries: Retries = Retries()

    @property
    def own_seconds(self) -> float:
        """The time that the model itself took."""
        return max(0.0, self.seconds - self.waited)

    @classmethod
    def failed(
        cls, reason: str, *, finish: Finish = "error", seconds: float = 0.0, waited: float = 0.0
    ) -> "Completion":
        """Return the completion of a request that got no reply."""
        return cls(text="", finish=finish, seconds=seconds, waited=waited, error=reason)

    @classmethod
    def late(cls, *, seconds: float, waited: float = 0.0) -> "Completion":
        """Return the completion of a request that was ended when its time was up."""
        return cls.failed(_LATE, finish="late", seconds=seconds, waited=waited)

    def cut(self) -> "Completion":
        """Return what had been written when the time was up."""
        return replace(self, finish="late", error=_LATE)


Grader = Literal["parity", "improved"]
SystemFallback = Literal["prepended", "separate"]
"""What becomes of a system prompt where a model takes none: it goes before the question (the
methodology), or is a user message of its own (HLE's paper)."""
JudgeRole = Literal["system", "user"]
Letters = Literal["all", "listed"]
"""As what a judge reads its prompt."""
"""By whose rules replies are graded: the methodology's, or ours, which compare with no others."""
Wording = Literal["by_type", "single"]
"""HLE's system prompts: one for each type of answer (the methodology), or one for all (the paper).
"""
ReviewRule = Literal["required", "skip"]
"""Whether questions are published only after reviewers approved them, or without that."""
ScreeningRule = Literal["stumps", "worse_than_chance"]
"""Which candidates pass, and become questions.

stumps (HLE's): no model answers an exact-match question, and at most one a multiple-choice
question; a model answers what any of its attempts gets right. worse_than_chance: the attempts at a
multiple-choice question, all models' together, are right less often than guesses; exact answers
cannot be guessed, so that no attempt may be right. It is meant for repeats: of many attempts at few
options some get it by luck, and HLE's rule would turn down nearly all.
"""
BiasKind = Literal["self_preference", "favouritism", "verbosity", "random", "adversary"]
"""What can be wrong with a judge, as far as it can be planted in a simulated one."""
EngineKind = Literal["vllm", "openai", "simulated", "scripted"]
"""scripted is none: who plays by a script asks nobody, and is no model. No roster has it."""
Replicas = int | Literal["auto"]
"""Copies of an engine: a number, or as many as there are free GPUs."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What is ranked: weights, engine, sampling and system prompt under one name."""

    name: str
    engine: EngineKind
    weights: str
    """vllm: 'embedded', a Hugging Face id or a local path. openai: the name the endpoint knows."""
    revision: str | None = None
    sampling: Sampling = Sampling()
    system_prompt: str | None = None
    reasoning: bool = False
    """It thinks before it answers: it is not told to, and its thinking has no bound of ours."""
    images: bool | None = None
    """Whether it takes them. None finds out; False is sent none: such requests are unsupported."""
    system_role: bool | None = None
    """Whether it takes a system message. None finds out: from its template, or from what an
    endpoint says. False has the text before that of the first user message."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The engine's own settings: vLLM engine arguments, an endpoint's URL, a simulated ability."""
    family: str | None = None
    """Which models it shares its making with; None has `kin` say."""
    replicas: Replicas | None = None
    """Copies of its engine; None leaves that to `fleet.replicas`. Replies do not depend on it."""
    nodes: Mapping[str, str] = field(default_factory=dict)
    """Labels of the nodes that may hold its engine. Replies do not depend on them."""

    @property
    def kin(self) -> str:
        """The family it is of: models of one may share tastes, and favour one another as judges.

        Where none is given: the organisation of a hub id (Qwen of Qwen/Qwen2.5-7B), or else what
        its weights are called, so that models with the same weights are one family. Stand-ins have
        no weights, and each is its own.
        """
        if self.family is not None:
            return self.family
        if self.engine == "simulated":
            return self.name
        organisation, slash, rest = self.weights.partition("/")
        hub_id = slash and organisation not in ("", ".", "..", "~") and rest and "/" not in rest
        return organisation if hub_id else self.weights

    @property
    def drawn_with(self) -> Mapping[str, Any]:
        """What its tokens are drawn with: an endpoint's further fields win, None is left to it.

        A script draws none.
        """
        if self.engine == "scripted":
            return dict.fromkeys(("temperature", "top_p", "max_tokens"))
        own = {
            "temperature": self.sampling.temperature,
            "top_p": self.sampling.top_p,
            "max_tokens": self.sampling.max_tokens,
        }
        extra = (self.options.get("extra_body") or {}) if self.engine == "openai" else {}
        drawn = {name: extra.get(name, value) for name, value in own.items()}
        drawn["max_tokens"] = extra.get("max_completion_tokens", drawn["max_tokens"])
        return drawn


Form = Literal["line", "text", "code"]
"""How a move is written: on a line of its own, as the whole of a reply, or as a program."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one role of a game sees, and what is asked of it: nothing that it may not know."""

    role: str
    rules: str
    """What stays the same while a game lasts: how it is played, and what the role is after."""
    view: str
    """Where the game stands, as the role sees it."""
    action: str = ""
    """The name of what the role is to do now; '' where it is not its turn."""
    task: str = ""
    """What it is to do now, in words that say how the move is written."""
    form: Form = "line"
    images: tuple[str, ...] = ()
    """What it sees beside the words, as data URIs."""

    def __str__(self) -> str:
        return "\n\n".join(part for part in (self.rules, self.view, self.task) if part)


Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its uncertainty. Where the data carry no interval, method says why."""

    value: float | None
    stderr: float | None
    ci95: Interval | None
    n: int
    method: str

    def to_json(self) -> dict[str, Any]:
        """Return the shape that results.json promises: an open end of an interval is null."""
        ends = self.ci95 and [end if math.isfinite(end) else None for end in self.ci95]
        return {
            "value": self.value,
            "stderr": self.stderr,
            "ci95": ends,
            "n": self.n,
            "method": self.method,
        }


def reason_of(method: str) -> str:
    """Return why an estimate has no value, from its method; earlier results say 'refused'."""
    return method.removeprefix("not computed: ").removeprefix("refused: ")


@dataclass(frozen=True, slots=True)
class Counts:
    """What happened to a model's work, shown beside every score. Nothing is folded into a zero."""

    ok: int = 0
    truncated: int = 0
    unparsed: int = 0
    infra_error: int = 0
    judge_error: int = 0

    def to_json(self) -> dict[str, int]:
        """Return the shape that results.json promises."""
        return {name: getattr(self, name) for name in self.__slots__}


def several(unit: str) -> str:
    """Return the name of several units of a run."""
    if unit.endswith("y"):
        return f"{unit[:-1]}ies"
    return f"{unit}es" if unit.endswith("ch") else f"{unit}s"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do, known before anything starts."""

    experiment: str
    models: tuple[ModelSpec, ...]
    engines: tuple[str, ...]
    slots: int | None
    units: int
    unit: str
    calls: str
    notes: tuple[str, ...] = ()
    referees: tuple[ModelSpec, ...] = ()
    """Who is asked about replies: what they say makes the results, too."""
    checker: str | None = None
    """The name of the model that checks mathematics: a referee, or one that is ranked as well."""
    each: int | None = None
    """In how many of the units each model takes part; None where only the run shows that."""
    parts: "tuple[Plan, ...]" = ()
    """What it is made of, where that is other experiments."""
    ray: bool = False
    """Whether it takes a Ray cluster, to host engines or to work on."""
    cluster: tuple[str, ...] = ()
    """Which one, and where on it, in words; the plan of a run that begins lacks it."""
    storage: str | None = None
    """Where it would be kept, beside this machine."""

    @property
    def counted(self) -> str:
        """How many units, in words."""
        return f"{self.units:,} {self.unit if self.units == 1 else self.several}"

    @property
    def several(self) -> str:
        """The unit's name where there are several."""
        return several(self.unit)

    @property
    def simulated(self) -> bool:
        """Tell whether stand-ins take part."""
        asked = (*self.models, *self.referees) if self.units else ()
        return any(model.engine == "simulated" for model in asked)
