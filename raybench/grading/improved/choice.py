"""The option that a reply settles on, in whatever form it says so; no option where it does not.

The last statement that names an option counts. One that names several, or the prompt's own
'Answer: A/B/C/D', is no answer. 'A' is a word too: before other words it is the letter only where
the sentence goes on as one about a letter does ('A because …'). A statement may give an option's
text instead of its letter.
"""

import re
from collections.abc import Iterator, Sequence
from unicodedata import category

from raybench.grading.improved.statements import NoAnswer, last_line, statements

LETTERS = "ABCDEFGHIJ"

_OTHER_SCRIPTS = str.maketrans(
    # Full width; Arabic; Bengali as simple-evals reads it and as schools count; Devanagari.
    "ＡＢＣＤＥＦＧＨＩＪأبجدঅবডঢকখগঘकखगघ",
    "ABCDEFGHIJ" + "ABCD" * 4,
)
_MARKUP = re.compile(
    r"\\(?:text|math|bf|rm|boxed|fbox)[a-z]*\b|\\[()\[\]]|[*_$`\"“”«»„『』「」{}\\]"
)
_FILLER = (
    r"(?:(?:option|choice|letter|alternative|most likely|likely|probably|definitely|clearly"
    r"|either|both|also|maybe|possibly|perhaps|선택지|选项|選択肢)[\s:]+){0,3}"
)
_HEAD = re.compile(
    rf"\s*{_FILLER}(?P<open>[(\[（【]\s?)?(?P<letter>\w)(?P<close>\s?[)\]）】])?", re.I
)
_GLUED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Scripts that write no space after a letter: Thai, kana, Chinese characters, Hangul."""
_ENDS = re.compile(
    rf"[{_GLUED}]|\s*$|\s*[.!?…。．؟।](?![a-z]\.)|\s*[,:;，：；、—](?![a-z0-9])|\s+[-–(\[（]", re.I
)
_WORD = re.compile(r"\s+[^\W\d_]")
_GOES_ON = re.compile(r"\s+(?:because|since|as|is|due|weil|porque|parce|perché|karena)\b", re.I)
_DENIED = re.compile(
    r"\s*(?:(?:is|was|would be|must be|seems)\s+(?:not|wrong|incorrect|false)\b"
    r"|isn['’]t|can(?:no|['’])t)",
    re.I,
)
_JOINED = re.compile(
    r"\s*(?:[/,;|&+、，]|\b(?:or|and|ou|y|o|e|et|oder|und|или|и|au|na|atau|dan)\b"
    r"|或者?|和|と|または|أو|و|এবং|বা|और|या)?\s*",
    re.I,
)
_BRACKETED = re.compile(r"(?<!\S)[(\[（【]\s?([A-J])\s?[)\]）】](?![\w^])")
_BEFORE_TEXT = re.compile(r"[(\[]?([a-j])(?:\s?[)\].:,–—-]+\s?|\s+-\s+|\s+)(.+)", re.DOTALL)
_BEHIND_TEXT = re.compile(r"(.+)\s\(([a-j])\)", re.DOTALL)
_WORDLIKE = "AI"
"""Letters that are words of English by themselves; 'A' is one of other languages, too."""
_PUNCTUATION = " .,;:!?。"


def stated(text: str, options: Sequence[str]) -> str:
    """Return the letter of the option that the reply states; raise NoAnswer where there is none."""
    letters = LETTERS[: len(options)]
    texts = {letter: _plain(option) for letter, option in zip(letters, options, strict=False)}
    for statement in _candidates(text):
        named = _named(statement, texts)
        if len(named) > 1:
            raise NoAnswer(f"several options are named: {', '.join(sorted(named))}")
        if named - texts.keys():
            raise NoAnswer(f"'{named.pop()}' is no option: there is A to {letters[-1]}")
        if named:
            return named.pop()
    raise NoAnswer("no option is stated as the answer")


def _candidates(text: str) -> Iterator[str]:
    """Yield what may be the statement that counts, cleared of markup, the last first."""
    line = _clear(last_line(text))
    if _lone(line):
        yield line
    yield from map(_clear, statements(text))
    if line == _clear(text.strip()):
        yield line


def _clear(statement: str) -> str:
    return _MARKUP.sub("", statement).translate(_OTHER_SCRIPTS).strip()


def _plain(option: str) -> str:
    return " ".join(_clear(str(option)).casefold().split()).strip(_PUNCTUATION)


def _lone(statement: str) -> str:
    """Return the letter where there is nothing else."""
    bare = statement.strip(_PUNCTUATION + "()[]（）【】").upper()
    return bare if len(bare) == 1 and "A" <= bare <= "Z" else ""


def _named(statement: str, texts: dict[str, str]) -> set[str]:
    """Return the letters of the options that a statement names."""
    if lone := _lone(statement):
        return {lone}
    said = _plain(statement)
    if (by_text := [letter for letter, text in texts.items() if text == said]) and said:
        return set(by_text)
    if spelled := _spelled(said, texts):
        return {spelled}
    named = set(_listed(statement, texts))
    return named or set(_BRACKETED.findall(statement))


def _spelled(said: str, texts: dict[str, str]) -> str:
    """Return the letter that a statement gives together with its option's own text."""
    if (found := _BEFORE_TEXT.match(said)) and (text := texts.get(found[1].upper(), "")):
        rest, text = found[2].strip("() "), text.strip("() ")
        if rest.startswith(text) and not rest[len(text) :][:1].isalnum():
            return found[1].upper()
    if (found := _BEHIND_TEXT.fullmatch(said)) and texts.get(found[2].upper()) == found[1]:
        return found[2].upper()
    return ""


def _listed(statement: str, texts: dict[str, str]) -> Iterator[str]:
    """Yield the letters that a statement begins with: one, or several that are joined."""
    at, bare = 0, False
    while (letter := _head(statement[at:], texts, bare=bare)) is not None:
        name, end = letter
        yield name
        closed = statement[at + end - 1] in ")]）】"
        joined = _JOINED.match(statement, at + end)
        bare = joined is None or not joined[0].strip()
        if joined is None or (closed and bare):
            return  # 'B C' names two, 'B Cells divide' and 'B) C is wrong' one
        at = joined.end()


def _head(statement: str, texts: dict[str, str], *, bare: bool = False) -> tuple[str, int] | None:
    """Return the letter that a statement begins with, and where it ends.

    A bare one has no words behind it.
    """
    head = _HEAD.match(statement)
    if head is None or not "A" <= head["letter"].upper() <= "Z":
        return None
    letter, rest = head["letter"].upper(), statement[head.end() :]
    if _in_a_word(rest) or _DENIED.match(rest):
        return None
    if head["close"] or _ENDS.match(rest):
        return letter, head.end()
    joined = _JOINED.match(rest)
    if joined and joined[0].strip():
        return (letter, head.end()) if _head(rest[joined.end() :], texts) else None
    if bare or letter not in texts or not _WORD.match(rest):
        return None
    if other := _quoted(statement[head.start("letter") :], letter, texts):
        return other, len(statement)
    if _GOES_ON.match(rest) or (head["letter"] == letter and letter not in _WORDLIKE):
        return letter, head.end()
    return None


def _in_a_word(rest: str) -> bool:
    return category(rest[:1] or " ")[0] in "LMN" and not re.match(f"[{_GLUED}]", rest)


def _quoted(statement: str, letter: str, texts: dict[str, str]) -> str:
    """Return the option whose text a statement begins with, where that begins with the letter."""
    said = _plain(statement)
    fitting = [
        (len(text), name)
        for name, text in texts.items()
        if text.startswith(f"{letter.lower()} ")
        and said.startswith(text)
        and not said[len(text) :][:1].isalnum()
    ]
    return max(fitting)[1] if fitting else ""
