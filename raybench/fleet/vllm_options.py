"""A hosted model's chat template and reasoning parser, checked without an import of vLLM."""

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from raybench.errors import did_you_mean


def problems(where: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with how these options let a model chat; the rest is vLLM's to judge."""
    if (template := options.get("chat_template")) is not None:
        yield from _template_problems(where, template)
    keywords = options.get("chat_template_kwargs")
    if not isinstance(keywords, Mapping | None):
        yield (
            f"{where}: options.chat_template_kwargs is {keywords!r}: give what the template is "
            "told, for example {enable_thinking: false}"
        )
    parser, known = options.get("reasoning_parser"), _reasoning_parsers()
    if parser and known and parser not in known and not options.get("reasoning_parser_plugin"):
        yield f"{where}: unknown options.reasoning_parser '{parser}'." + did_you_mean(
            str(parser), known
        )


def arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options under the names by which vLLM and Ray know them.

    A template is handed on as text: the engine may run where the file is not.
    """
    given = dict(options)
    if (template := given.get("chat_template")) is not None:
        given["chat_template"] = _template(template)
    if (keywords := given.pop("chat_template_kwargs", None)) is not None:
        given["default_chat_template_kwargs"] = dict(keywords)
    return given


def _template(template: str) -> str:
    """Return a template's text, given itself or as a file; vLLM tells them apart like this."""
    if any(mark in template for mark in "{}\n"):
        return template
    return Path(template).expanduser().read_text(encoding="utf-8")


def _template_problems(where: str, template: Any) -> Iterator[str]:
    from jinja2 import Environment, TemplateSyntaxError

    where = f"{where}: options.chat_template"
    try:
        text = _template(template)
    except (OSError, TypeError, ValueError, RuntimeError) as error:  # RuntimeError: '~nobody'
        reason = getattr(error, "strerror", None) or error
        yield f"{where} '{template}' cannot be read ({reason}): give a Jinja file, or its text"
        return
    if "{" not in text:
        yield f"{where} '{template}' holds no Jinja template"
    try:
        Environment(extensions=["jinja2.ext.loopcontrols"]).parse(text)
    except TemplateSyntaxError as error:
        # transformers has tags of its own.
        if "unknown tag" not in str(error):
            yield f"{where} is no Jinja template: {error.message}, line {error.lineno} of it"


def _reasoning_parsers() -> list[str]:
    """Return the parsers that the installed vLLM lists in its source; none where it does not.

    An import would cost seconds, and stay.
    """
    try:
        spec = importlib.util.find_spec("vllm")
        source = Path(str(spec and spec.origin)).parent / "reasoning" / "__init__.py"
        tree = ast.parse(source.read_text(encoding="utf-8"))
    except (ImportError, OSError, ValueError, SyntaxError):
        return []
    return [
        key.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "_REASONING_PARSERS_TO_REGISTER"
        and isinstance(node.value, ast.Dict)
        for key in node.value.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    ]
