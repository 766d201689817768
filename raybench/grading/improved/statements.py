r"""Where a reply states its answer: after 'Answer:', 'The correct option is', `\boxed{`, and so on.

One list of words serves every language: a reply may be in another than its question.
"""

import re
from collections import deque
from unicodedata import normalize

_NOUNS = (
    r"answer", r"(?:correct|right|best)\s(?:option|choice|alternative|letter)",
    r"উত্তর", r"उत्तर", r"Antwort", r"답변", r"정답", r"답", r"答案", r"答复", r"答曰", r"答え",
    r"正解", r"回答", r"解答", r"答", r"الإجابة", r"الجواب", r"إجابة", r"Respuesta", r"Risposta",
    r"Jawaban", r"Réponse", r"Resposta", r"Jibu", r"Idahun", r"Ìdáhùn", r"Idáhùn", r"Àmọ̀nà",
    r"Àdáhùn", r"Ànúgọ", r"Àṣàyàn", r"Ответ", r"คำตอบ", r"సమాధానం",
)  # fmt: skip
_QUALITIES = (
    r"to (?:the|this) (?:question|problem)", r"correcta", r"correcte", r"corretta", r"correta",
    r"finale?", r"sahihi", r"yang benar", r"(?:yang )?tepat", r"النهائية", r"الصحيحة", r"النهائي",
    r"الصحيح",
)  # fmt: skip
_LINKS = (
    r"(?:(?:is|ist|es|est|è|é|ni|adalah|هي|هو)\b|是|为|為|は|은|는|হলো|হল|হবে|है|คือ|ఏమిటంటే)\s{0,3}[:：]?",
    r"[:：=ঃ]", r"[-–—](?=\s)", r"(?=[A-J]\s{0,2}(?:है|হ))",
)  # fmt: skip
_GAP = r"[\s*_\"”』」]{0,6}"
_CUE = re.compile(
    normalize(
        "NFC",
        rf"\\boxed\s{{0,4}}\{{|(?<![a-z])(?:{'|'.join(_NOUNS)})"
        rf"(?:{_GAP}(?:{'|'.join(_QUALITIES)})\b)?{_GAP}(?:{'|'.join(_LINKS)})",
    ),
    re.IGNORECASE,
)
_UNSAID = re.compile(
    r"(?:e\.g\.|example|wrong|incorrect|\bif|whether|suppose)[^\w\n]{0,3}"
    r"(?:(?:of|the|your|an?|is|be)[^\w\n]{0,2}){0,2}$",
    re.IGNORECASE,
)
"""What stands before a statement that states nothing: the prompt's own example, a supposition."""
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+")
_ITEM = re.compile(r"\w{1,3}[.)]")
_SKIPPED = re.compile(r"[\s*_]*+")
_MOST = 200
"""Statements that are looked at, the last ones."""
_LONGEST = 500
"""Characters of a statement that are read: some options are that long."""


class NoAnswer(ValueError):
    """The reply settles on nothing; the message says why."""


def statements(text: str) -> list[str]:
    """Return what follows every cue, to the end of its line, the last one first."""
    text = visible(text)
    return [_line(text, cue.end()) for cue in reversed(_cues(text)) if not _unsaid(text, cue)]


def last_line(text: str) -> str:
    """Return the last paragraph where it is one short line, or ''.

    The number or letter of a list's next item, at which a reply was cut, is none.
    """
    whole = visible(text).strip()
    line = whole[-_LONGEST - 2 :].rpartition("\n\n")[2].strip()
    short = len(line) <= _LONGEST and "\n" not in line
    return line if short and (line == whole or not _ITEM.fullmatch(line)) else ""


def visible(text: str) -> str:
    """Return the text without what nobody sees, each letter one with its accents."""
    return normalize("NFC", _INVISIBLE.sub("", text))


def _cues(text: str) -> deque[re.Match[str]]:
    return deque(_CUE.finditer(text), maxlen=_MOST)


def _unsaid(text: str, cue: re.Match[str]) -> bool:
    return _UNSAID.search(text[max(0, cue.start() - 30) : cue.start()]) is not None


def _line(text: str, start: int) -> str:
    """Return the line that begins there, or below where nothing follows on it."""
    skipped = _SKIPPED.match(text, start)
    begin = skipped.end() if skipped else start
    return text[begin : begin + _LONGEST].partition("\n")[0].strip()
