r"""LaTeX, Unicode and plain text of an answer as one list of lexemes: `½√3`, `\frac12\sqrt{3}`."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from raybench.grading.improved.statements import visible
from raybench.grading.math.expression import Beyond

_DEEPEST = 10


class Lexeme(NamedTuple):
    """One of: number, letters (multiplied), word, command, sign."""

    kind: str
    text: str


_SIGNS = str.maketrans({
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "×": "*", "·": "*", "⋅": "*", "∗": "*",
    "•": "*", "÷": "/", "∕": "/", "√": r"\sqrt ", "∞": r"\infty ", "∪": r"\cup ", "∩": r"\cap ",
    "≤": r"\le ", "⩽": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≠": r"\ne ", "±": r"\pm ",
    "∓": r"\mp ", "∈": r"\in ", "°": r"\circ ", "∅": r"\emptyset ", "≈": r"\approx ",
    "∠": r"\angle ", "⟨": r"\langle ", "⟩": r"\rangle ", "′": "'", "’": "'", "%": r"\%",
    "€": r"\text{€}", "¢": r"\text{¢}", "~": " ", "：": ":",
})  # fmt: skip
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_VULGAR = re.compile("[¼-¾⅐-⅞]")
_GREEK = re.compile("[α-ωΑ-Ω]")
_ESCAPED = re.compile(r"\\([%$])")
_NOISE = re.compile(
    r"\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle|limits|quad|qquad|phantom)(?![a-zA-Z])"
    r"|\\(?:math(?:bf|it|bb|cal|sf|frak|tt)|boldsymbol|bm|vec|boxed|fbox|bf|rm)(?![a-zA-Z])"
)
_SPACE = re.compile(r"(\\\\)|\\[,;:! ()\[\]]")
"""Thin spaces, and the delimiters of a formula; a row's end is neither."""
_CIRCLE = re.compile(r"\^\s?(?:\{\s?\\circ\s?\}|\\circ(?![a-zA-Z]))|\\degrees?(?![a-zA-Z])")
_GROUPED = re.compile(r"(?<=\d)(?:\{,\}|\s?,?\s?\\[!,;: ]\s?)(?=\d{3}(?!\d))")
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_UNION = re.compile(r"(?<=[)\]}])\s{0,9}U\s{0,9}(?=[(\[{\\])")
_LEXEME = re.compile(
    r"(?P<text>\\(?:text|textbf|textit|textrm|textup|textnormal|mbox|hbox|mathrm|operatorname)"
    r"(?![a-zA-Z])\s?\{)|(?P<command>\\(?:[a-zA-Z]+|.))"
    r"|(?P<number>\d+(?:\.\d+|\.(?=\s?\\overline))?|\.\d+)"
    r"|(?P<word>[^\W\d_]+(?:\.[^\W\d_]\b)?)|(?P<space>\s+)|(?P<sign>.)",
    re.DOTALL,
)
_SAME = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\cdot": "*", r"\times": "*",
    r"\ast": "*", r"\div": "/", r"\leq": r"\le", r"\leqslant": r"\le", r"\geq": r"\ge",
    r"\geqslant": r"\ge", r"\neq": r"\ne", "**": "^", r"\lbrace": r"\{", r"\rbrace": r"\}",
    r"\infinity": r"\infty", r"\inf": r"\infty", r"\oo": r"\infty", r"\lt": "<", r"\gt": ">",
    r"\prime": "'",
    r"\lvert": "|", r"\rvert": "|", r"\vert": "|", r"\varnothing": r"\emptyset", r"\colon": ":",
    r"\dots": "...", r"\ldots": "...", r"\cdots": "...", "<=": r"\le", ">=": r"\ge",
}  # fmt: skip
_FUNCTIONS = {
    "sqrt", "ln", "log", "sin", "cos", "tan", "sec", "csc", "cot", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "tanh", "exp", "pi", "infinity", "infty", "inf", "oo", "theta", "alpha", "beta",
}  # fmt: skip
_SEPARATORS = {"and", "or"}
_SHORTEST_WORD = 4
"""Letters in a row that are no product: `abc` may be one, `even` is none."""


def lexemes(answer: str, *, thousands: bool) -> list[Lexeme]:
    """Return an answer's lexemes; `thousands` reads 1,234 as one number.

    Raises Beyond where texts are nested beyond reason.
    """
    plain = _GROUPED.sub("", _plain(answer))
    if thousands:
        plain = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), plain)
    plain = _UNION.sub(r" \\cup ", plain)
    plain = _CIRCLE.sub(r"\\circ ", _SPACE.sub(lambda space: space[1] or " ", plain))
    return list(_joined(_cut(plain, in_text=False, depth=0)))


def separates(answer: str) -> bool:
    """Tell whether a comma of the answer separates, and does not group digits by three."""
    return "," in _THOUSANDS.sub("", _GROUPED.sub("", answer))


def _plain(answer: str) -> str:
    """Return the answer in LaTeX's own characters, without dollars around it and styles."""
    answer = _RAISED.sub(lambda run: f"^{{{unicodedata.normalize('NFKC', run[0])}}}", answer)
    answer = _VULGAR.sub(_fraction, answer)
    answer = "".join(map(_ascii_digit, unicodedata.normalize("NFKC", visible(answer))))
    answer = _GREEK.sub(_named, answer)
    answer = _ESCAPED.sub(r"\1\1", answer).replace("$$", "\0").replace("%%", "%")
    answer = answer.replace("$", "").replace("\0", r"\$").translate(_SIGNS)
    return _NOISE.sub(" ", answer).strip()


def _fraction(sign: re.Match[str]) -> str:
    top, _, bottom = unicodedata.normalize("NFKC", sign[0]).partition("⁄")
    return rf"\frac{{{top}}}{{{bottom}}}"


def _named(letter: re.Match[str]) -> str:
    *_, name = unicodedata.name(letter[0], "GREEK LETTER SIGMA").split()
    return rf"\{name.lower() if letter[0].islower() else name.capitalize()} "


def _ascii_digit(character: str) -> str:
    if character.isascii():
        return character
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)


def _cut(text: str, *, in_text: bool, depth: int) -> Iterator[Lexeme]:
    if depth > _DEEPEST:
        raise Beyond
    at = 0
    while match := _LEXEME.match(text, at):
        at = match.end()
        kind, found = match.lastgroup or "", match[0]
        if kind == "text":
            end = _closing(text, at)
            inside = text[at:end]
            at = min(end + 1, len(text))
            if found.startswith((r"\mathrm", r"\operatorname")) and len(inside.strip(" ~")) == 1:
                yield from _cut(inside, in_text=in_text, depth=depth + 1)
            else:
                yield from _cut(inside, in_text=True, depth=depth + 1)
        elif kind == "word":
            yield from _words(found, in_text=in_text)
        elif kind in ("command", "sign"):
            yield Lexeme("command" if found[0] == "\\" else "sign", found)
        elif kind == "number":
            yield Lexeme(kind, found)


def _closing(text: str, at: int) -> int:
    """Return where the brace that was opened closes, or the end."""
    depth = 1
    for brace in re.finditer(r"\\.|[{}]", text[at:], re.DOTALL):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return at + brace.start()
    return len(text)


def _words(run: str, *, in_text: bool) -> Iterator[Lexeme]:
    """Yield a run of letters as what it is: a word, a function, or letters that are multiplied."""
    lower = run.lower()
    if lower in _SEPARATORS:
        yield Lexeme("sign", ",")
    elif in_text:
        yield Lexeme("word", run.replace(".", ""))
    elif lower in _FUNCTIONS:
        yield Lexeme("command", f"\\{lower}")
    elif "sqrt" in run:
        for part in re.split("(sqrt)", run):
            yield Lexeme("command", r"\sqrt") if part == "sqrt" else Lexeme("letters", part)
    elif len(run) >= _SHORTEST_WORD or "." in run or not run.isascii():
        yield Lexeme("word", run.replace(".", ""))
    else:
        yield Lexeme("letters", run)


def _joined(cut: Iterator[Lexeme]) -> Iterator[Lexeme]:
    r"""Yield lexemes by one name each: `**` and `^`, `\dfrac` and `\frac`, `<=` and `\le`."""
    before: Lexeme | None = None
    for lexeme in cut:
        if not lexeme.text:
            continue
        if before is not None:
            both = before.text + lexeme.text
            if both in _SAME:
                before = Lexeme("sign", both)
                continue
            yield _renamed(before)
        before = lexeme
    if before is not None:
        yield _renamed(before)


def _renamed(lexeme: Lexeme) -> Lexeme:
    kind, text = lexeme
    if kind in ("command", "sign"):
        text = _SAME.get(text, text)
        kind = "command" if text[0] == "\\" else "sign"
    return Lexeme(kind, text)
