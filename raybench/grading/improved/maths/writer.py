r"""An answer's lexemes as the tokens of our arithmetic: `\frac12\pi` is `((1)/(2))*pi`.

Decimals become fractions, and `i` is the imaginary unit. A function that our arithmetic lacks, a
sine for one, is a letter named after its argument: equal where the argument is the same.
"""

import re
from collections.abc import Sequence

from raybench.grading.improved.maths.lexemes import Lexeme
from raybench.grading.math.expression import Beyond, NotArithmetic, Token

_DEEPEST = 40
_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
FUNCTIONS = {
    r"\sin", r"\cos", r"\tan", r"\sec", r"\csc", r"\cot", r"\arcsin", r"\arccos", r"\arctan",
    r"\sinh", r"\cosh", r"\tanh", r"\exp",
}  # fmt: skip
_LOGARITHMS = {r"\ln", r"\log", r"\lg"}
_ENDS_OPERAND = {"+", "-", ",", "=", "<", ">", ";", ":", *_CLOSING, *FUNCTIONS, *_LOGARITHMS}
_NAMES = {
    r"\alpha", r"\beta", r"\gamma", r"\delta", r"\epsilon", r"\zeta", r"\eta", r"\theta",
    r"\iota", r"\kappa", r"\lambda", r"\mu", r"\nu", r"\xi", r"\rho", r"\sigma", r"\tau",
    r"\upsilon", r"\phi", r"\chi", r"\psi", r"\omega", r"\varepsilon", r"\vartheta", r"\varphi",
    r"\Gamma", r"\Delta", r"\Theta", r"\Lambda", r"\Xi", r"\Pi", r"\Sigma", r"\Upsilon", r"\Phi",
    r"\Psi", r"\Omega", r"\ell", r"\hbar", r"\infty",
}  # fmt: skip
_ARGUMENTS = {r"\sqrt": 1, r"\frac": 2}
_POWERS_OF_TEN = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_ALONE = re.compile(r"\{ (\d+|[a-zA-Z]|\\[a-zA-Z]+) \}")
_OPEN, _CLOSE = Token("operator", "("), Token("operator", ")")


def key(lexemes: Sequence[Lexeme], *, fold: bool) -> str:
    """Return what lexemes look like, without braces around a single one; `fold` drops capitals."""
    text = _ALONE.sub(r"\1", " ".join(lexeme.text for lexeme in lexemes))
    return text.casefold() if fold else text


def bracketed(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens as one factor."""
    return [_OPEN, *tokens, _CLOSE]


class Writer:
    """Writes tokens from left to right; raises NotArithmetic at what is no expression."""

    def __init__(self, lexemes: Sequence[Lexeme], *, fold: bool, depth: int = 0) -> None:
        if depth > _DEEPEST:
            raise Beyond
        self._lexemes = list(lexemes)
        self._at = 0
        self._depth = depth
        self._fold = fold
        self._tokens: list[Token] = []
        self.opaque = False

    def write(self) -> list[Token]:
        """Return all tokens."""
        while self._at < len(self._lexemes):
            self._one()
        if not self._tokens:
            raise NotArithmetic
        return self._tokens

    @property
    def _next(self) -> str:
        return self._lexemes[self._at].text if self._at < len(self._lexemes) else ""

    def _take(self) -> Lexeme:
        if self._at == len(self._lexemes):
            raise NotArithmetic
        self._at += 1
        return self._lexemes[self._at - 1]

    def _put(self, kind: str, text: str) -> None:
        """Write a token, and the '*' that is understood before it."""
        if (kind != "operator" or text == "(") and self._tokens:
            last = self._tokens[-1]
            if last.kind not in ("operator", "function") or last.text in (")", "!"):
                self._tokens.append(Token("operator", "*"))
        self._tokens.append(Token(kind, text))

    def _put_bracketed(self, tokens: Sequence[Token]) -> None:
        self._put("operator", "(")
        self._tokens += [*tokens, _CLOSE]

    def _written(self, lexemes: Sequence[Lexeme]) -> list[Token]:
        inner = Writer(lexemes, fold=self._fold, depth=self._depth + 1)
        tokens = inner.write()
        self.opaque |= inner.opaque
        return tokens

    def _one(self) -> None:
        kind, text = self._take()
        if kind == "number":
            self._number(text)
        elif kind == "letters":
            self._letters(text)
        elif kind == "word":
            self._word(text)
        elif text in ("+", "-", "*", "/", "!"):
            self._put("operator", text)
        elif text == "^":
            self._put("operator", "**")
            self._put_bracketed(self._written(self._argument(whole=True)))
        elif text in _OPENING:
            self._at -= 1
            self._put_bracketed(self._written(self._group()))
        elif text == r"\frac":
            top, bottom = self._written(self._argument()), self._written(self._argument())
            self._put_bracketed(_quotient(top, bottom))
        elif text == r"\sqrt":
            self._root()
        elif text in (r"\binom", r"\dbinom", r"\tbinom"):
            self._binomial()
        elif text in _LOGARITHMS:
            self._logarithm(text)
        elif text in FUNCTIONS or text == "|":
            self._unknown(text)
        elif text == r"\pi":
            self._put("constant", "pi")
        elif text in _NAMES:
            self._put("symbol", text + self._index())
        else:
            raise NotArithmetic

    # ------------------------------------------------------------------------------ numbers

    def _number(self, text: str) -> None:
        following = self._lexemes[self._at : self._at + 7]
        fraction = _plain_fraction(following)
        if following and following[0].kind == "number":
            if not fraction or not text.isdecimal():
                raise NotArithmetic  # two numbers in a row are '7 3/4' or nothing
        elif self._next == r"\overline":
            self._repeating(text)
            return
        if fraction and text.isdecimal():
            top, bottom, length = fraction
            if top >= bottom:
                raise NotArithmetic  # neither a mixed number nor what anybody writes for a product
            self._at += length
            self._fraction(int(text) * bottom + top, bottom)
            return
        whole, _, decimals = text.partition(".")
        if decimals:
            self._fraction(int(whole + decimals), 10 ** len(decimals))
        else:
            self._put("integer", whole)

    def _fraction(self, top: int, bottom: int) -> None:
        self._put_bracketed(
            _quotient([Token("integer", str(top))], [Token("integer", str(bottom))])
        )

    def _repeating(self, text: str) -> None:
        """Write 0.1 with 6 overlined as 1/6."""
        self._at += 1
        period = "".join(lexeme.text for lexeme in self._group())
        whole, point, decimals = text.partition(".")
        if not period.isdecimal() or not point:
            raise NotArithmetic
        before, behind = int(whole + decimals or "0"), int(whole + decimals + period)
        self._fraction(behind - before, 10 ** len(decimals) * (10 ** len(period) - 1))

    def _word(self, text: str) -> None:
        """Write 'million' behind a number; other words are no arithmetic."""
        power = _POWERS_OF_TEN.get(text.lower())
        if power is None or not self._tokens:
            raise NotArithmetic
        self._put("integer", str(10**power))

    # ------------------------------------------------------------------------------ letters

    def _letters(self, text: str) -> None:
        for letter in text[:-1]:
            self._letter(letter, "")
        self._letter(text[-1], self._index())

    def _letter(self, letter: str, index: str) -> None:
        if letter == "i" and not index:
            self._put("constant", "i")
        else:
            self._put("symbol", (letter.lower() if self._fold else letter) + index)

    def _index(self) -> str:
        """Return what hangs below a letter, and its primes."""
        found = ""
        while self._next in ("_", "'"):
            found += "_" + key(self._group(), fold=self._fold) if self._take().text == "_" else "'"
        return found

    # ---------------------------------------------------------------------------- functions

    def _root(self) -> None:
        if self._next != "[":
            inside = self._written(self._argument(whole=True))
            self._put("function", "sqrt")
            self._tokens += bracketed(inside)
            return
        order, inside = self._written(self._group()), self._written(self._argument())
        power = bracketed(_quotient([Token("integer", "1")], order))
        self._put_bracketed([*bracketed(inside), Token("operator", "**"), *power])

    def _binomial(self) -> None:
        n, k = bracketed(self._written(self._argument())), self._written(self._argument())
        minus, factorial = Token("operator", "-"), Token("operator", "!")
        rest = bracketed([*n, minus, *bracketed(k)])
        below = [*bracketed(k), factorial, Token("operator", "*"), *rest, factorial]
        self._put_bracketed(_quotient([*n, factorial], below))

    def _logarithm(self, name: str) -> None:
        base: Sequence[Lexeme] = [Lexeme("number", "10")] if name != r"\ln" else ()
        if self._next == "_":
            self._at += 1
            base = self._group()
        top = self._ln(self._operand())
        self._put_bracketed(_quotient(top, self._ln(base)) if base else top)

    def _ln(self, lexemes: Sequence[Lexeme]) -> list[Token]:
        return [Token("function", "ln"), *bracketed(self._written(lexemes))]

    def _unknown(self, name: str) -> None:
        """Write a function of which nothing is known but its argument."""
        self.opaque = True
        if name == "|":
            inside: list[Lexeme] = []
            while (lexeme := self._take()).text != "|":
                inside.append(lexeme)
            self._put("symbol", f"|{key(inside, fold=self._fold)}|")
            return
        power: Sequence[Lexeme] = ()
        if self._next == "^":
            self._at += 1
            power = self._argument(whole=True)
        self._put("symbol", f"{name} {key(self._operand(), fold=self._fold)}")
        if power:
            self._put("operator", "**")
            self._put_bracketed(self._written(power))

    # ---------------------------------------------------------------------------- arguments

    def _operand(self) -> Sequence[Lexeme]:
        """Return what a function is applied to: a bracket, or all up to the next sum."""
        if self._next in _OPENING:
            return self._group()
        start = self._at
        while self._at < len(self._lexemes) and self._next not in _ENDS_OPERAND:
            self._group()
        return self._lexemes[start : self._at]

    def _group(self) -> Sequence[Lexeme]:
        """Return what a pair of brackets holds, or the next lexeme."""
        first = self._take()
        if first.text not in _OPENING:
            return [first]
        start, depth = self._at, 1
        while depth:
            text = self._take().text
            depth += (text in _OPENING) - (text in _CLOSING)
        if self._lexemes[self._at - 1].text != _OPENING[first.text]:
            raise NotArithmetic
        return self._lexemes[start : self._at - 1]

    def _argument(self, *, whole: bool = False) -> Sequence[Lexeme]:
        r"""Return a group, or what stands for one.

        Of `\frac12` that is a digit; a power's or root's is all of a number, for so people write
        `2^10` without LaTeX, and with its sign.
        """
        sign = [self._take()] if whole and self._next in ("+", "-") else []
        start = self._at
        kind, text = self._take()
        digits = text.isdecimal() or kind == "letters"
        if digits and len(text) > 1 and not (whole and kind == "number"):
            self._at = start
            self._lexemes[start] = Lexeme(kind, text[1:])
            return [*sign, Lexeme(kind, text[:1])]
        self._at -= text in _OPENING
        for _ in range(_ARGUMENTS.get(text, text in _OPENING)):
            self._group()
        return [*sign, *self._lexemes[start : self._at]]


def _quotient(top: Sequence[Token], bottom: Sequence[Token]) -> list[Token]:
    return [*bracketed(top), Token("operator", "/"), *bracketed(bottom)]


def _plain_fraction(lexemes: Sequence[Lexeme]) -> tuple[int, int, int] | None:
    r"""Return the `a/b` or `\frac{a}{b}` of whole numbers that comes, and its length in lexemes."""
    match [lexeme.text for lexeme in lexemes]:
        case [r"\frac", "{", top, "}", "{", bottom, "}"]:
            length = 7
        case [top, "/", bottom, *_]:
            length = 3
        case [r"\frac", both, *_] if len(both) == 2:
            top, bottom, length = both[:1], both[1:], 2
        case _:
            return None
    if not (top.isdecimal() and bottom.isdecimal()):
        return None
    return int(top), int(bottom), length
