"""A hosted model's options, checked as far as that goes without an import of vLLM."""

import ast
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from raybench.errors import Problem, did_you_mean
from raybench.paths import expanded


def problems(where: str, options: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield options that vLLM does not know, that raybench decides, or that break chatting.

    vLLM judges all other values when it starts.
    """
    names = _arguments()
    for name in options:
        if name.startswith(_DATA_PARALLEL) or name in _DECIDED:
            reason, fix = _DECIDED.get(name, _COPIES)
            yield Problem(
                "setting.conflict",
                f"{where}: options.{name} is {options[name]}, but {reason}",
                setting=f"roster.models[].options.{name}",
                given=options[name],
                fix=fix,
            )
        if names and name not in names | _OURS:
            # Of some three hundred, the nearest is of use, and the list of all is not.
            near = get_close_matches(name, names, 1)
            meant = f" Did you mean '{near[0]}'?" if near else ""
            yield Problem(
                "setting.unknown",
                f"{where}: unknown options.{name}: it is no engine argument of vLLM.{meant}",
                setting=f"roster.models[].options.{name}",
            )
    if (template := options.get("chat_template")) is not None:
        yield from _template_problems(where, template)
    keywords = options.get("chat_template_kwargs")
    if not isinstance(keywords, Mapping | None):
        yield Problem(
            "setting.type",
            f"{where}: options.chat_template_kwargs is {keywords!r}",
            setting="roster.models[].options.chat_template_kwargs",
            given=keywords,
            fix="give what the template is told, for example {enable_thinking: false}",
        )
    parser, known = options.get("reasoning_parser"), _reasoning_parsers()
    if parser and known and parser not in known and not options.get("reasoning_parser_plugin"):
        yield Problem(
            "setting.choice",
            f"{where}: unknown options.reasoning_parser '{parser}'",
            setting="roster.models[].options.reasoning_parser",
            given=parser,
            fix=did_you_mean(str(parser), known),
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
    return expanded(template).read_text(encoding="utf-8")


def _template_problems(where: str, template: Any) -> Iterator[Problem]:
    from jinja2 import Environment, TemplateSyntaxError

    where = f"{where}: options.chat_template"
    try:
        text = _template(template)
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        yield Problem(
            "file.unreadable",
            f"{where} '{template}' cannot be read ({reason})",
            setting="roster.models[].options.chat_template",
            fix="give a Jinja file, or its text",
        )
        return
    if "{" not in text:
        yield Problem(
            "file.format",
            f"{where} '{template}' holds no Jinja template",
            setting="roster.models[].options.chat_template",
        )
    try:
        Environment(extensions=["jinja2.ext.loopcontrols"]).parse(text)
    except TemplateSyntaxError as error:
        # transformers has tags of its own.
        if "unknown tag" not in str(error):
            yield Problem(
                "setting.format",
                f"{where} is no Jinja template: {error.message}, line {error.lineno} of it",
                setting="roster.models[].options.chat_template",
            )


_OURS = {"chat_template_kwargs"}
_DATA_PARALLEL = "data_parallel_"
_COPIES = (
    "raybench starts every copy of an engine by itself, to place, stop and restart it alone",
    "leave it out, and give the model replicas: N",
)
_NODES = (
    "raybench decides on which nodes an engine runs",
    "leave it out. replicas: N of the model makes copies, also on other nodes",
)
_DECIDED = {
    "nnodes": _NODES,
    "node_rank": _NODES,
    "distributed_executor_backend": (
        "raybench decides it by where an engine's GPUs are",
        _NODES[1],
    ),
}
"""Options that no roster may set, each with the reason and the fix."""
_ARGUMENTS = {
    "engine/arg_utils.py": ("EngineArgs", "AsyncEngineArgs"),
    "entrypoints/launchers/cli_args.py": ("BaseFrontendArgs", "FrontendArgs"),
}
"""Where the installed vLLM declares what it may be told."""


@cache
def _arguments() -> frozenset[str]:
    """Return the names of vLLM's arguments; none where one of the places is not as expected."""
    found: set[str] = set()
    for file, classes in _ARGUMENTS.items():
        nodes = {node.name: node for node in _source(file) if isinstance(node, ast.ClassDef)}
        for name in classes:
            if name not in nodes:
                return frozenset()
            found |= {
                field.target.id
                for field in nodes[name].body
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            }
    return frozenset(found)


def _source(file: str) -> Sequence[ast.stmt]:
    """Return what a file of the installed vLLM says; nothing where there is none.

    An import would cost seconds, and stay.
    """
    try:
        spec = importlib.util.find_spec("vllm")
        path = Path(str(spec and spec.origin)).parent / file
        return ast.parse(path.read_text(encoding="utf-8")).body
    except (ImportError, OSError, ValueError, SyntaxError):
        return []


def _reasoning_parsers() -> list[str]:
    """Return the parsers that the installed vLLM lists; none where it does not."""
    return [
        key.value
        for node in _source("reasoning/__init__.py")
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "_REASONING_PARSERS_TO_REGISTER"
        and isinstance(node.value, ast.Dict)
        for key in node.value.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    ]
