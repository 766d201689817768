"""The program that a reply to 'implement this function' holds.

Models were asked for code only, and answer with a bare function, with fenced blocks among prose, or
with the function's body alone, as a continuation of what they were shown.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from raybench.grading.syntax import failing_line, parsed

_OPENING = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n`]*")
_PYTHON = ("python", "py", "python3", "python2", "python3.11", "python3.12", "ipython", "pycon")
_BEGINS = re.compile(r"(?:from|import|def|class|async|@)\b|@")
_DEFINES = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_TRIES = 12
"""How often what follows a program is cut at the line that breaks it: each time is a reading."""


@dataclass(frozen=True, slots=True)
class Program:
    """What is to be run."""

    source: str
    """As the model wrote it."""
    continues: bool = False
    """It is a function's body: it comes right after what the model was shown."""

    def after(self, prompt: str) -> str:
        """Return the program itself, whole."""
        return f"{prompt.rstrip()}\n{self.source}\n" if self.continues else self.source


def program(response: str, prompt: str, name: str) -> Program | None:
    """Return the program in a response to a prompt that shows a function of that name.

    Of several blocks, the first that defines the function counts, with the blocks that only define
    or import what may go with it. Where none defines it, code is still code: it will be told what
    it lacks. None means that there is none.
    """
    blocks = list(_fenced(response))
    for texts in (blocks, [response] if not blocks else []):
        if whole := _with_function(texts, name):
            return Program(whole)
    regions = blocks or [response, *_indented(response)]
    for region in regions:
        if body := _body(region, prompt, name):
            return Program(body, continues=True)
    return _anything(blocks, response, name)


def _with_function(texts: list[str], name: str) -> str | None:
    """Return what defines the function, with what other texts define for it."""
    trimmed = [_trimmed(text, name) for text in texts]
    at = next((i for i, it in enumerate(trimmed) if it and name in _defined(it)), None)
    if at is None:
        return None
    main = trimmed[at] or ""
    has = _defined(main)
    before = [it for it in trimmed[:at] if it and _lends(it, has)]
    after = [it for it in trimmed[at + 1 :] if it and _lends(it, has)]
    return "\n\n".join([*before, main, *after])


def _lends(text: str, has: set[str]) -> bool:
    """Tell whether a text only imports and defines, and nothing of what there is already."""
    tree = parsed(text)
    if tree is None or not tree.body or _defined(text) & has:
        return False
    for it in tree.body:
        constant = isinstance(it, ast.Assign) and not any(
            isinstance(part, ast.Call) for part in ast.walk(it)
        )
        if not constant and not isinstance(it, _DEFINES):
            return False
    return True


def _defined(text: str) -> set[str]:
    """Return the names that a text's functions, classes and assignments have."""
    tree = parsed(text)
    found: set[str] = set()
    for it in tree.body if tree else ():
        match it:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(it.name)
            case ast.Assign():
                found |= {target.id for target in it.targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=known)):
                found.add(known)
    return found


def _trimmed(text: str, name: str) -> str | None:
    """Return a text without the prose around its code; None where it has no function to find."""
    text = _flush(text)
    if whole := parsed(text):
        return _without_words(text, whole)
    lines = text.split("\n")
    begin = next((i for i, line in enumerate(lines) if _BEGINS.match(line)), None)
    if begin is None:
        return None
    lines = lines[begin:]
    for _ in range(_TRIES):
        if not lines:
            return None
        kept = "\n".join(lines).rstrip()
        if tree := parsed(kept):
            return _without_words(kept, tree)
        broken = failing_line(kept)
        if broken is None:
            return None
        # An error that shows only at the end is of the last line, too.
        lines = lines[: min(broken, len(lines)) - 1]
        if name not in kept:
            return None
    return None


def _flush(text: str) -> str:
    """Return a text at the margin; `dedent` alone would also strip the empty lines of strings."""
    text = text.strip("\n")
    return textwrap.dedent(text) if text[:1] in (" ", "\t") else text


def _without_words(text: str, tree: ast.Module) -> str:
    """Return a text without the last lines that are lone words: prose that happens to be code."""
    body = list(tree.body)
    while body and isinstance(body[-1], ast.Expr) and isinstance(body[-1].value, ast.Name):
        text = "\n".join(text.split("\n")[: body.pop().lineno - 1])
    return text.rstrip()


def _body(text: str, prompt: str, name: str) -> str | None:
    """Return a text as the function's body, None where it cannot be."""
    text = text.strip("\n").rstrip()
    if not text.strip():
        return None
    first, _, rest = text.partition("\n")
    forms = (
        text,
        f"    {first.lstrip()}\n{rest}".rstrip(),  # what is stripped of its first indent
        textwrap.indent(_flush(text), "    "),
    )
    for form in forms:
        if _completes(form, prompt, name):
            return form
    return None


def _completes(body: str, prompt: str, name: str) -> bool:
    """Tell whether a text goes on as the function's body does, and does something."""
    tree, shown = parsed(f"{prompt.rstrip()}\n{body}"), parsed(prompt)
    if tree is None or shown is None or not shown.body or len(tree.body) != len(shown.body):
        return False
    function = tree.body[-1]
    if not isinstance(function, ast.FunctionDef) or function.name != name:
        return False
    was = shown.body[-1]
    added = function.body[len(was.body) :] if isinstance(was, ast.FunctionDef) else []
    return any(_acts(statement) for statement in added)


def _acts(statement: ast.stmt) -> bool:
    """Tell whether a statement does more than define, say or ask for something.

    Words can be code, too: 'Sorry' is a name, and 'Answer: A' declares one.
    """
    match statement:
        case ast.Expr(value=value):
            return isinstance(value, ast.Yield | ast.YieldFrom)
        case ast.AnnAssign(value=value):
            return value is not None
    return not isinstance(statement, _DEFINES)


def _anything(blocks: list[str], response: str, name: str) -> Program | None:
    """Return what looks like code and is none that could be run as it should."""
    opening = re.compile(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b", re.MULTILINE)
    for block in blocks:
        if opening.search(block):
            return Program(_flush(block))
    if blocks:
        return Program(_flush(blocks[0]))
    lines = response.split("\n")
    begin = next((i for i, line in enumerate(lines) if _BEGINS.match(line)), None)
    if begin is not None and re.search(r"^(?:async )?def \w+", response, re.MULTILINE):
        return Program(_trimmed(response, "") or "\n".join(lines[begin:]))
    return None


def _fenced(text: str) -> Iterator[str]:
    """Yield the blocks that are, or may be, Python; the last may be left open."""
    fence, kept, held = "", False, list[str]()
    for line in text.split("\n"):
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                if kept and "\n".join(held).strip():
                    yield "\n".join(held)
                fence = ""
            else:
                held.append(line)
        elif opened := _OPENING.fullmatch(line.rstrip("\r")):
            language = opened[2].lower()
            fence, kept, held = opened[1], not language or language in _PYTHON, []
    if fence and kept and "\n".join(held).strip():
        yield "\n".join(held)


def _indented(text: str) -> Iterator[str]:
    """Yield a text from its first indented line on, where words come before it."""
    lines = text.split("\n")
    begin = next((i for i, line in enumerate(lines) if line[:1] in (" ", "\t") and line.strip()), 0)
    if begin and not any(_BEGINS.match(line) for line in lines[:begin]):
        end = next(
            (i for i, line in enumerate(lines[begin:], begin) if line[:1] not in (" ", "\t", "")),
            len(lines),
        )
        yield "\n".join(lines[begin:end])
