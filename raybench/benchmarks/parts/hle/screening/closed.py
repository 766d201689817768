"""Whether an answer is short and closed, and whether a question asks for such a one.

An answer is closed where a judge can lay another beside it and say yes or no: it is one line, short
enough to be compared at a glance, and says itself what is right, all of it, and no "for example".
A question is open where what it asks for cannot be such an answer: a proof, a discussion, an
opinion. Its last sentence is what it asks for; sentences that only say in which form are passed
over. The words of open requests are no matter elsewhere: "Explain" may be a title.
"""

import re
from collections.abc import Iterator

from raybench.statements import Statement

MOST_LETTERS = 250
MOST_WORDS = 40
"""The right option of 99 in 100 questions of MMLU-Pro is shorter, formulas among them."""

_LEFT_OPEN = re.compile(
    r"answers? (?:may|will|can|could|might) (?:vary|differ)|\betc\b|\band so (?:on|forth)\b"
    r"|\bamong others\b|\bany (?:reasonable|suitable|similar)\b|\bor similar\b|\bopen[- ]ended\b"
    r"|\b(?:it|this|that) depends\b|\bsee (?:the )?(?:rationale|solution|explanation|above|below)\b"
    r"|\be\.\s?g\.|\bfor (?:example|instance)\b",
    re.IGNORECASE,
)
_OPENERS = re.compile(
    r"(?:\W|\d+[.)]|[a-z]\)|please\b|now\b|then\b|finally\b|briefly\b|thoroughly\b|critically\b|and\b)*"
    r"(?P<request>discuss|explain|elaborate|justify|prove|disprove|show that|argue|comment on"
    r"|describe (?:how|why|your)|compare and contrast|summari[sz]e|reflect on"
    r"|(?:give|provide|name|suggest) (?:me )?(?:an?|one|some|two|three|several) examples?"
    r"|write an? (?:\w+ )?(?:essay|paragraph|proof|story|poem|summary)|what do you think"
    r"|what(?: is|'s| are|’s) your (?:opinion|view|thought|take)"
    r"|do you (?:think|agree|believe|feel)|how (?:do|would) you feel)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:in your (?:opinion|view)|(?:do|would) you (?:think|agree|believe|feel|prefer)"
    r"|your (?:personal )?(?:opinion|favou?rite))\b",
    re.IGNORECASE,
)
_BESIDES = re.compile(r"\band (?:prove|explain why|discuss|justify why)\b", re.IGNORECASE)
_FORM = re.compile(
    r"\W*(?:(?:explain|justify|show) (?:all )?your\b|round\b|note\b|hint\b|assume\b|recall\b|here\b"
    r"|(?:(?:give|write|enter|provide|submit|express|state|report|present|format|put|leave) )?"
    r"(?:your|the) (?:final |exact )*(?:answer|result|solution)\b|if your\b"
    r"|answer (?:with|in|as)\b)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.?!])[\"”')\]$*]*\s+(?=[\"“'(\[$*\\]*[A-Z0-9])|\n\s*\n")


def answer(text: str) -> Iterator[str]:
    """Yield what keeps an exact answer from being short and closed."""
    text = text.strip()
    if len(text.splitlines()) > 1:
        yield Statement(
            "candidate.several_lines",
            "'answer' has several lines: give what is right in one, and the rest in 'rationale'",
        )
    words = len(text.split())
    if len(text) > MOST_LETTERS or words > MOST_WORDS:
        yield Statement(
            "candidate.long",
            "'answer' is {letters} letters in {words} words: give at most {most_letters} in "
            "{most_words}, that can be compared at a glance, and the rest in 'rationale'",
            letters=len(text),
            words=words,
            most_letters=MOST_LETTERS,
            most_words=MOST_WORDS,
        )
    if found := _LEFT_OPEN.search(text):
        yield Statement(
            "candidate.left_open",
            "'answer' leaves open what is right ('{words}'): give all of it, and ask so that "
            "nothing else is",
            words=found[0],
        )


def request(stem: str) -> str:
    """Return the sentence that says what is asked for: the last that is not about its form."""
    sentences = [told for it in _SENTENCE.split(stem) if (told := it.strip())]
    asking = [sentence for sentence in sentences if not _FORM.match(sentence)]
    return (asking or sentences or [""])[-1]


def question(stem: str, *, choice: bool) -> Iterator[str]:
    """Yield why a question without its options cannot have one closed answer."""
    asked = request(stem)
    # Whatever a question with options asks for, one of them is the answer: but not by opinion.
    opener = None if choice else _OPENERS.match(asked)
    if found := opener or _OPINION.search(asked):
        words = found["request"] if found is opener else found[0]
        yield Statement(
            "candidate.open_ended",
            "'question' is open-ended: it asks to '{words}'. Ask for a value, a name or another "
            "short answer, of which there is one",
            words=words,
        )


def besides(stem: str) -> str | None:
    """Return the words by which a question asks for more than its answer, if it does."""
    found = _BESIDES.search(request(stem))
    return found[0] if found else None
