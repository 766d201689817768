r"""LaTeX as plain text, as far as answers need it: '\frac{1}{2}\pi' is '1/2pi'.

The PRM800K script leaves this to pylatexenc. What that makes of an answer is kept, also where it
loses something, because the script's decisions rest on it: no parentheses around a fraction's
numerator, no index of a root, commands it does not know dropped without a trace.
"""

import re
import unicodedata

_DEEPEST = 50
_MOST_PIECES = 50_000
"""Of an answer, each counted as often as it is read: what ends where an argument is due is read
again without it, and so is everything in it, which doubles at every level."""
_COLUMN, _ROW = "\ue000", "\ue001"
"""Where a matrix is cut; private characters, never left in the text."""

_ENVIRONMENT = re.compile(r"\s*\{([\w* ._-]+)\}")
_SPACE = re.compile(r"\s*")
_PLAIN = re.compile(r"[^\\{}\[\]\-`'!?~&]+|---?|``|''|!`|\?`|[\s\S]")
_LIGATURES = {
    "---": "—",
    "--": "–",
    "``": "“",
    "''": "”",
    "!`": "¡",
    "?`": "¿",
    "~": "\N{NO-BREAK SPACE}",
    "&": _COLUMN,
}
_SPOKEN = (("√", "sqrt"), ("π", "pi"), ("∞", "inf"), ("∪", "U"), ("·", "*"), ("×", "*"))
"""Symbols that the algebra reads, in its words."""

_MATRICES = {"array", "pmatrix", "bmatrix", "smallmatrix", "psmallmatrix", "bsmallmatrix"}
_DISPLAYS = {
    name + star
    for name in ("equation", "eqnarray", "align", "multline", "gather", "dmath")
    for star in ("", "*")
}
_ENVIRONMENT_ARGUMENTS = {
    "array": "[{", "tabular": "{", "tabular*": "{{", "alignat": "{", "alignat*": "{",
    "figure": "[", "table": "[", "enumerate": "[", "itemize": "[",
}  # fmt: skip

# Below, '{' is an argument that must be there, '[' one that may be, '*' a star that may be.
_SHOWN = (
    "emph", "text", "textrm", "textit", "textbf", "textsc", "textsl", "mathrm", "overline",
    "underline", "widehat", "widetilde", "overrightarrow", "overleftarrow", "overleftrightarrow",
    "overbrace", "underbrace", "overbracket", "underbracket", "wideparen",
)  # fmt: skip
_HIDDEN = ("mbox", "textmd", "textsf", "texttt", "textup", "ensuremath", "label", "keywords")
_HIDDEN_WITH_OPTION = ("hphantom", "vphantom", "color", "pagecolor", "xleftarrow", "xrightarrow")
_COMMANDS = {
    **dict.fromkeys(_SHOWN, ("{", "{0}")),
    **dict.fromkeys(_HIDDEN, ("{", "")),
    **dict.fromkeys(_HIDDEN_WITH_OPTION, ("[{", "")),
    "hspace": ("*{", ""),
    "frac": ("{{", "{0}/{1}"),
    "nicefrac": ("{{", "{0}/{1}"),
    "sqrt": ("[{", "√({1})"),
    "textcolor": ("[{{", "{2}"),
    "colorbox": ("[{{", "{2}"),
    "vspace": ("*{", "\n"),
    "\\": ("*[", _ROW),
}
_STYLES = {
    "mathbf": "BOLD",
    "mathit": "ITALIC",
    "mathsf": "SANS-SERIF",
    "mathbb": "DOUBLE-STRUCK",
    "mathtt": "MONOSPACE",
    "mathcal": "SCRIPT",
    "mathscr": "SCRIPT",
    "mathfrak": "FRAKTUR",
}
_ACCENTS = {
    "'": "\u0301", "`": "\u0300", '"': "\u0308", "c": "\u0327", "^": "\u0302", "~": "\u0303",
    "H": "\u030b", "k": "\u0328", "=": "\u0304", "b": "\u0331", ".": "\u0307", "d": "\u0323",
    "r": "\u030a", "u": "\u0306", "v": "\u030c", "vec": "\u20d7", "dot": "\u0307",
    "hat": "\u0302", "check": "\u030c", "breve": "\u0306", "acute": "\u0301", "grave": "\u0300",
    "tilde": "\u0303", "bar": "\u0305", "ddot": "\u0308", "not": "\u0338",
}  # fmt: skip
_SPACES_AND_SIGNS = {
    "{": "{", "}": "}", "lbrace": "{", "rbrace": "}", "#": "#", "_": "_", "&": "&", ",": " ",
    ";": " ", ":": " ", " ": " ", "quad": "  ", "qquad": "    ", "limsup": "lim sup",
    "liminf": "lim inf", "-": "\N{SOFT HYPHEN}",
}  # fmt: skip


def _pairs(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_SYMBOLS = _SPACES_AND_SIGNS | _pairs(
    """
    sin sin cos cos tan tan arcsin arcsin arccos arccos arctan arctan sinh sinh cosh cosh tanh tanh
    arcsinh arcsinh arccosh arccosh arctanh arctanh ln ln log log exp exp max max min min sup sup
    inf inf lim lim
    alpha α beta β gamma γ delta δ epsilon ϵ zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν
    xi ξ omicron ο pi π rho ρ sigma σ tau τ upsilon υ phi ϕ chi χ psi ψ omega ω Alpha Α Beta Β
    Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο
    Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω varepsilon ε vartheta ϑ varpi ϖ
    varrho ϱ varsigma ς varphi φ varkappa ϰ hbar ħ ell ℓ wp ℘ aleph ℵ partial ∂ nabla ∇ infty ∞
    emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ complement ∁ in ∈ notin ∉ ni ∋ setminus ∖
    smallsetminus ∖ subset ⊂ supset ⊃ subseteq ⊆ supseteq ⊇ nsubseteq ⊈ nsupseteq ⊉ subsetneq ⊊
    supsetneq ⊋ cap ∩ cup ∪ bigcap ⋂ bigcup ⋃ sqcap ⊓ sqcup ⊔ wedge ∧ vee ∨ bigwedge ⋀ bigvee ⋁
    lnot ¬ sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ surd √ pm ± mp ∓ times × div ÷ cdot ·
    ast ∗ star ⋆ circ ∘ bullet ∙ oplus ⊕ ominus ⊖ otimes ⊗ oslash ⊘ odot ⊙ bigoplus ⊕ bigotimes ⊗
    dagger † dag † diamond ♢ le ≤ leq ≤ leqslant ⩽ leqq ≦ ge ≥ geq ≥ geqslant ⩾ geqq ≧ ll ≪ gg ≫
    neq ≠ equiv ≡ sim ∼ simeq ≃ approx ≈ cong ≅ propto ∝ prec ≺ succ ≻ preceq ≼ succeq ≽ parallel ∥
    nparallel ∦ perp ⊥ mid | nmid ∤ asymp ≍ doteq ≐ triangleq ≜ nless ≮ ngtr ≯ nleq ≰ ngeq ≱ angle ∠
    measuredangle ∡ bigtriangleup △ vartriangle ▵ bigtriangledown ▽ square □ blacksquare ▪ lozenge ◊
    therefore ∴ because ∵ top ⊤ bigcirc ◯ prime ' backprime ‵ rightarrow → to → leftarrow ←
    leftrightarrow ↔ uparrow ↑ downarrow ↓ mapsto ↦ longrightarrow ⟶ longleftarrow ⟵
    longleftrightarrow ⟷ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ Longrightarrow ⟹ Longleftarrow ⟸
    Longleftrightarrow ⟺ ldots … dots … dotsc … dotsb … dotsm … dotsi … dotso … cdots ⋯ vdots ⋮
    ddots ⋱ langle ⟨ rangle ⟩ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ vert | lvert | rvert | Vert ‖
    lVert ‖ rVert ‖ backslash \\ textbackslash \\ textdegree ° texttimes × textdiv ÷ textpm ±
    textmu µ textonehalf ½ textonequarter ¼ textthreequarters ¾ textellipsis …
    textbullet • textendash – textemdash — texteuro € textsterling £ textcent ¢ textyen ¥
    """
)


class TooDeep(ValueError):
    """Groups inside groups, more than any answer has, or read more often than any answer is."""


class _Unreadable(Exception):
    """The script fails on it, and goes on with the LaTeX as it stands."""


def to_text(answer: str) -> str:
    """Return the answer as plain text; raise TooDeep where it is nested beyond reason."""
    source = answer.replace(r"\tfrac", r"\frac").replace(r"\dfrac", r"\frac")
    # The space keeps a mixed number's whole part apart from its fraction.
    reader = _Reader(source.replace(r"\frac", r" \frac"))
    try:
        text = reader.read()
    except _Unreadable:
        return answer
    for symbol, word in _SPOKEN:
        text = text.replace(symbol, word)
    return text.strip()


class _Reader:
    """Reads from left to right; what is out of place is passed over, never an error."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._depth = 0
        self._read = 0

    def read(self, end: str = "") -> str:
        """Return the text up to what ends it: a closing bracket, delimiter or environment."""
        return _uncut(self._pieces(end))

    def _pieces(self, end: str) -> str:
        """Return the text with the places where a matrix around it would be cut."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise TooDeep
        pieces = []
        while self._at < len(self._source):
            self._read += 1
            if self._read > _MOST_PIECES:
                raise TooDeep
            character = self._source[self._at]
            if character == "\\":
                text = self._command(end)
                if text is None:
                    break
                pieces.append(text)
            elif character in "{}" or (character in "[]" and end == "]"):
                self._at += 1
                if character in "{[":
                    pieces.append(self.read("}" if character == "{" else "]"))
                elif character == end:
                    break
            else:
                pieces.append(self._plain())
        self._depth -= 1
        return "".join(pieces)

    def _plain(self) -> str:
        piece = _match(_PLAIN, self._source, self._at)
        self._at += len(piece)
        return _LIGATURES.get(piece, piece)

    def _command(self, end: str) -> str | None:
        """Return a command's text; None where it ends what is being read."""
        name = self._name()
        if name in ("begin", "end"):
            if not (environment := _ENVIRONMENT.match(self._source, self._at)):
                return "\\" + name
            self._at = environment.end()
            if name == "begin":
                return self._environment(environment[1])
            return None if end == rf"\end{{{environment[1]}}}" else ""
        if name in ("(", "["):
            text = self.read({"(": r"\)", "[": r"\]"}[name]).strip()
            return text if name == "(" else f"\n{text}\n"
        if name in (")", "]"):
            return None if end == "\\" + name else ""
        if name in _SYMBOLS:
            return _SYMBOLS[name]
        if name in _STYLES or name in _ACCENTS:
            found = self._arguments("{")
            return _decorated(name, found[0]) if found else ""
        kinds, template = _COMMANDS.get(name, ("", ""))
        if (found := self._arguments(kinds)) is None:
            return _without_arguments(name)
        return template.format(*found)

    def _name(self) -> str:
        """Pass over a command and return its name: letters, or one other character."""
        start = stop = self._at + 1
        while self._source[stop : stop + 1].isalpha():
            stop += 1
        if stop == start:
            self._at = stop + 1
            return self._source[start : stop + 1]
        self._at = stop + len(_match(_SPACE, self._source, stop))
        return self._source[start:stop]

    def _environment(self, name: str) -> str:
        self._arguments(_ENVIRONMENT_ARGUMENTS.get(name, ""))
        body = self._pieces(rf"\end{{{name}}}")
        if name in _MATRICES:
            rows = [[cell for cell in row.split(_COLUMN) if cell] for row in body.split(_ROW)]
            return f"[ {'; '.join(' '.join(cell.strip() for cell in row) for row in rows)} ]"
        text = _uncut(body)
        return f"\n{text.strip()}\n" if name in _DISPLAYS else text

    def _arguments(self, kinds: str) -> list[str] | None:
        """Return a command's arguments; None, having passed over nothing, where one is missing."""
        start, found = self._at, []
        for kind in kinds:
            # A row's end has its star and bracket right behind it: '\\ [1]' is the next row.
            space = "" if kinds == "*[" else _match(_SPACE, self._source, self._at)
            behind = self._at + len(space)
            follows = self._source[behind : behind + 1]
            if kind == "{":
                argument = self._expression()
                if argument is None:
                    self._at = start
                    return None
                found.append(argument)
            elif kind == follows:
                self._at = behind + 1
                found.append("" if kind == "*" else self.read("]"))
            else:
                found.append("")
        return found

    def _expression(self) -> str | None:
        """Return a group, a command without its arguments, or a character; None at the end."""
        self._at += len(_match(_SPACE, self._source, self._at))
        start = self._at
        match self._source[start : start + 1]:
            case "":
                return None
            case "{":
                self._at += 1
                return self.read("}")
            case "}":
                return ""
            case "\\":
                name = self._name()
                if name == "end":
                    self._at = start
                    return ""
                return _without_arguments(name) if name else None
            case character:
                ligature = _match(_PLAIN, self._source, start)
                self._at += len(ligature) if ligature in _LIGATURES else 1
                return _uncut(_LIGATURES.get(ligature, character))


def _match(pattern: re.Pattern[str], text: str, at: int) -> str:
    found = pattern.match(text, at)
    return found[0] if found else ""


def _uncut(pieces: str) -> str:
    return pieces.replace(_COLUMN, "   ").replace(_ROW, "\n")


def _without_arguments(name: str) -> str:
    if name == "sqrt":
        raise _Unreadable
    if name in ("frac", "nicefrac"):
        return "%s/%s"  # an unfilled template, as the script has it
    return _SYMBOLS.get(name, "")


def _decorated(name: str, text: str) -> str:
    if name in _STYLES:
        return "".join(_styled(character, _STYLES[name]) for character in text)
    plain = text.strip().replace("ı", "i").replace("ȷ", "j")
    return "".join(unicodedata.normalize("NFC", character + _ACCENTS[name]) for character in plain)


def _styled(character: str, style: str) -> str:
    if not (character.isascii() and character.isalpha()):
        return character
    letter = f"{'CAPITAL' if character.isupper() else 'SMALL'} {character.upper()}"
    # Letters that were in Unicode before the mathematical alphabets kept their names.
    for family in (f"MATHEMATICAL {style}", style, "BLACK-LETTER"):
        try:
            return unicodedata.lookup(f"{family} {letter}")
        except KeyError:
            continue
    return "\N{PLANCK CONSTANT}"  # the italic h
