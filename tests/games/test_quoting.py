"""No text leaves its quotation, and none is longer than it may be."""

from hypothesis import given
from hypothesis import strategies as st

from raybench.games import load
from raybench.games.parts.contract import Written
from raybench.games.parts.quoting import bounded, quoted
from raybench.games.parts.transcript import head

anything = st.text(st.characters(exclude_categories=[]))
"""Half characters, which no file takes, among them."""


@given(anything, st.integers(1, 50))
def test_every_line_is_marked_as_a_quotation(text: str, words: int) -> None:
    shown = quoted(bounded(text, words)[0])
    assert shown.splitlines() == shown.split("\n")
    assert all(line.startswith(">") for line in shown.splitlines())
    shown.encode()


@given(anything, st.integers(1, 50))
def test_what_is_cut_is_the_beginning(text: str, words: int) -> None:
    short, cut = bounded(text, words)
    assert len(short.split()) <= words and len(short) <= 12 * words
    assert bounded(short, words) == (short, False)
    whole, never = bounded(text, 10**6)
    assert whole.startswith(short) and not never
    assert cut == (short != whole)


def test_the_head_of_a_transcript_says_who_left() -> None:
    match = Written(
        load("gandalf").new(1),
        (),
        {"sentinel": "a\n# b", "infiltrator": "c"},
        {"sentinel": -1, "infiltrator": 1},
        "",
        event="cup",
        round="3",
        forfeits=("sentinel",),
    )
    assert head("Gandalf", match) == (
        "# Gandalf: cup, 3\n\n- sentinel: a # b (-1)\n- infiltrator: c (+1)\n\n"
        "not played to its end; forfeited by sentinel."
    )
