"""What counts as a jail. It is read here and never run."""

import ast
import re

from raybench.games.parts.contract import InvalidMove
from raybench.grading.syntax import failing_line, parsed
from raybench.statements import Statement

_WANTED = "def jail(user_input):"
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_FENCE = re.compile(r"`{3,}|~{3,}")


def unfenced(text: str) -> str:
    """Return what stands between two fences where a text is no more than that; else the text."""
    text = text.replace("\r\n", "\n")
    first, _, rest = text.strip().partition("\n")
    inside, _, last = rest.rpartition("\n")
    opens = _FENCE.match(first)
    return inside if opens and last.strip() == opens[0] else text


def checked(move: str, longest: int) -> str:
    """Return the source of a jail, or raise InvalidMove where it is none."""
    source = unfenced(move).strip("\n").rstrip()
    if not source.strip():
        raise InvalidMove(
            Statement("pyjail.no_code", "there is no code: write a function jail(user_input)")
        )
    if len(source) > longest:
        raise InvalidMove(
            Statement(
                "pyjail.code_too_long",
                "the code has {length} characters; {most} are allowed",
                length=len(source),
                most=longest,
            )
        )
    for number, line in enumerate(source.split("\n"), start=1):
        for each in line:
            if not (each.isprintable() or each == "\t"):
                raise InvalidMove(
                    Statement(
                        "pyjail.unprintable",
                        "line {line} holds a character that does not print (U+{character:04X}): "
                        "write it as an escape",
                        line=number,
                        character=ord(each),
                    )
                )
    tree = parsed(source)
    if tree is None:
        line_of_it = failing_line(source)
        where = f" line {line_of_it} breaks the syntax" if line_of_it else " it cannot be read"
        raise InvalidMove(
            Statement(
                "pyjail.no_python", "this is no Python 3.11:{where}", where=where, line=line_of_it
            )
        )
    _look(tree)
    return source


def _look(tree: ast.Module) -> None:
    """Raise InvalidMove where there is no jail(user_input) on the outermost level."""
    defined = [each for each in tree.body if isinstance(each, _FUNCTION) and each.name == "jail"]
    if not defined:
        why = _instead(tree) or Statement("pyjail.no_function", "there is no function 'jail'")
        raise InvalidMove(
            Statement(
                "pyjail.no_jail",
                "{why}: write '{wanted}' on the outermost level of the code",
                why=why,
                wanted=_WANTED,
            )
        )
    last = defined[-1]
    if isinstance(last, ast.AsyncFunctionDef):
        raise InvalidMove(
            Statement(
                "pyjail.async_jail",
                "'jail' is an async function, which nobody awaits: write '{wanted}', without "
                "'async'",
                wanted=_WANTED,
            )
        )
    if why := _wrong(last.args):
        raise InvalidMove(
            Statement("pyjail.wrong_parameters", "{why}: write '{wanted}'", why=why, wanted=_WANTED)
        )


def _wrong(given: ast.arguments) -> str:
    """Return what is wrong with the parameters of a function; '' where it is nothing.

    It is called with one text. What need not be given besides is the warden's own affair.
    """
    positional = [*given.posonlyargs, *given.args]
    required = positional[: len(positional) - len(given.defaults)]
    named = [
        each
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default is None
    ]
    if len(required) != 1 or named:
        return Statement(
            "pyjail.arguments",
            "'jail' takes one argument that has to be given, user_input, and this one takes "
            "{taken}",
            taken=len(required) + len(named),
        )
    if required[0].arg != "user_input":
        return Statement(
            "pyjail.parameter_name",
            "the parameter of 'jail' is called 'user_input', and not '{given}'",
            given=required[0].arg,
        )
    return ""


def _instead(tree: ast.Module) -> str:
    """Return what else is called 'jail', or holds it; '' where nothing is or does."""
    for holder in ast.walk(tree):
        for each in ast.iter_child_nodes(holder):
            if isinstance(each, ast.ClassDef) and each.name == "jail":
                return _is("a class", each.lineno)
            if isinstance(each, _FUNCTION) and each.name == "jail":
                return Statement(
                    "pyjail.jail_inside",
                    "'jail' stands {where} (line {line})",
                    where=_inside(holder),
                    line=each.lineno,
                )
            if isinstance(each, ast.Name) and each.id == "jail" and isinstance(each.ctx, ast.Store):
                lambda_ = isinstance(getattr(holder, "value", None), ast.Lambda)
                return _is("a lambda" if lambda_ else "a variable", each.lineno)
    return ""


def _is(what: str, line: int) -> str:
    return Statement("pyjail.jail_is", "'jail' is {what} (line {line})", what=what, line=line)


def _inside(holder: ast.AST) -> str:
    if isinstance(holder, ast.ClassDef):
        return f"inside the class '{holder.name}'"
    if isinstance(holder, _FUNCTION):
        return f"inside the function '{holder.name}'"
    return "inside another statement"
