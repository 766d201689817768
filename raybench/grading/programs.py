"""The program that a reply to 'implement this function' holds.

Models were asked for code only, and answer with a bare function, with fenced blocks among prose, or
with the function's body alone, as a continuation of what they were shown.

What stands in a closed block is code by the model's own word, and is run as it stands, even where
it cannot be read here: the sandbox may know more of Python than we do. From any other text the
prose around the code is cut away.
"""

import ast
import builtins
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from raybench.grading.syntax import (
    Names,
    completes,
    failing_line,
    is_said,
    is_stub,
    names,
    returns,
    without_end,
)

_OPENING = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([\w+-]*+)[^\n`]*")
_LATE_OPENING = re.compile(r".*[^`~](`{3,}+|~{3,}+)[ \t]*+(py\w*+)[ \t]*", re.IGNORECASE)
_PYTHON = ("python", "py", "python3", "python2", "ipython", "pycon")
_BEGINS = re.compile(
    r"""from\s+[\w.]+\s+import\b | import\s+[\w.]+\s*(?:$|[,;\#]|as\b) | (?:async\s+)?def\s+\w
    | class\s+\w+\s*[:(\[] | @\w | try: | \w+\s*(?::[^=]+)?=[^=] | \"{3}""",
    re.VERBOSE,
)
_NO_PROSE = ("", " ", "\t", ")", "]", "}")
"""How lines of code begin, or do not, that are no statements of their own."""
_BLOCKS = 100
"""How many blocks are looked at: no honest reply has more."""
_EFFORT = 300_000
"""Characters that are read in search of where one text's code ends, all readings together."""


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


@dataclass(frozen=True, slots=True)
class _Text:
    """A part of a reply."""

    text: str
    closed: bool = False
    """It stands between two fences: all of it is meant to be code."""


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Code that may be the program, or a part of it."""

    source: str
    names: Names


def program(response: str, prompt: str, name: str) -> Program | None:
    """Return the program in a response to a prompt that shows a function of that name.

    Of several blocks, the first that implements the function counts, with those that define what
    it reads. Where none does, the first body counts, then the first stub. Where there is none
    either, code is still code: it will be told what it lacks. None means that there is none.
    """
    blocks, rest = _split(_unquoted(response))
    bare = list(dict.fromkeys((_Text(rest), *_indented(rest))))
    stubs = list[str]()
    for texts in (blocks, *([text] for text in bare)):
        pieces = [piece for text in texts for piece in _pieces(text, name)]
        for piece in pieces:
            if name in piece.names.defined:
                if not is_stub(piece.source, name):
                    return Program(_joined(piece, pieces))
                stubs.append(piece.source)
    for text in (*blocks, *bare):
        if body := _body(text, prompt, name):
            return Program(body, continues=True)
    return Program(stubs[0]) if stubs else _anything(blocks, rest, name)


def _unquoted(response: str) -> str:
    """Return a response with Python's own line ends, and without the marks of a quotation."""
    text = re.sub(r"\r\n?", "\n", response)
    quoted = re.search(r"^> ?(?:```|~~~)", text, re.MULTILINE)
    return re.sub(r"^>(?: |$)", "", text, flags=re.MULTILINE) if quoted else text


def _split(text: str) -> tuple[list[_Text], str]:
    """Return the blocks that are, or may be, Python, and all that is in no closed one of them."""
    blocks, rest, held = list[_Text](), list[str](), list[str]()
    fence, kept = "", False
    for line in text.split("\n"):
        opened = _OPENING.fullmatch(line) or (None if fence else _LATE_OPENING.fullmatch(line))
        language = opened[2].lower() if opened else ""
        if fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            if kept:
                blocks.append(_Text("\n".join(held), closed=True))
            else:
                rest += held
            fence, held = "", []
        elif opened and (not fence or language in _PYTHON):
            rest += held
            fence, kept, held = opened[1], not language or language in _PYTHON, []
        else:
            (held if fence else rest).append(line)
    if fence and kept:
        blocks.append(_Text("\n".join(held)))
    return [it for it in blocks if it.text.strip()][:_BLOCKS], "\n".join(rest + held)


def _indented(text: str) -> Iterator[_Text]:
    """Yield the first indented lines of a text where no code comes before them.

    With what follows them, as of a body, and alone, as of a whole program.
    """
    lines = text.split("\n")
    begin = next((i for i, line in enumerate(lines) if line[:1] in (" ", "\t") and line.strip()), 0)
    if not any(_BEGINS.match(line) for line in lines[:begin]):
        ends = (i for i, line in enumerate(lines) if i > begin and line[:1].strip())
        yield _Text("\n".join(lines[begin:]))
        yield _Text("\n".join(lines[begin : next(ends, len(lines))]))


def _pieces(text: _Text, name: str) -> Iterator[_Piece]:
    """Yield the programs in a text with their names, as far as these can be told."""
    lines = _flush(text.text).split("\n")
    for source in _codes(text, (i for i, line in enumerate(lines) if _BEGINS.match(line))):
        if found := names(source):
            if not returns(source):
                yield _Piece(source, found)
        elif text.closed and _has_header(source, name):
            words = frozenset(re.findall(r"\w+", source))
            yield _Piece(source, Names(frozenset({name}), frozenset(), words))


def _codes(text: _Text, begins: Iterable[int]) -> Iterator[str]:
    """Yield a closed block as it is; of other texts the code that begins at any of some lines."""
    source = _flush(text.text)
    if text.closed:
        yield source
        return
    lines, end, effort = source.split("\n"), 0, _EFFORT
    for begin in begins:
        upto = len(lines) if begin >= end else begin
        while upto > begin and effort > 0:
            code = "\n".join(lines[begin:upto])
            effort -= len(code) + 1
            broken = failing_line(code)
            if broken is None:
                yield without_end(code, is_said)
                end = upto
                break
            upto = min(begin + broken, upto) - 1
            while upto > begin and lines[upto][:1] in _NO_PROSE:
                upto -= 1


def _has_header(text: str, name: str) -> bool:
    """Tell whether a text has a line that begins the function's definition."""
    header = rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b"
    return re.search(header, text, re.MULTILINE) is not None


def _flush(text: str) -> str:
    """Return a text at the margin; `dedent` alone would also strip the empty lines of strings."""
    text = text.strip("\n").rstrip()
    return textwrap.dedent(text) if text[:1] in (" ", "\t") else text


def _joined(main: _Piece, pieces: list[_Piece]) -> str:
    """Return a piece among those that define what it reads, and what these read in turn.

    What others do only to show that it works is left out.
    """
    makers = dict[str, _Piece]()
    for piece in pieces:
        if not piece.names.defined & main.names.defined:
            for it in piece.names.bound:
                makers.setdefault(it, piece)
    taken = [main]
    for piece in taken:  # it grows
        for it in piece.names.read - piece.names.bound - vars(builtins).keys():
            if it in makers and makers[it] not in taken:
                taken.append(makers[it])
    return "\n\n".join(
        it.source if it is main else without_end(it.source, lambda end: isinstance(end, ast.Expr))
        for it in pieces
        if it in taken
    )


def _body(text: _Text, prompt: str, name: str) -> str | None:
    """Return the function's body, with what follows it, None where a text has none."""
    shown, given = prompt.strip("\n").rstrip(), text.text.strip("\n").rstrip()
    if _has_header(given, name):
        return None
    at_margin = next(_codes(_Text(given, text.closed), [0]), "")
    stripped = f"    {given.lstrip()}"  # of its first indent
    for form in (given, stripped, textwrap.indent(at_margin, "    ")):
        for whole in _codes(_Text(f"{shown}\n{form}", text.closed), [0]):
            if completes(whole, shown, name):
                return whole[len(shown) + 1 :]
    return None


def _anything(blocks: list[_Text], rest: str, name: str) -> Program | None:
    """Return what looks like code and is none that could be run as it should."""
    for block in blocks:
        if _has_header(block.text, name):
            return Program(_flush(block.text))
    if re.search(r"^(?:async )?def \w+", rest, re.MULTILINE):
        lines = rest.split("\n")
        begin = next(i for i, line in enumerate(lines) if _BEGINS.match(line))
        return Program("\n".join(lines[begin:]).rstrip())
    return Program(_flush(blocks[0].text)) if blocks else None
