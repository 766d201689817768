"""The option a response chooses, in Multilingual MMLU's languages, as simple-evals reads it."""

import re
from unicodedata import normalize

_MARKUP = (
    "**", "$\\boxed{", "}$", "\\$", "$\\text{", "$", "\\mathrm{", "\\{", "\\text", "\\(",
    "\\mathbf{", "{", "\\boxed",
)  # fmt: skip
"""What is cut from a response before it is read, in this order."""

_PREFIXES = (
    r"Answer\s*:",
    r"Answer\s*:\u200b+",  # zero-width spaces, in Korean replies
    r"উত্তর\s*:", r"उत्तर\s*:", r"উত্তরঃ", r"Antwort\s*:", r"답변\s*:", r"정답\s*:", r"답\s*:",
    r"答案\s*：", r"答案\s*:", r"答\s*：", r"答\s*:", r"答复\s*：", r"答曰\s*：",
    r"الإجابة:", r"الجواب:", r"إجابة:", r"الإجابة النهائية:", r"الإجابة الصحيحة:",
    r"الإجابة الصحيحة هي:", r"الإجابة هي:", r"الجواب النهائي:",
    r"Respuesta\s*:", r"Risposta\s*:", r"答え\s*:", r"答え\s*：", r"回答\s*:", r"回答\s*：",
    r"解答\s*:",
    r"Jawaban\s*:", r"Réponse\s*:", r"Resposta\s*:", r"Jibu\s*:", r"Idahun\s*:", r"Ìdáhùn\s*:",
    r"Idáhùn\s*:", r"Àmọ̀nà\s*:", r"Àdáhùn\s*:", r"Ànúgọ\s*:", r"Àṣàyàn\s*:",
)  # fmt: skip
"""How 'Answer:' is written in the languages; the first that is followed by a letter counts."""

_ANSWERS = tuple(
    # Accents are one sign with their letter or a sign of their own: models write both.
    re.compile(rf"(?i)(?:{prefix}|{normalize('NFD', prefix)})[ \t]*([A-D]|[أ-د]|[অবডঢ]|[ＡＢＣＤ])")
    for prefix in _PREFIXES
)
_LATIN = dict(zip("أبجدঅবডঢＡＢＣＤ", "ABCD" * 3, strict=True))


def localised(text: str) -> str | None:
    """Return the letter after the first 'Answer:' of the first language that has one, as A to D.

    What stands for no option, a lower-case letter for one, comes back as it is: the original
    captures it and it equals no right answer.
    """
    for piece in _MARKUP:
        text = text.replace(piece, "")
    for answer in _ANSWERS:
        if found := answer.search(text):
            return _LATIN.get(found[1], found[1])
    return None
