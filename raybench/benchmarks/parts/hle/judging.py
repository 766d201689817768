"""Responses and judgements of HLE as they are read: labelled lines, or JSON."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from raybench.benchmarks.parts.judged import Judgement

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "extracted_final_answer": {"type": "string"},
        "reasoning": {"type": "string"},
        "correct": {"type": "string", "enum": ["yes", "no"]},
        "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
    },
    "required": ["extracted_final_answer", "reasoning", "correct", "confidence"],
    "additionalProperties": False,
}
_PARTS = tuple(SCHEMA["properties"])

_MARK = r"[ \t>*_#-]*"
"""What people put around a label."""
_LABEL = r"(?:exact |final )*answer"
_ANSWER = re.compile(
    rf"^{_MARK}{_LABEL}{_MARK}:{_MARK}(?P<answer>.*?)"
    rf"(?=^{_MARK}(?:{_LABEL}|confidence|explanation){_MARK}:|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_CONFIDENCE = re.compile(
    rf"^{_MARK}confidence(?: score)?{_MARK}:{_MARK}(\d{{1,3}})(\.\d+)?(?!\d)[ \t]*(%?)",
    re.IGNORECASE | re.MULTILINE,
)
_LABELLED = re.compile(
    rf"^{_MARK}(?P<label>{'|'.join(_PARTS)}){_MARK}:{_MARK}(?P<value>.*?)"
    rf"(?=^{_MARK}(?:{'|'.join(_PARTS)}){_MARK}:|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_OPENING, _CLOSING = re.compile(r"```(?:json)?[^\S\n]*+\n"), "```"
_LETTER = re.compile(r"\W*([A-Z])(?!\w)")
_YES_NO = re.compile(
    r"['\"*`\s]*(?P<verdict>yes|no)['\"*`]*\s*(?:$|[,;:!–—]|-\s|\.(?:['\"*`\s]*$|\s+(?-i:[A-Z])))"
    r"(?P<more>.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A verdict, and what is said of it: 'no meaningful difference' is none."""
_TURNED = {
    "yes": re.compile(r"\b(?:yes|no|not|incorrect|wrong|if|unless|but)\b|n't\b", re.IGNORECASE),
    "no": re.compile(r"\b(?:yes|no|if|unless|but)\b", re.IGNORECASE),
}
"""What may turn a verdict round where it is said of it."""
_NUMBER = re.compile(r"\s*(\d{1,3})(\.\d+)?\s*(%?)\W*")


def answer(response: str) -> str | None:
    """Return what stands behind the response's last label 'Answer:', if anything does."""
    found = [match["answer"].strip(" \t\r\n*_") for match in _ANSWER.finditer(response)]
    return (found[-1] or None) if found else None


def confidence(response: str) -> int | None:
    """Return the percentage that stands behind the response's last label 'Confidence:'."""
    found = _CONFIDENCE.findall(response)
    return _whole(*found[-1]) if found else None


def same_letter(given: str | None, truth: str) -> bool | None:
    """Tell whether an answer names the right letter; None where either is no letter."""
    found = _LETTER.match(given or "")
    return found[1] == truth.strip() if found and _LETTER.fullmatch(truth.strip()) else None


def read(reply: str) -> Judgement | None:
    """Return what a judge's reply says: JSON, or the labelled text that the prompt describes.

    None where it says neither yes nor no, or both.
    """
    told = _json(reply)
    return _judgement(told if told is not None else _labels(reply))


def _json(reply: str) -> Mapping[str, Any] | None:
    try:
        told = json.loads(_unfenced(reply), object_pairs_hook=_agreed)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _unfenced(reply: str) -> str:
    """Return what is in a fence, where all of a reply is."""
    text = reply.strip()
    opening = _OPENING.match(text)
    if not opening or not text.endswith(_CLOSING):
        return reply
    inside = text[opening.end() :].removesuffix(_CLOSING)
    return inside if inside.rstrip(" \t\r\f\v").endswith("\n") else reply


def _agreed(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object's parts; one that is there twice and says two things is left out.

    A judge that quotes a response without escaping it may have that say what it says itself.
    """
    said = dict(pairs)
    return {
        name: said[name] for name in said if all(it == said[name] for at, it in pairs if at == name)
    }


def _labels(reply: str) -> dict[str, str]:
    """Return the labelled parts; one that is there twice and says two things is left out."""
    said: dict[str, set[str]] = {}
    for match in _LABELLED.finditer(reply):
        said.setdefault(match["label"].lower(), set()).add(match["value"].strip(" \t\r\n*_"))
    return {label: values.pop() for label, values in said.items() if len(values) == 1}


def _judgement(told: Mapping[str, Any]) -> Judgement | None:
    found = _YES_NO.match(str(told.get("correct", "")))
    verdict = found["verdict"].lower() if found else ""
    if not found or _TURNED[verdict].search(found["more"]):
        return None
    extracted = told.get("extracted_final_answer")
    there = isinstance(extracted, str) and extracted.strip().lower().strip("'\".") not in (
        "",
        "none",
    )
    return Judgement(
        correct=verdict == "yes",
        extracted=str(extracted).strip() if there else None,
        reasoning=str(told.get("reasoning", "")).strip(),
        confidence=_percent(told.get("confidence")),
    )


def _percent(value: Any) -> int | None:
    """Return a percentage of 0 to 100, whole; None where the value is none."""
    if isinstance(value, bool) or value is None:
        return None
    found = _NUMBER.fullmatch(str(value))
    return _whole(*found.groups(default="")) if found else None


def _whole(number: str, fraction: str, sign: str) -> int | None:
    """Return a percentage without its fraction; '0.95' is no percentage but a share, 95 of 100."""
    if int(number) == 0 and fraction and not sign:
        return round(100 * float(fraction))
    return int(number) if int(number) <= 100 else None
