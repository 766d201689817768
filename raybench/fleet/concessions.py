"""What models at an endpoint turn out not to take, and how they are asked instead.

It is found out from the first refusal and known from then on, so that nobody has to look it up.
Sampling is no such thing: asked without it, a model would be another than the roster says.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from raybench.fleet.system_role import folded_chat, joined_chat
from raybench.types import ModelSpec, Request

Body = Mapping[str, Any]
"""What is sent."""


@dataclass(frozen=True, slots=True)
class Concession:
    """Something that some models do not take, and what says the same without it."""

    refusal: re.Pattern[str]
    """How servers, named beside each saying, refuse it."""
    instead: Callable[[Body], Body]
    remark: str = ""
    """What the person is told, where replies may be others for it."""


def _without_system_role(body: Body) -> Body:
    return {**body, "messages": folded_chat(body["messages"])}


def _system_apart(body: Body) -> Body:
    told = [
        {**turn, "role": "user"} if turn.get("role") == "system" else turn
        for turn in body["messages"]
    ]
    return {**body, "messages": told}


def _users_joined(body: Body) -> Body:
    return {**body, "messages": joined_chat(body["messages"])}


def _without_schema(body: Body) -> Body:
    # Who sent it reads what the prompt asks for, too.
    return {name: value for name, value in body.items() if name != "response_format"}


def _renamed_limit(body: Body) -> Body:
    name = "max_completion_tokens"
    return {name if field == "max_tokens" else field: value for field, value in body.items()}


SYSTEM_ROLE = Concession(
    re.compile(
        r"system role (?:is )?not supported"  # templates: Gemma
        r"|(?:conversation )?roles must alternate"  # templates: Mistral, Gemma
        r"|only [`'\w, ]*user[`'\w, ]* roles are supported"  # templates: Mistral, Llama 2
        r"|developer instruction is not enabled"  # Gemini API
        r"|does not support ['\"]?system['\"]?"  # OpenAI
        # A system message alone, as judges of HLE are asked:
        r"|at least one (?:user )?message is required"  # Anthropic
        r"|contents (?:is|are) not specified"  # Gemini API
        r"|no user (?:query|message)",  # templates: Qwen
        re.IGNORECASE,
    ),
    _without_system_role,
)
SYSTEM_APART = Concession(SYSTEM_ROLE.refusal, _system_apart)
"""The same for requests whose system text is to be a user message of its own."""
USERS_JOINED = Concession(
    re.compile(r"(?:conversation )?roles must alternate", re.IGNORECASE),  # templates
    _users_joined,
)
SCHEMA = Concession(
    re.compile(
        r"response[_ ]format"  # OpenAI, DeepSeek, Groq, llama.cpp
        r"|json[_ ]?schema|structured[_ ]outputs?",  # vLLM, OpenRouter
        re.IGNORECASE,
    ),
    _without_schema,
    "takes no JSON schema; its replies come as text",
)
TOKEN_LIMIT = Concession(re.compile(r"\bmax_completion_tokens\b"), _renamed_limit)  # OpenAI
_ALL = (SYSTEM_ROLE, USERS_JOINED, SCHEMA, TOKEN_LIMIT)

_SAMPLING = ("temperature", "top_p", "seed")
_NOT_TAKEN = re.compile(
    r"unsupported (?:parameter|value)|(?:not|n't) supports?\b|not supported"  # OpenAI, xAI
    r"|cannot both be specified|is deprecated"  # Anthropic
    r"|unknown (?:name|parameter|field)|extra inputs|unrecognized",  # Gemini, Mistral, OpenAI
    re.IGNORECASE,
)


class Concessions:
    """The concessions that were made to the models of one endpoint."""

    def __init__(self) -> None:
        self._made: dict[str, list[Concession]] = {}

    def put(self, model: ModelSpec, body: Body) -> Body:
        """Return what a model is sent, by what it is known not to take."""
        for concession in self._made.get(model.name, ()):
            body = concession.instead(body)
        return body

    def make(self, model: ModelSpec, concession: Concession) -> bool:
        """Ask a model so from now on; tell whether that is new."""
        made = self._made.setdefault(model.name, [])
        if concession in made:
            return False
        made.append(concession)  # in the order in which they build on each other
        return True


def wanted(model: ModelSpec, body: Body, reason: str) -> Concession | None:
    """Return the concession that a server's words ask for; None where it would change nothing."""
    for concession in _ALL:
        if concession is SYSTEM_ROLE and model.system_role:
            continue  # somebody has said that it has one
        if concession.refusal.search(reason) and concession.instead(body) != body:
            return concession
    return None


def for_request(concession: Concession, request: Request) -> Concession:
    """Return the concession by which a request keeps its system text apart, where it wants that."""
    return SYSTEM_APART if concession is SYSTEM_ROLE and request.system_apart else concession


def mend(body: Body, reason: str) -> str:
    """Return what helps where a server's words refuse a setting of the sampling; '' elsewhere."""
    if not _NOT_TAKEN.search(reason):
        return ""
    named = [name for name in _SAMPLING if name in body and re.search(rf"\b{name}\b", reason)]
    if not named:
        return ""
    return f" (to leave it out: options: {{extra_body: {{{named[-1]}: null}}}})"
