"""Hostile texts: pieces of a parser's own grammar, anything at all, and pieces again and again."""

import random
import sys
from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import strategies as st

ANY = (
    *("", " ", "\n", "\r\n", "\t", "\x00", "\x1b[31m", "\ufeff", "\u200b", "\u2028", "\u202e"),
    *(
        "\ud800",
        "\udfff",
        "\U0010ffff",
        "ß",
        "İ",
        "٣",
        "１",
        "½",
        "²",
        "é",
        "e\u0301",
        "答案：",
        "🂡",
    ),
    *("{", "}", "[", "]", "(", ")", "<", ">", '"', "'", "`", "```", "~~~", "\\", "\\\\", "$", "%"),
    *("*", "_", "#", "|", "-", "+", "=", ":", ";", ",", ".", "/", "&", "^", "@", "!", "?"),
    *("0", "1", "-1", "1e999", "NaN", "Infinity", "9" * 400, "0" * 400, "true", "null", "1/0"),
    *("<think>", "</think>", "<script>", "]]>", "<!--", "%s", "{0}", "${x}", "../", "/etc/passwd"),
    *("```python\n", "\n```", "```json\n", '{"', '": ', "Answer: A", "answer", "yes", "no", "None"),
)
"""What trips parsers of any kind."""
LETTERS = st.text(st.characters(), max_size=12)
"""Any letters there are, half of a pair among them."""


def pieces(own: Sequence[str]) -> st.SearchStrategy[str]:
    """Draw a piece of a text: mostly of the parser's own grammar."""
    return st.one_of(st.sampled_from((*own, *own, *ANY)), st.sampled_from(own or ANY), LETTERS)


def mixed(own: Sequence[str]) -> st.SearchStrategy[str]:
    """Draw a text of such pieces."""
    return st.lists(pieces(own), max_size=30).map("".join)


def pumped(own: Sequence[str], most: int) -> st.SearchStrategy[str]:
    """Draw a long text: some pieces repeated, what stands before and behind them.

    It is what makes time quadratic, and what is nested too deep.
    """

    def long(parts: tuple[str, str, str, str]) -> str:
        before, again, between, after = parts
        times = most // max(1, len(again)) if again else 0
        return before + again * times + between + after

    few = st.lists(pieces(own), max_size=3).map("".join)
    return st.tuples(few, st.lists(pieces(own), min_size=1, max_size=3).map("".join), few, few).map(
        long
    )


def texts(own: Sequence[str], most: int) -> st.SearchStrategy[str]:
    """Draw a hostile text: mostly a short one, and one in eight a long one."""
    return st.integers(0, 7).flatmap(lambda it: mixed(own) if it else pumped(own, most))


def data(own: Sequence[str], most: int) -> st.SearchStrategy[bytes]:
    """Draw hostile bytes: a text as UTF-8, half pairs too, or anything."""
    written = texts(own, most).map(lambda it: it.encode("utf-8", "surrogatepass"))
    return st.one_of(
        written, written, st.tuples(written, st.binary(max_size=40), written).map(b"".join)
    )


def drawn(rng: random.Random, own: Sequence[str], most: int) -> str:
    """Draw a hostile text as `texts` does, fifty times as fast, and with nothing to shrink it."""

    def some(most: int) -> str:
        return "".join(_piece(rng, own) for _ in range(rng.randrange(most)))

    if rng.random() < 0.8:
        return some(25)
    again = some(4) if rng.random() < 0.4 else ""
    again = again or _piece(rng, own) or "x"
    return some(3) + again * (rng.choice((300, 3_000, most)) // len(again)) + some(3) + some(3)


def swept(own: Sequence[str], most: int) -> Iterator[str]:
    """Yield every piece of a grammar again and again, behind each other one: chance finds few."""
    for before, again in product(("", *own), dict.fromkeys((*own, *ANY))):
        if again:
            yield before + again * (most // len(again)) + "x"


def drawn_data(rng: random.Random, own: Sequence[str], most: int) -> bytes:
    """Draw hostile bytes as `data` does."""
    written = drawn(rng, own, most).encode("utf-8", "surrogatepass")
    if rng.random() < 0.7:
        return written
    at = rng.randrange(len(written) + 1)
    return written[:at] + rng.randbytes(rng.randrange(20)) + written[at + rng.randrange(3) :]


def _piece(rng: random.Random, own: Sequence[str]) -> str:
    luck = rng.random()
    if luck < 0.65 and own:
        return rng.choice(own)
    if luck < 0.9:
        return rng.choice(ANY)
    return "".join(chr(rng.randrange(sys.maxunicode + 1)) for _ in range(rng.randrange(6)))
