r"""Whether a task tells its own answer.

Answers stand behind a label ('Answer: 42', '**Solution:** …'), in a sentence ('The correct answer
is B.'), in a box (`\boxed{42}`) or as an option that is marked. A label that leaves the place free
('Answer: ____') or says in what form to answer gives nothing away; neither do answers that the task
asks about ('Find the mistake in this solution').
"""

import re

from raybench.grading import extract

_WHICH = r"(?:(?:the|correct|right|final|expected|model|sample|short|full|detailed)[ \t]){0,3}"
_FREE = (
    r"(?!\W{0,40}\Z|[ \t]*(?:_{2,}|\.{3}|…|\?)"  # nothing, or a blank to fill in
    r"|[\s*]{0,6}[\[<{$]{1,2}[ ]?(?:your|answer|letter|option|number|value|integer|insert|n\b|x\b)"
    r"|[\s*]{0,6}(?:in|to|as|with|using|give|write|round(?:ed)?|express(?:ed)?|use|choose|select"
    r"|provide|state|explain|your|yes or no|true or false|true/false|yes/no|one|a single|two)\b"
    r"|[\s*]{0,6}\(?A[.):][^\n]{0,300}\n\s{0,4}\(?B[.):])"  # options
)
_LABEL = re.compile(
    rf"(?:^[ \t>*#_\-\[(]{{0,12}}|[.?!)\]*][ \t]{{1,4}}[*_\[(]{{0,4}}|[\[(][*_]{{0,2}}){_WHICH}"
    rf"(?:answer|solution|ans|answer key)\b[ \t*_]{{0,6}}[:：][*_]{{0,3}}{_FREE}",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    rf"^[ \t]{{0,3}}(?:#{{1,6}}[ \t]{{0,3}}[*_]{{0,2}}|[*_]{{2}}){_WHICH}(?:answer|solution)"
    rf"[*_]{{0,2}}[ \t]{{0,3}}\n{_FREE}",
    re.IGNORECASE | re.MULTILINE,
)
"""'**Answer**' on a line of its own."""
_LETTER = re.compile(r"\banswer:[ \t*]{0,4}\(?[A-J]\)?[.* \t]{0,4}$", re.IGNORECASE | re.MULTILINE)
_FORM = (
    r"(?![\s*:]{0,4}(?:not|in|to|of|as|on|at|from|for|if|when|always|never|expected|required"
    r"|expressed|given|rounded|written|independent|unique|known|either|one of|between|exactly one"
    r"|supposed|within|based|worth|left|wrong|incorrect|correct|unknown|_|\.{2}|…"
    r"|the (?:form|same|sum|number|smallest|largest|name|value|first|last|product)"
    r"|an?[ ](?:[\w-]{1,20}[ ]){0,3}(?:number|integer|fraction|decimal|word|name|digit|multiple"
    r"|phrase|string|percentage|expression|value|vector|matrix|set|function|polynomial|country|city|person"
    r"|place|term|prime|list|interval|ratio|date|year|proof|explanation|sentence|power|square))\b)"
)
_SENTENCE = re.compile(
    r"(?:\n[ \t*_(\[]{0,6}|[.?!)*][\s*_(\[]{1,6})(?:(?:so|thus|therefore|hence),?[ ])?"
    r"the[ ](?:(?:correct|right|final)[ ])?(?:answer|solution|option)[ ](?:here[ ])?"
    rf"(?:is|would be|=){_FORM}[\s:*]{{1,6}}\S",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\b(?:examples?|sample|input|e\.g\.|for instance)\b", re.IGNORECASE)
_NO_ANSWER = re.compile(r"[\W_]{0,20}$|.{0,40}\b(?:answer|phantom|your|insert|value|number)\b")
_AT_END = 40
"""Characters that may stand behind a box, its braces among them."""
_INTO_BOX = re.compile(
    r"\b(?:in|inside|within|into|using|use|with|like|form|format|as|let)[^\w.?!\n]{1,12}$",
    re.IGNORECASE,
)
_PROOF = re.compile(
    r"\b(?:show|prove|verify|demonstrate|derive|deduce|justify|confirm|check)\b[^.?!\n]{0,200}$",
    re.IGNORECASE,
)
"""The rest of the sentence is what is to be shown."""
_OPTION = re.compile(r"^[ \t>*_\-]{0,8}\(?(?:[A-Ja-j]|\d)[.):][^\n]{0,500}$", re.MULTILINE)
_MARKED = re.compile(
    r"(?:[✓✔✅☑]|[(\[*_][ ]?(?:the[ ])?(?:correct|right)(?:[ ](?:answer|option|choice|one))?"
    r"[ ]?[)\]*_]"
    r"|(?:<-{1,2}|←|⟵)[ ]?(?:correct|answer|right))",
    re.IGNORECASE,
)
_BOXES = re.compile(r"^[ \t*\-]{0,6}\[([ xX])\][ ]", re.MULTILINE)
_ABOUT = re.compile(
    r"\b(?:(?:find|identify|spot|locate|correct|critique|criticise|explain|check|debug|fix|discuss|why"
    r"|analy[sz]e|determine|is|are|was|decide|judge)\b[^.?!\n]{0,100}?"
    r"\b(?:errors?|mistakes?|flaws?|flawed|fallac\w{1,4}|bugs?|valid|invalid|wrong|incorrect)"
    r"|(?:this|his|her|their|['’]s|following|proposed|given|above)[ ](?:\w{1,20}[ ]){0,2}"
    r"(?:solution|answer|proof|response|reasoning|claim|argument))\b",
    re.IGNORECASE,
)
"""A task about an answer or a way to it."""


def gives_away(task: str) -> bool:
    """Tell whether the answer stands there to be read."""
    return _boxed(task) or _marked(task) or (_told(task) and not _ABOUT.search(task))


def _told(task: str) -> bool:
    # What the answer is in an example gives away nothing.
    forms = [_LABEL, _HEADING, _LETTER, *([] if _EXAMPLE.search(task) else [_SENTENCE])]
    for form in forms:
        last = None
        for last in form.finditer(task):  # noqa: B007
            pass
        # Only the last: where a question follows, what stands before belongs to it.
        if last and task[: last.start()].strip() and "?" not in task[last.end() :]:
            return True
    return False


def _boxed(task: str) -> bool:
    """Tell whether it ends with a box, one alone: where there are more they are signs or places."""
    before, box, behind = task.partition("\\boxed")
    if not box or box in behind or _INTO_BOX.search(before[-40:]) or _PROOF.search(before[-200:]):
        return False
    inside = extract.boxed(box + behind)
    return (
        inside is not None and not _NO_ANSWER.match(inside) and len(behind) - len(inside) <= _AT_END
    )


def _marked(task: str) -> bool:
    """Tell whether one option of several has a mark that the others have not."""
    options = [bool(_MARKED.search(option[0])) for option in _OPTION.finditer(task)]
    boxes = [box[1] != " " for box in _BOXES.finditer(task)]
    return any(len(marks) > 1 and sum(marks) == 1 for marks in (options, boxes))
