"""Definite refusals: a wrong key, a wrong path, an unknown model. No later try fixes them.

A model of which the endpoint refuses some requests in a row the same way is asked for a word. If
the word is refused too, the model is not asked any more, so that a key that was revoked in the
middle of a run does not cost thousands of calls.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from raybench.errors import Code, Problem, closest
from raybench.fleet.remote_options import key_variable
from raybench.fleet.remote_replies import MISSING_KEY, Failure
from raybench.types import ModelSpec

Kind = Literal["key", "access", "model", "path", "connection"]
IN_A_ROW = 5
"""So many requests of a model are refused the same way before it is asked for a word."""

_PAYMENT, _FORBIDDEN, _NOT_FOUND, _NO_POST = 402, 403, 404, 405
_REDIRECTS = (301, 302, 307, 308)
_OF_THE_REQUEST = (400, 422)
"""With these some servers refuse keys and names of models, and all of them other things."""
_MODEL = re.compile(
    r"model[_ ]?not[_ ]?(?:found|exist)"  # OpenAI (code), DeepSeek, Groq
    r"|(?:model|deployment)\b.{0,200}?(?:does not exist|not found)"  # vLLM, Ollama, Azure
    r"|not a valid model|invalid model\b|unknown model|no such model"  # OpenRouter, Mistral, GitHub
    r"|unable to access model"  # Together
    r"|not_found_error[^{}]*\bmodel:",  # Anthropic
    re.IGNORECASE,
)
_KEY = re.compile(
    r"api[ _-]?key\b[^.]{0,40}(?:not valid|invalid|incorrect|expired)"  # Gemini
    r"|(?:invalid|incorrect|missing|no)\b[^.]{0,20}api[ _-]?key",  # xAI
    re.IGNORECASE,
)
_CODES: Mapping[Kind, Code] = {
    "key": "endpoint.key",
    "access": "endpoint.access",
    "model": "endpoint.model",
    "path": "endpoint.path",
    "connection": "endpoint.connection",
}
_OPTIONS = "roster.models[].options"
_SETTINGS: Mapping[Kind, str] = {
    "key": f"{_OPTIONS}.api_key_env",
    "access": f"{_OPTIONS}.api_key_env",
    "model": "roster.models[].weights",
    "path": f"{_OPTIONS}.base_url",
    "connection": f"{_OPTIONS}.base_url",
}
_LONGEST_REASON = 200
_MOST_NAMES = 5


def kind_of(outcome: object) -> Kind | None:
    """Return what an endpoint refused for good; None for everything else."""
    if not isinstance(outcome, Failure) or outcome.finish != "error":
        return None
    if outcome.unconnected:
        return "connection"
    match outcome.status:
        case code if code == MISSING_KEY:
            return "key"
        case code if code in (_PAYMENT, _FORBIDDEN):
            return "access"
        case code if code == _NOT_FOUND:
            return "model" if _MODEL.search(outcome.reason) else "path"
        case code if code == _NO_POST or code in _REDIRECTS:
            return "path"
        case code if code in _OF_THE_REQUEST and outcome.tokens is None:
            if _KEY.search(outcome.reason):
                return "key"
            return "model" if _MODEL.search(outcome.reason) else None
    return None


def problem_of(
    kind: Kind, weights: str, options: Mapping[str, Any], reason: str, names: Sequence[str]
) -> Problem:
    """Return what is wrong with a model at an endpoint, and how to fix it.

    `names` are those of the models that the endpoint lists, as far as it does.
    """
    url, variable = str(options["base_url"]), key_variable(options)
    given = {"model": weights, "path": url, "connection": url}.get(kind, variable)
    what = {
        "key": "refuses the key" if variable else "asks for a key",
        "access": f"denies access to '{weights}'",
        "model": f"does not know the model '{weights}'",
        "path": "does not have chat/completions below this address",
        "connection": "cannot be connected to",
    }[kind]
    reason = " ".join(reason.split())
    if kind == "key":  # what comes before is advice about keys, which the fix gives
        reason = reason[max(0, reason.find("HTTP ")) :]
    shown = f"{reason[:_LONGEST_REASON]}…" if len(reason) > _LONGEST_REASON else reason
    return Problem(
        _CODES[kind],
        f"the endpoint {url} {what} ({shown})",
        setting=_SETTINGS[kind],
        given=given,
        fix=_fix(kind, weights, url, variable, names),
    )


def _fix(kind: Kind, weights: str, url: str, variable: str | None, names: Sequence[str]) -> str:
    if kind == "key" and not variable:
        return "put a key into the environment and name its variable with options.api_key_env"
    if kind == "key":
        return f"put a valid key into the environment variable {variable}"
    if kind == "access":
        if not variable:
            return "name the variable of a key that may use this model with options.api_key_env"
        return f"check that the key in {variable} may use this model, and the account's balance"
    if kind == "connection":
        return "start the server, or correct options.base_url"
    if kind == "path":
        import httpx

        versioned = f", perhaps to {url.rstrip('/')}/v1"
        return f"correct options.base_url{versioned * (not httpx.URL(url).path.strip('/'))}"
    names = [name for name in names if name != weights]
    if close := closest(weights, names):
        return f"correct weights, perhaps to {close}"
    more = f" and {len(names) - _MOST_NAMES} more" * (len(names) > _MOST_NAMES)
    there = f": {', '.join(names[:_MOST_NAMES])}{more}" if names else ""
    return f"set weights to one of the endpoint's models{there}"


class Refusals:
    """The models of one endpoint that are not asked any more, and refusals in a row."""

    def __init__(
        self,
        models: Sequence[ModelSpec] = (),
        reasons: Mapping[str, str] | None = None,
        tell: Callable[[str, str], None] = lambda model, reason: None,
    ) -> None:
        """Take the models, why some are not asked (by name), and who is told of others."""
        self._names: dict[str, list[str]] = {}
        self._reasons: dict[str, str] = {}
        for model in models:
            self._names.setdefault(model.weights, []).append(model.name)
            if reasons and model.name in reasons:
                self._reasons[model.weights] = reasons[model.name]
        self._tell = tell
        self._in_a_row: dict[str, tuple[Kind, int]] = {}

    def reason(self, weights: str) -> str | None:
        """Return why a model is not asked any more; None where it is."""
        return self._reasons.get(weights)

    def count(self, weights: str, outcome: object) -> None:
        """Note what a request has come to. Failures that may pass change nothing."""
        kind = kind_of(outcome)
        if kind is not None and kind != "connection":
            last, times = self._in_a_row.get(weights, (kind, 0))
            self._in_a_row[weights] = (kind, times + 1 if last == kind else 1)
        elif not isinstance(outcome, Failure) or outcome.finish != "error":
            self._in_a_row.pop(weights, None)

    def is_doubtful(self, weights: str) -> bool:
        """Tell whether a model has to be asked for a word before anything else."""
        return self._in_a_row.get(weights, ("key", 0))[1] >= IN_A_ROW

    def settle(self, weights: str, problem: Problem | None) -> None:
        """Stop asking a model that refused a word, too; go on with one that did not."""
        self._in_a_row.pop(weights, None)
        if problem is None:
            return
        self._reasons[weights] = problem.text
        for name in self._names.get(weights, ()):
            self._tell(name, problem.text)
