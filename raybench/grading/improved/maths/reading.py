r"""What an answer is: one quantity, several in any order, a tuple, a matrix, an equation, words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from raybench.grading.improved.maths import units
from raybench.grading.improved.maths.lexemes import Lexeme
from raybench.grading.improved.maths.values import Value
from raybench.grading.improved.maths.writer import FUNCTIONS, key
from raybench.grading.math.expression import Beyond, NotArithmetic

Lexemes = Sequence[Lexeme]

_DEEPEST = 6
_OPENING = {"(", "[", "{", r"\{", r"\langle", r"\begin"}
_CLOSING = {")", "]", "}", r"\}", r"\rangle", r"\end"}
_PAIRS = {("(", ")"), ("[", "]"), ("(", "]"), ("[", ")"), (r"\{", r"\}"), (r"\langle", r"\rangle")}
_ASCENDING, _DESCENDING = {"<": "(", r"\le": "["}, {">": "(", r"\ge": "["}
_RELATIONS = {"=", r"\approx", r"\in", r"\ne", r"\equiv", r"\sim", *_ASCENDING, *_DESCENDING}
_MATRICES = {"matrix", "pmatrix", "bmatrix", "array", "vmatrix", "smallmatrix"}
_SPELLED = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
    "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
    "sixteen": "16",
}  # fmt: skip
_PUNCTUATION = {".", ",", ";", ":", "!", "?", '"', "'", "`", "\\"}


@dataclass
class Quantity:
    """An expression with its unit, a number in a base, or words."""

    body: Lexemes
    unit: Counter[str]
    base: str
    fold: bool

    @cached_property
    def key(self) -> str:
        """Return what it looks like."""
        return key(self.body, fold=self.fold)

    @cached_property
    def value(self) -> Value | None:
        """Return what it is worth; None where it is no expression."""
        try:
            return Value(self.body, fold=self.fold)
        except (NotArithmetic, Beyond):
            return None

    @cached_property
    def hundredth(self) -> Value | None:
        """Return the value of so many percent."""
        percent = [Lexeme("sign", "/"), Lexeme("number", "100")]
        try:
            return Value([Lexeme("sign", "("), *self.body, Lexeme("sign", ")"), *percent],
                         fold=self.fold)  # fmt: skip
        except (NotArithmetic, Beyond):
            return None

    @cached_property
    def words(self) -> str:
        """Return the letters and digits alone, where there are letters and no operators."""
        plain = all(
            kind in ("word", "letters", "number") or text in "()'.:" for kind, text in self.body
        )
        text = "".join(c for lexeme in self.body for c in lexeme.text.casefold() if c.isalnum())
        return text if plain and any(map(str.isalpha, text)) else ""

    @property
    def spoken(self) -> bool:
        """Tell whether there is a word in it."""
        return any(lexeme.kind == "word" for lexeme in self.body)


@dataclass
class Several:
    """Answers in no order: a list, a set, a union."""

    parts: "list[Answer]"


@dataclass
class Ordered:
    """A tuple, interval, matrix or ratio: its kind, how long its rows are, and its elements."""

    kind: str
    parts: "list[Answer]"
    shape: tuple[int, ...] = ()


@dataclass
class Related:
    """An equation or a chain of them: `x = 5`, `f(1) < f(2)`."""

    sides: "list[Answer]"
    signs: list[str]
    names: list[str]
    """Of sides that are a mere name, how they look; '' for the others."""
    difference: Value | None
    """Of an equation, what is 0."""

    @property
    def defines(self) -> "tuple[str, Answer] | None":
        """Return the one name and what it is, where the equation says that and nothing else."""
        if self.signs != ["="] or len(list(filter(None, self.names))) != 1:
            return None
        first = bool(self.names[0])
        return (self.names[0], self.sides[1]) if first else (self.names[1], self.sides[0])


Answer = Quantity | Several | Ordered | Related


def read(lexemes: Lexemes, *, fold: bool, depth: int = 0) -> Answer:
    """Return what the lexemes are; raise Beyond where they are nested beyond reason."""
    if depth > _DEEPEST:
        raise Beyond
    lexemes = _stripped(lexemes)

    def each(parts: Sequence[Lexemes]) -> list[Answer]:
        return [read(part, fold=fold, depth=depth + 1) for part in parts]

    parts = [part for part in _split(lexemes, {",", ";"}) if part]
    parts = [expanded for part in parts for expanded in _signs_chosen(part)]
    if len(parts) > 1:
        return Several(_flat(each(parts)))
    (lexemes,) = parts or [lexemes]
    lexemes = _stripped(lexemes)
    signs = [text for text, at in _top(lexemes) if text in _RELATIONS]
    if signs:
        return _related(list(_split(lexemes, _RELATIONS)), signs, fold=fold, depth=depth)
    whole, _ = _measured(lexemes)
    if _bracketed(whole) is not None or (whole and whole[0].text == r"\begin"):
        lexemes = whole  # a tuple's unit says nothing that its elements do not
    if len(union := list(_split(lexemes, {r"\cup"}))) > 1:
        return Several(_flat(each(union)))
    if (matrix := _matrix(lexemes)) is not None:
        cells = [cell for row in matrix for cell in row]
        return Ordered("matrix", each(cells), tuple(map(len, matrix)))
    if len(ratio := list(_split(lexemes, {":"}))) > 1 and all(ratio):
        return Ordered(":", each(ratio))
    if (inside := _bracketed(lexemes)) is not None:
        elements = list(_split(inside, {",", ";"}))
        if lexemes[0].text == r"\{":
            found = _flat(each([one for e in elements if e for one in _signs_chosen(e)]))
            return found[0] if len(found) == 1 else Several(found)
        if len(elements) > 1:
            opening = "(" if lexemes[0].text == r"\langle" else lexemes[0].text
            closing = ")" if lexemes[-1].text == r"\rangle" else lexemes[-1].text
            return Ordered(opening + closing, each(elements))
        if any(lexeme.text in _RELATIONS or lexeme.text == r"\cup" for lexeme in inside):
            return read(inside, fold=fold, depth=depth + 1)
    return _quantity(lexemes, fold=fold)


# ---------------------------------------------------------------------------------------- cutting


def _top(lexemes: Lexemes) -> Iterator[tuple[str, int]]:
    """Yield what stands outside all brackets, with its place."""
    depth = 0
    for at, lexeme in enumerate(lexemes):
        if lexeme.text in _CLOSING:
            depth -= 1
        elif lexeme.text in _OPENING:
            depth += 1
        elif depth == 0:
            yield lexeme.text, at


def _split(lexemes: Lexemes, separators: set[str]) -> Iterator[Lexemes]:
    start = 0
    for text, at in _top(lexemes):
        if text in separators:
            yield lexemes[start:at]
            start = at + 1
    yield lexemes[start:]


def _bracketed(lexemes: Lexemes) -> Lexemes | None:
    """Return what a pair of brackets around everything holds."""
    if len(lexemes) < 3 or (lexemes[0].text, lexemes[-1].text) not in _PAIRS:
        return None
    inside, depth = lexemes[1:-1], 0
    for lexeme in inside:
        depth += (lexeme.text in _OPENING) - (lexeme.text in _CLOSING)
        if depth < 0:
            return None
    return inside if depth == 0 else None


def _stripped(lexemes: Lexemes) -> Lexemes:
    """Return the lexemes without punctuation at the ends and braces around everything."""
    start, stop = 0, len(lexemes)
    while start < stop:
        first, last = lexemes[start].text, lexemes[stop - 1].text
        if last in _PUNCTUATION - {"!", "'"} or (last in "*^" and stop - start > 1):
            stop -= 1
        elif first in _PUNCTUATION - {"!"} or first in "*^":
            start += 1
        elif (first, last) == ("{", "}") and _wrapped(lexemes[start:stop]):
            start, stop = start + 1, stop - 1
        else:
            break
    return lexemes[start:stop]


def _wrapped(lexemes: Lexemes) -> bool:
    depth = 0
    for lexeme in lexemes[:-1]:
        depth += (lexeme.text == "{") - (lexeme.text == "}")
        if depth == 0:
            return False
    return True


def _signs_chosen(lexemes: Lexemes) -> list[Lexemes]:
    r"""Return both answers that `\pm` stands for; upper signs go together, and so do lower ones."""
    inside = _bracketed(lexemes)
    if inside is not None and (lexemes[0].text == r"\{" or any(t == "," for t, _ in _top(inside))):
        return [lexemes]  # a set's elements have their own; a tuple is one answer
    if not any(lexeme.text in (r"\pm", r"\mp") for lexeme in lexemes):
        return [lexemes]
    choices: tuple[dict[str, str], ...] = ({r"\pm": "+", r"\mp": "-"}, {r"\pm": "-", r"\mp": "+"})
    return [
        [Lexeme("sign", signs[it.text]) if it.text in signs else it for it in lexemes]
        for signs in choices
    ]


def _flat(parts: list[Answer]) -> list[Answer]:
    return [
        part for each in parts for part in (each.parts if isinstance(each, Several) else [each])
    ]


# ----------------------------------------------------------------------------- equations, matrices


def _related(sides: list[Lexemes], signs: list[str], *, fold: bool, depth: int) -> Answer:
    names = [key(side, fold=fold) if _is_name(side) else "" for side in sides]
    if signs == [r"\in"] and names[0]:
        return read(sides[1], fold=fold, depth=depth + 1)
    answers = [read(side, fold=fold, depth=depth + 1) for side in sides]
    return _interval(answers, signs, names, fold=fold) or Related(
        answers, signs, names, _difference(sides, fold=fold) if signs == ["="] else None
    )


def _difference(sides: list[Lexemes], *, fold: bool) -> Value | None:
    left, right = ([Lexeme("sign", "("), *side, Lexeme("sign", ")")] for side in sides)
    try:
        return Value([*left, Lexeme("sign", "-"), *right], fold=fold)
    except (NotArithmetic, Beyond):
        return None


def _is_name(side: Lexemes) -> bool:
    r"""Tell whether a side only says what the other one is: `x`, `f(x)`, `\angle ABC`, words."""
    if not side or side[0].kind == "number" or side[0].text in (r"\frac", r"\sqrt", "-"):
        return False
    return not any(text in ("+", "-", "*", "/", "^") for text, at in _top(side)) and any(
        it.kind in ("letters", "word") or it.text in (r"\theta", r"\alpha", r"\beta") for it in side
    )


def _interval(
    sides: list[Answer], signs: list[str], names: list[str], *, fold: bool
) -> Ordered | None:
    """Return the interval that an inequality of one name is."""
    if all(sign in _DESCENDING for sign in signs):
        sides, names = sides[::-1], names[::-1]
        signs = [{">": "<", r"\ge": r"\le"}[sign] for sign in signs[::-1]]
    if not all(sign in _ASCENDING for sign in signs) or len([n for n in names if n]) != 1:
        return None
    infinite = [Lexeme("command", r"\infty")]
    least = Quantity([Lexeme("sign", "-"), *infinite], Counter(), "", fold)
    match names:
        case ["", _, ""]:
            low, high = signs
            return Ordered(_ASCENDING[low] + _closed(high), [sides[0], sides[2]])
        case [_, ""]:
            return Ordered("(" + _closed(signs[0]), [least, sides[1]])
        case ["", _]:
            highest = Quantity(infinite, Counter(), "", fold)
            return Ordered(_ASCENDING[signs[0]] + ")", [sides[0], highest])
    return None


def _closed(sign: str) -> str:
    return {"(": ")", "[": "]"}[_ASCENDING[sign]]


def _matrix(lexemes: Lexemes) -> list[list[Lexemes]] | None:
    """Return the rows of an environment that is all there is."""
    texts = [lexeme.text for lexeme in lexemes]
    if len(texts) < 8 or texts[0] != r"\begin" or texts.count(r"\begin") != 1:
        return None
    if texts[2] not in _MATRICES or texts[-4] != r"\end":
        return None
    inside = lexemes[4:-4]
    if texts[2] == "array" and inside and inside[0].text == "{":
        inside = inside[[it.text for it in inside].index("}") + 1 :]
    rows = [row for row in _split(inside, {"\\\\"}) if row]
    return [list(_split(row, {"&"})) for row in rows]


# ------------------------------------------------------------------------------------- quantities


def _quantity(lexemes: Lexemes, *, fold: bool) -> Quantity:
    body, unit = _measured(_stripped(lexemes))
    body = _stripped(body)
    while (inside := _bracketed(body)) is not None and body[0].text in "([":
        body, inner = _measured(_stripped(inside))
        unit = unit or inner
    body = [
        Lexeme("number", _SPELLED[it.text.lower()]) if it.text.lower() in _SPELLED else it
        for it in body
    ]
    body, base = _based(body)
    return Quantity(body, unit, base, fold)


def _measured(lexemes: Lexemes) -> tuple[Lexemes, Counter[str]]:
    """Return the quantity and its unit, which stands behind it, or before it: a dollar."""
    money: Counter[str] = Counter()
    texts = [lexeme.text for lexeme in lexemes]
    for place in (0, 1):
        if texts[place : place + 1] == [r"\$"] and texts[:place] in ([], ["-"]):
            lexemes, money = [*lexemes[:place], *lexemes[place + 1 :]], Counter({"dollar": 1})
            break
    if any(text in FUNCTIONS for text, _ in _top(lexemes)):
        return lexemes, money  # the degrees are those of the angle
    for _, at in _top(lexemes):
        if at == 0 or not _may_measure(lexemes, at):
            continue
        if (unit := units.measured(lexemes[at:])) is not None:
            return lexemes[:at], money or unit
    return lexemes, money


def _may_measure(lexemes: Lexemes, at: int) -> bool:
    kind, text = lexemes[at]
    behind = lexemes[at - 1]
    if text in (r"\%", r"\circ", r"\$"):
        return True
    if kind == "word":
        return behind.kind != "word" and text.lower() not in _TENS
    return kind == "letters" and behind.kind == "number" and units.is_unit(text)


_TENS = {"hundred", "thousand", "million", "billion", "trillion"}


def _based(lexemes: Lexemes) -> tuple[Lexemes, str]:
    """Return the digits of a number with its base below it, and the base."""
    places = [at for text, at in _top(lexemes) if text == "_"]
    if len(places) != 1:
        return lexemes, ""
    digits, below = lexemes[: places[0]], lexemes[places[0] + 1 :]
    plain = all(it.kind in ("number", "letters", "word") or it.text == "-" for it in digits)
    if not plain or not digits or not any(it.kind == "number" for it in digits):
        return lexemes, ""
    base = "".join(_SPELLED.get(it.text.lower(), it.text) for it in below if it.text not in "{}")
    base = base.lower().removeprefix("base")
    return (digits, base) if base.isdecimal() else (lexemes, "")
