"""What the roster says of an endpoint: its address, and its key, which stays in the environment."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from raybench.errors import Problem, did_you_mean
from raybench.types import ModelSpec

if TYPE_CHECKING:  # runs without endpoints have no use for httpx, which takes a while to import
    import httpx

LIMITS = {"max_tokens", "max_completion_tokens"}
"""What the fields that limit a reply are called."""
_OPENAI, _OPENAI_KEY = "api.openai.com", "OPENAI_API_KEY"
_VARIABLE = re.compile("[A-Z_][A-Z0-9_]*")
_SHORTEST_SECRET = 12  # what is shorter ('EMPTY', 'none') is a filler, and a word that replies use


def problems(where: str, options: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with an endpoint's options."""
    known = {"base_url", "api_key_env", "concurrency", "requests_per_minute", "extra_body"}
    for name in set(options) - known:
        yield Problem(
            "setting.unknown",
            f"{where}: unknown option '{name}' of an openai engine",
            setting=f"roster.models[].options.{name}",
            given=name,
            fix=did_you_mean(name, sorted(known)),
        )
    url = str(options.get("base_url") or "")
    held = key(options)
    if is_secret(held) and held in json.dumps(options, default=str, ensure_ascii=False):
        yield Problem(
            "setting.secret",
            f"{where}: its options hold the key itself, which would be copied into config.yaml",
            setting="roster.models[].options",
            fix=f"take it out, {options.get('api_key_env') or _OPENAI_KEY} in the environment is "
            "enough",
        )
    elif re.search("[@?#]", url):
        yield Problem(
            "setting.secret",
            f"{where}: options.base_url holds more than an address (it is not repeated here: that "
            "may be secret)",
            setting="roster.models[].options.base_url",
            fix="Leave out the login before '@' and what follows '?' or '#'; a key stays in the "
            "environment, under the name that options.api_key_env gives",
        )
    elif not _is_address(url):
        yield Problem(
            "setting.format",
            f"{where}: options.base_url is '{url}'",
            setting="roster.models[].options.base_url",
            given=url,
            fix="give the endpoint's address, for example http://127.0.0.1:8000/v1",
        )
    elif _parsed(url).path.rstrip("/").endswith("/chat/completions"):
        yield Problem(
            "setting.format",
            f"{where}: options.base_url is '{url}'",
            setting="roster.models[].options.base_url",
            given=url,
            fix="leave /chat/completions off, we add it",
        )
    concurrency = options.get("concurrency", 1)
    if not isinstance(concurrency, int) or concurrency < 1:
        yield Problem(
            "setting.range",
            f"{where}: options.concurrency is {concurrency!r}",
            setting="roster.models[].options.concurrency",
            given=concurrency,
            fix="it is how many requests the endpoint gets at once, 1 or more",
        )
    rate = options.get("requests_per_minute")
    if rate is not None and not (isinstance(rate, int | float) and rate > 0):
        yield Problem(
            "setting.range",
            f"{where}: options.requests_per_minute is {rate!r}",
            setting="roster.models[].options.requests_per_minute",
            given=rate,
            fix="it is more than 0, or left out where the endpoint has no limit",
        )
    extra = options.get("extra_body")
    if extra is not None and not isinstance(extra, Mapping):
        yield Problem(
            "setting.type",
            f"{where}: options.extra_body is {extra!r}",
            setting="roster.models[].options.extra_body",
            given=extra,
            fix="give fields to add to every request",
        )
    elif extra:
        for name in ("temperature", "top_p", *sorted(LIMITS)):
            if not isinstance(extra.get(name), int | float | None):
                yield Problem(
                    "setting.type",
                    f"{where}: options.extra_body.{name} is {extra[name]!r}",
                    setting=f"roster.models[].options.extra_body.{name}",
                    given=extra[name],
                    fix="it is a number, or null to leave it out",
                )
    variable = options.get("api_key_env")
    if variable and not _VARIABLE.fullmatch(str(variable)):
        yield Problem(
            "setting.format",
            f"{where}: options.api_key_env is not the name of a variable (it is not repeated "
            "here: it may be the key)",
            setting="roster.models[].options.api_key_env",
            fix="Put the key into the environment, as in MY_KEY=…, and write api_key_env: MY_KEY",
        )
        return
    if not (held.isascii() and held.isprintable()):
        yield Problem(
            "environment.variable",
            f"{where}: {variable or _OPENAI_KEY} in the environment holds characters that no HTTP "
            "header can carry",
            setting="roster.models[].options.api_key_env",
            fix="set it anew",
        )


def missing_keys(models: Iterable[ModelSpec]) -> dict[str, list[str]]:
    """Return the variables of endpoints' keys that are not set, each with its models' names."""
    found: dict[str, dict[str, None]] = {}
    for model in models:
        variable = key_variable(model.options) if model.engine == "openai" else None
        # What is no variable's name may be the key itself; `problems` reports it.
        if variable and _VARIABLE.fullmatch(variable) and not key(model.options):
            found.setdefault(variable, {})[model.name] = None
    return {variable: [*names] for variable, names in found.items()}


def name_keys(missing: Mapping[str, Sequence[str]]) -> str:
    """Return variables and their models in words, as in 'A_KEY (for a and b)'."""
    return ", ".join(f"{name} (for {' and '.join(whose)})" for name, whose in missing.items())


def key_problems(models: Iterable[ModelSpec]) -> Iterator[Problem]:
    """Yield one problem that lists all keys that are missing, if any are."""
    if missing := missing_keys(models):
        yield Problem(
            "environment.variable",
            f"the environment lacks keys of endpoints: {name_keys(missing)}",
            setting="roster.models[].options.api_key_env",
            given=", ".join(missing),
            fix="Set these variables; only a plan (dry_run=true) needs no key",
        )


def _parsed(url: str) -> "httpx.URL":
    import httpx

    return httpx.URL(url)


def _is_address(url: str) -> bool:
    from httpx import InvalidURL

    try:
        parsed = _parsed(url)
    except InvalidURL:
        return False
    return parsed.scheme in ("http", "https") and bool(parsed.host) and (parsed.port or 1) < 2**16


def key_variable(options: Mapping[str, Any]) -> str | None:
    """Return the variable that holds the endpoint's key; None where it takes none.

    OpenAI's own goes to OpenAI unasked; nobody else gets a key that was not named for them.
    """
    variable = options.get("api_key_env")
    address = str(options.get("base_url") or "")
    if address and not variable and _is_address(address) and _parsed(address).host == _OPENAI:
        variable = _OPENAI_KEY
    return str(variable) if variable else None


def key(options: Mapping[str, Any]) -> str:
    """Return the endpoint's key, or '' where there is none."""
    variable = key_variable(options)
    # Keys that were read from a file often bring its line end along.
    return os.environ.get(variable, "").strip() if variable else ""


def is_secret(key: str) -> bool:
    """Tell whether it is a key, and no filler."""
    return len(key) >= _SHORTEST_SECRET


def without(key: str, text: str) -> str:
    """Return a text without the key, also as JSON or a URL may have written it."""
    for form in (key, key.replace("/", "\\/"), quote(key, safe="")):
        text = text.replace(form, "(key)") if form else text
    return text
