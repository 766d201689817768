"""The number a response gives as its answer, as simple-evals reads MGSM's."""

import re

_NUMBER = re.compile(r"([-−][$€£¥]?)?(\d+\.?\d*)")


def stated(text: str, prefix: str) -> str | None:
    """Return the first number after the last prefix, without trailing zeros and point.

    The convention loses a minus sign and takes any script's digits, which then equal no right
    answer. Neither is a number read rightly: None.
    """
    _, here, after = text.rpartition(prefix)
    found = _NUMBER.search(after.replace(",", "")) if here else None
    if found is None or found[1] or not found[2].isascii():
        return None
    number = found[2]
    return number.rstrip("0").rstrip(".") if "." in number else number
