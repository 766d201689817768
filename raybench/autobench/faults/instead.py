"""What models write in place of a task, or around it."""

import re
from functools import cache

from raybench.autobench import prompts
from raybench.autobench.settings import DIFFICULTIES, TOPICS

_UNABLE = (
    r"i(?:['’]m|[ ]am)?[ ](?:cannot|can['’]?t|can[ ]not|could[ ]not|couldn['’]t|won['’]t|will[ ]not"
    r"|(?:am[ ])?unable[ ]to|(?:am[ ])?not[ ]able[ ]to|(?:am[ ])?not[ ]allowed[ ]to"
    r"|do[ ]not[ ]have|don['’]t[ ]have)"
)
_MODEL = (
    r"(?:(?:large[ ])?language[ ]model|ai(?:[ ](?:language[ ])?model|[ ]assistant)?"
    r"|artificial[ ]intelligence)"
)
_REFUSAL = re.compile(
    r"[\s*#_>]{0,20}(?:"
    rf"{_UNABLE}[ ](?:help|assist|provide|generate|create|fulfil|comply|answer|write|produce"
    r"|complete|engage|give[ ]you|offer|support|share|discuss|browse|access|pose|formulate"
    r"|come[ ]up|do[ ]that)"
    rf"|as[ ]an?[ ]{_MODEL}(?:[ ](?:developed|created|trained)[ ]by[ ]\w{{1,30}})?,?[ ](?:i|my)\b"
    rf"|(?:i(?:['’]m|[ ]am)[ ](?:\w{{2,10}}[ ])?(?:sorry|afraid)|sorry|i[ ]apologi[sz]e"
    r"|unfortunately|my[ ]apologies)"
    rf"\b[^\n]{{0,80}}?\b{_UNABLE}\b)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"[.:!?\"”'’)]\s{1,4}(?:(?:then|now|please)[ ,]{1,2})?(?:rewrite|rephrase|reword|correct"
    r"|identify|translate|punctuate|edit|revise|convert|underline|parse|paraphrase|transform|continue|change"
    r"|turn|replace|classify|name|choose|complete|expand)\b",
    re.IGNORECASE,
)
"""What is to be done with a sentence that stands before it, be it a refusal."""
_RIDDLE = re.compile(r"\b(?:what|who)\s{1,3}am\s{1,3}i\b", re.IGNORECASE)
_THINKING = re.compile(
    r"^[ \t]{0,20}(?:</?(?:think|thinking|thought|thoughts|reasoning|scratchpad|reflection)>"
    r"|\[/?THINK\]|◁/?think▷|<\|channel\|>)|</(?:think|thinking)>[ \t]{0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
"""At a line's beginning, or closing it: a question about such tags has them within a sentence."""
_CLAUSE, _SENTENCE = re.compile(r"[.;,]| - "), re.compile(r"[.]")
_WORD = re.compile(r"[^\W_]+")
_LONG = 7
"""Words of a clause that nobody writes by chance."""


def refuses(task: str) -> bool:
    """Tell whether it begins by saying that the model cannot.

    Riddles speak of themselves too, and exercises of grammar quote anything.
    """
    said = _REFUSAL.match(task)
    return said is not None and not (_RIDDLE.search(task) or _REQUEST.search(task))


def thinks(task: str) -> bool:
    """Tell whether the reasoning, or the marks around it, came along."""
    return bool(_THINKING.search(task))


def repeats_prompt(task: str) -> bool:
    """Tell whether it says a sentence or a long clause of the prompt for tasks (table 5)."""
    said = _plain(task)
    return any(clause in said for clause in _clauses())


@cache
def _clauses() -> tuple[str, ...]:
    prompt = {prompts.task(it.label, it.phrase, topic) for it in DIFFICULTIES for topic in TOPICS}
    parts = {part for text in prompt for end in (_CLAUSE, _SENTENCE) for part in end.split(text)}
    return tuple(sorted(plain for part in parts if len((plain := _plain(part)).split()) >= _LONG))


def _plain(text: str) -> str:
    return " ".join(["", *_WORD.findall(text.casefold()), ""])
