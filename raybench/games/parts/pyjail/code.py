"""What counts as a jail. It is read here and never run."""

import ast
import re

from raybench.games.parts.contract import InvalidMove
from raybench.grading.syntax import failing_line, parsed

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
    defined = [
        each
        for each in tree.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name == "jail"
    ]
    if not defined:
        raise InvalidMove("there is no function 'jail' on the outermost level of the code")
    last = defined[-1]
    if isinstance(last, ast.AsyncFunctionDef):
        raise InvalidMove("'jail' is an async function: write it with 'def' alone")
    given = last.args
    required = len(given.posonlyargs) + len(given.args) - len(given.defaults)
    named = sum(default is None for default in given.kw_defaults)
    if required != 1 or named:
        raise InvalidMove("'jail' takes one argument that has to be given: jail(user_input)")
