"""What counts as a jail. It is read here and never run."""

import ast
import re

from raybench.games.parts.contract import InvalidMove
from raybench.grading.syntax import failing_line, parsed

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
        raise InvalidMove("there is no code: write a function jail(user_input)")
    if len(source) > longest:
        raise InvalidMove(f"the code has {len(source)} characters; {longest} are allowed")
    for number, line in enumerate(source.split("\n"), start=1):
        for each in line:
            if not (each.isprintable() or each == "\t"):
                raise InvalidMove(
                    f"line {number} holds a character that does not print (U+{ord(each):04X}): "
                    "write it as an escape"
                )
    tree = parsed(source)
    if tree is None:
        line_of_it = failing_line(source)
        where = f" line {line_of_it} breaks the syntax" if line_of_it else " it cannot be read"
        raise InvalidMove(f"this is no Python 3.11:{where}")
    _look(tree)
    return source


def _look(tree: ast.Module) -> None:
    """Raise InvalidMove where there is no jail(user_input) on the outermost level."""
    defined = [each for each in tree.body if isinstance(each, _FUNCTION) and each.name == "jail"]
    if not defined:
        why = _instead(tree) or "there is no function 'jail'"
        raise InvalidMove(f"{why}: write '{_WANTED}' on the outermost level of the code")
    last = defined[-1]
    if isinstance(last, ast.AsyncFunctionDef):
        raise InvalidMove(
            f"'jail' is an async function, which nobody awaits: write '{_WANTED}', without 'async'"
        )
    if why := _wrong(last.args):
        raise InvalidMove(f"{why}: write '{_WANTED}'")


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
        return (
            "'jail' takes one argument that has to be given, user_input, and this one takes "
            f"{len(required) + len(named)}"
        )
    if required[0].arg != "user_input":
        return f"the parameter of 'jail' is called 'user_input', and not '{required[0].arg}'"
    return ""


def _instead(tree: ast.Module) -> str:
    """Return what else is called 'jail', or holds it; '' where nothing is or does."""
    for holder in ast.walk(tree):
        for each in ast.iter_child_nodes(holder):
            if isinstance(each, ast.ClassDef) and each.name == "jail":
                return f"'jail' is a class (line {each.lineno})"
            if isinstance(each, _FUNCTION) and each.name == "jail":
                return f"'jail' stands {_inside(holder)} (line {each.lineno})"
            if isinstance(each, ast.Name) and each.id == "jail" and isinstance(each.ctx, ast.Store):
                lambda_ = isinstance(getattr(holder, "value", None), ast.Lambda)
                return f"'jail' is {'a lambda' if lambda_ else 'a variable'} (line {each.lineno})"
    return ""


def _inside(holder: ast.AST) -> str:
    if isinstance(holder, ast.ClassDef):
        return f"inside the class '{holder.name}'"
    if isinstance(holder, _FUNCTION):
        return f"inside the function '{holder.name}'"
    return "inside another statement"
