"""What reviewers should look at in a candidate: no reason to turn it down by itself."""

import re
from collections.abc import Iterator

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.contract import Row
from raybench.benchmarks.parts.hle import options
from raybench.benchmarks.parts.hle.options import CHOICE, EXACT, LETTERS
from raybench.benchmarks.parts.hle.screening import closed, plain
from raybench.statements import Statement

_BRIEF = 8
"""Words of a rationale that hardly explain anything."""
_TRICK = re.compile(
    r"(?i:(?:all|none|both|neither|any|some)(?: of)?(?: the)?"
    r" (?:above|these|them|options|choices|others?)\b)"
    r"|(?:(?i:both) )?\(?[A-Z]\)?(?:, \(?[A-Z]\)?)*,? (?:and|or) \(?[A-Z]\)?(?: only)?\W*\Z",
)
_TWO = frozenset(("yes", "no", "true", "false"))
_SHOWN = re.compile(
    r"\b(?:(?:this|following|attached|given|above|below|shown in the|in the|see the) "
    r"(?:image|picture|photo|photograph|screenshot)"
    r"|(?:image|picture|photo) (?:above|below|shown))\b",
    re.IGNORECASE,
)
_DOLLAR = re.compile(r"(?<!\\)\$")
_MONEY = re.compile(r"(?<!\\)\$\d[\d,]*(?:\.\d+)?(?![\d$])")
_BRACE = re.compile(r"(?<!\\)[{}]")


def of(row: Row) -> Iterator[str]:
    """Yield what is to be looked at."""
    question, answer = plain.text(row, "question"), plain.text(row, "answer")
    parted = options.parted(question)
    if plain.text(row, "answer_type") == EXACT:
        yield from _exact(parted, answer)
    elif plain.text(row, "answer_type") == CHOICE:
        yield from _choice(parted)
    if found := closed.besides(parted.stem):
        yield Statement(
            "candidate.asks_more",
            "the question asks for more than its answer ('{words}'): only the answer is judged",
            words=found,
        )
    if rows.empty(row.get("image")) and (shown := _SHOWN.search(question)):
        yield Statement(
            "candidate.image_meant",
            "the question speaks of an image ('{words}') and has none",
            words=shown[0],
        )
    rationale = plain.text(row, "rationale")
    if rationale and len(rationale.split()) < _BRIEF:
        words = len(rationale.split())
        yield Statement(
            "candidate.brief",
            "the rationale is brief: {words} word{s}",
            words=words,
            s="s" * (words != 1),
        )
    for column in ("question", "answer", "rationale"):
        yield from _latex(column, plain.text(row, column))
    if "author_affiliation" in row and rows.empty(row["author_affiliation"]):
        yield Statement(
            "candidate.no_affiliation",
            "the contributor's affiliation is empty: HLE asks for one",
        )


def _exact(parted: options.Listing, answer: str) -> Iterator[str]:
    if parted.options:
        yield Statement(
            "candidate.options_listed",
            "exact match, yet the question lists options A to {last}",
            last=LETTERS[len(parted.options) - 1],
        )
    if plain.form(answer) in _TWO:
        yield Statement(
            "candidate.one_of_two",
            "'{answer}' is one of two answers: every other guess is right",
            answer=answer,
        )
    elif _is_telling(answer) and f" {_spaced(answer)} " in f" {_spaced(parted.stem)} ":
        yield Statement(
            "candidate.answer_told",
            "the question holds its answer, word for word",
        )
    if re.search(r"\bor\b", answer):
        yield Statement(
            "candidate.several_answers",
            "the answer offers several ('or'): is each of them right by itself?",
        )


def _choice(parted: options.Listing) -> Iterator[str]:
    for letter, option in zip(LETTERS, parted.options, strict=False):
        if _TRICK.match(option):
            yield Statement(
                "candidate.about_options",
                "option {letter} is about other options ('{option}')",
                letter=letter,
                option=option,
            )
    first: dict[str, tuple[str, str]] = {}
    for letter, option in zip(LETTERS, parted.options, strict=False):
        like, other = first.setdefault(plain.form(option), (letter, option))
        if option and plain.exactly(option) != plain.exactly(other):
            yield Statement(
                "candidate.alike_options",
                "options {one} and {other} differ in case or marks only",
                one=like,
                other=letter,
            )


def _is_telling(answer: str) -> bool:
    """Tell whether an answer that stands in a question gives it away: numbers often do not."""
    return sum(letter.isalpha() for letter in answer) >= 4


def _spaced(text: str) -> str:
    return " ".join(plain.words(text))


def _latex(column: str, text: str) -> Iterator[str]:
    # A formula may begin as a price does: only where the $ do not pair are prices looked for.
    if (dollars := len(_DOLLAR.findall(text))) % 2 and (dollars - len(_MONEY.findall(text))) % 2:
        yield Statement(
            "candidate.dollars",
            "'{column}' has an odd number of $: does a formula not end?",
            column=column,
        )
    open_ = 0
    for brace in _BRACE.findall(text):
        open_ += 1 if brace == "{" else -1
        if open_ < 0:
            break
    if open_:
        yield Statement(
            "candidate.braces",
            "'{column}' has braces that do not pair: is a formula cut short?",
            column=column,
        )
