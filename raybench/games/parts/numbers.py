"""Whole numbers as players write them, in words and digits, which all games read alike."""

WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip
"""Each at the place of its number."""
NUMBERS = WORDS[1:11]
_MOST_DIGITS = 9


def counted(word: str) -> int:
    """Return the number that one of `NUMBERS` says, or that decimal digits do."""
    return NUMBERS.index(word) + 1 if word in NUMBERS else whole(word)


def whole(digits: str) -> int:
    """Return the number that decimal digits of any script say: '٣' and '03' are 3.

    One too long for any game to mean is as large as can be; no text takes long to read.
    """
    plain = "".join(str(int(digit)) for digit in digits[:5_000]).lstrip("0")
    return int(plain or 0) if len(plain) <= _MOST_DIGITS else 10**_MOST_DIGITS
