"""Reads arithmetic the way sympy's parser does in the PRM800K script, and evaluates nothing itself.

Juxtaposition multiplies, a name is a product of its letters unless it is a function, π or a Greek
letter's name, '^' and '**' are powers, '!' is the factorial. What the values are is up to an
algebra, which sees one operation at a time and can refuse it before anything large is built.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import Generic, NamedTuple, Protocol, TypeVar

_DEEPEST = 50

_TOKEN = re.compile(
    r"""(?P<based>0[xbo]_?[0-9a-f]+)
    |(?P<number>(?:[0-9](?:_?[0-9])*\.(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)
                    (?:e[-+]?[0-9](?:_?[0-9])*)?
               |[0-9](?:_?[0-9])*e[-+]?[0-9](?:_?[0-9])*
               |0(?:_?0)*|[1-9](?:_?[0-9])*)(?P<imaginary>j?)
    |(?P<name>\w+)
    |(?P<operator>\*\*|//|!+(?!=)|[-+*/^()])
    |(?P<line>\r?\n)
    |[\ \t\f]+""",
    re.VERBOSE,
)
_FUNCTIONS = {"sqrt", "ln"}
_REFUSED = {
    "all", "csc", "eye", "ff", "fft", "frac", "fu", "gff", "hn1", "hn2", "id", "im", "jn", "li",
    "ntt", "re", "rf", "yn",
}  # fmt: skip
"""Other functions of two letters at most that sympy's parser knows."""
_OPERATORS = {"+", "-", "*", "/", "//", "**", "!", "(", ")"}
_NEVER_ZERO = {"nan", "oo", "zoo"}


class NotArithmetic(ValueError):
    """The script cannot read it either, or it is no number: never equal to anything."""


class Beyond(ValueError):
    """More than an algebra takes on."""


T = TypeVar("T")


class Algebra(Protocol[T]):
    """What expressions are evaluated in; any operation may raise Beyond, or ZeroDivisionError."""

    def integer(self, value: int) -> T:
        """Return a whole number."""

    def decimal(self, text: str) -> T:
        """Return a number with a point or an exponent."""

    def constant(self, name: str) -> T:
        """Return 'pi' or 'i', the imaginary unit."""

    def symbol(self, name: str) -> T:
        """Return a variable."""

    def add(self, one: T, other: T) -> T:
        """Return the sum."""

    def negate(self, value: T) -> T:
        """Return the negative."""

    def multiply(self, one: T, other: T) -> T:
        """Return the product."""

    def divide(self, one: T, other: T) -> T:
        """Return the quotient."""

    def power(self, base: T, exponent: T) -> T:
        """Return the power."""

    def factorial(self, value: T) -> T:
        """Return the factorial."""

    def function(self, name: str, value: T) -> T:
        """Return 'sqrt' or 'ln' of the value."""


class Token(NamedTuple):
    """One of: integer, decimal, constant, symbol, function, operator."""

    kind: str
    text: str


def tokens(text: str) -> list[Token]:
    """Cut a lower-case expression into tokens, products made explicit."""
    found: list[Token] = []
    at = 0
    new_line = False
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotArithmetic
        at = match.end()
        new_line |= match["line"] is not None
        for token in _meant(match, text[at : at + 1]):
            if found and _ends_a_factor(found[-1]) and _begins_a_factor(token):
                if new_line:
                    raise NotArithmetic  # no product reaches over the end of a line
                found.append(Token("operator", "*"))
            found.append(token)
            new_line = False
    return found


def _ends_a_factor(token: Token) -> bool:
    return token.kind not in ("operator", "function") or token.text in (")", "!")


def _begins_a_factor(token: Token) -> bool:
    return token.kind != "operator" or token.text == "("


def _meant(match: re.Match[str], follows: str) -> list[Token]:
    if match["based"]:
        raise Beyond
    if match["number"]:
        digits = match["number"].replace("_", "")
        kind = "integer" if digits.isdecimal() else "decimal"
        unit = [Token("operator", "*"), Token("constant", "i")] if match["imaginary"] else []
        return [Token(kind, digits), *unit]
    if match["name"]:
        return _named(match["name"], follows)
    operator = match["operator"]
    if not operator:
        return []
    if operator.startswith("!!"):
        raise Beyond if operator == "!!" else NotArithmetic
    return [Token("operator", "**" if operator == "^" else operator)]


def _named(name: str, follows: str) -> list[Token]:
    if not name.isidentifier() or iskeyword(name) or name in _NEVER_ZERO:
        raise NotArithmetic
    if name in _FUNCTIONS or name in _REFUSED:
        if follows != "(":
            raise Beyond if follows in ("*", "^", ".") else NotArithmetic
        if name in _REFUSED:
            raise Beyond
        return [Token("function", name)]
    if name == "pi":
        return [Token("constant", name)]
    if len(name) == 1 or "_" in name or _is_greek(name):
        return [Token("symbol", name)]
    if not all(letter.isascii() or letter.isalpha() for letter in name):
        raise NotArithmetic  # digits of other scripts
    parts = re.findall(r"[0-9]+|[^0-9]", name)
    if any(part[0] == "0" and part.strip("0") for part in parts):
        raise NotArithmetic  # '05' is no number to sympy
    split = [Token("integer" if part[0].isdigit() else "symbol", part) for part in parts]
    # A factorial was there before the name came apart.
    return [Token("operator", "("), *split, Token("operator", ")")] if follows == "!" else split


def _is_greek(name: str) -> bool:
    try:
        unicodedata.lookup(f"GREEK SMALL LETTER {name}")
    except KeyError:
        return False
    return True


def evaluate(tokens: Sequence[Token], algebra: Algebra[T]) -> T:
    """Return what the tokens amount to in an algebra."""
    reader = _Reader(tokens, algebra)
    value = reader.sum()
    if reader.next:
        raise NotArithmetic
    return value


class _Reader(Generic[T]):
    """Descends from sums to atoms; Python's precedence, as sympy's parser has it."""

    def __init__(self, tokens: Sequence[Token], algebra: Algebra[T]) -> None:
        self._tokens = tokens
        self._algebra = algebra
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> str:
        """Return the next operator, '' at the end, the kind of anything else."""
        if self._at == len(self._tokens):
            return ""
        token = self._tokens[self._at]
        return token.text if token.kind == "operator" else token.kind

    def _take(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def sum(self) -> T:
        value = self._product()
        while self.next in ("+", "-"):
            sign = self._take().text
            term = self._product()
            value = self._algebra.add(value, term if sign == "+" else self._algebra.negate(term))
        return value

    def _product(self) -> T:
        value = self._signed()
        while self.next in ("*", "/", "//"):
            operator = self._take().text
            if operator == "//":
                raise Beyond
            factor = self._signed()
            combine = self._algebra.multiply if operator == "*" else self._algebra.divide
            value = combine(value, factor)
        return value

    def _signed(self) -> T:
        negative = False
        while self.next in ("+", "-"):
            negative ^= self._take().text == "-"
        value = self._power()
        return self._algebra.negate(value) if negative else value

    def _power(self) -> T:
        base = self._atom()
        while self.next == "!":
            self._take()
            base = self._algebra.factorial(base)
        if self.next != "**":
            return base
        self._take()
        return self._algebra.power(base, self._inside(self._signed))

    def _atom(self) -> T:
        kind = self.next
        if kind == "(":
            self._take()
            value = self._inside(self.sum)
            if self.next != ")":
                raise NotArithmetic
            self._take()
            return value
        if not kind or kind in _OPERATORS:
            raise NotArithmetic
        text = self._take().text
        if kind == "integer":
            return self._algebra.integer(int(text))
        if kind == "decimal":
            return self._algebra.decimal(text)
        if kind == "constant":
            return self._algebra.constant(text)
        if kind == "symbol":
            return self._algebra.symbol(text)
        return self._algebra.function(text, self._atom())

    def _inside(self, read: Callable[[], T]) -> T:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Beyond
        value = read()
        self._depth -= 1
        return value
