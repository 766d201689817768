"""No text leaves its quotation, and none is longer than it may be."""

import html
import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from raybench.games import load, names
from raybench.games.parts.conformance import play
from raybench.games.parts.contract import Written
from raybench.games.parts.quoting import EXACT_NOTICE, bounded, exact, quoted
from raybench.games.parts.transcript import ended, head, plain, sentence, speech

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
    title, seats, how = head("Gandalf", match).split("\n\n")
    assert title.startswith("# Gandalf: ") and title.endswith("cup, match 3")
    assert seats == "- sentinel: a \\# b (-1)\n- infiltrator: c (+1)"
    assert how == f"{sentence(ended(match))}." and how.count("sentinel") == 1


@pytest.mark.parametrize("name", names())
def test_no_name_forges_a_line_of_a_transcript(name: str) -> None:
    """A model's name, and a run's, may be anything: they stay on the line that is theirs."""
    game = load(name)
    states, moves = play(game, 1, good=True)
    forged = "a\n# Forged\n| x | y |\r\u2028- b: c"
    match = Written(
        states[0],
        moves,
        dict.fromkeys(states[0].roles, forged),
        states[-1].scores(),
        states[-1].outcome,
        event=forged,
        round=forged,
    )
    assert game.written is not None
    text = game.written(match)
    for each in (text, plain(game, match)):
        assert "Forged" in each
        begun = [line.strip() for line in each.splitlines()]
        assert not any(line.startswith(("# Forged", "| x |", "- b:")) for line in begun)
    if game.extension == "md":
        assert "| x" not in text.replace("\\|", "")


RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PARTS = ["<script>", "<!--", "# ", "--", "- ", "=", "1. ", "2)", "```", "~~~", "    ", "[a]", "(b)"]
PARTS += ["[a]: b", "&lt;", "|", "> ", "\\", "*", "__", "a", "b c", "\n", "\n\n", "\t", "!", "."]


@given(st.lists(st.sampled_from(PARTS), max_size=20).map("".join))
def test_of_speeches_in_markdown_nothing_is_more_than_text(text: str) -> None:
    shown = RENDERER.render(speech(text))
    assert {*re.findall(r"</?(\w+)", shown)} <= {"blockquote", "p"}
    assert html.unescape(re.sub(r"<[^>]+>", "", shown)).split() == text.split()


@pytest.mark.parametrize("name", ["debate", "gandalf", "mathquiz"])
def test_what_players_say_is_no_markup_of_transcripts(name: str) -> None:
    game, said = load(name), "Hear <script>alert(1)</script> me\n\n# Forged\n---\n[out](http://a)"
    first = game.new(1)
    assert game.written is not None and first.to_move is not None
    shown = RENDERER.render(game.written(Written(first, ((first.to_move, said),), {}, {}, "")))
    assert "&lt;script&gt;alert(1)" in shown and "# Forged" in shown
    assert not re.search(r"<script|<a |<h\d>[^<]*Forged|<hr", shown)


def test_why_a_match_is_void_is_no_markup_of_its_transcript() -> None:
    """The words may be an endpoint's."""
    match = Written(load("debate").new(1), (), {}, {}, "void: HTTP 502 <h1>Bad *Gateway*</h1>")
    text = "".join(re.findall(r"<p>(Void.*)</p>", RENDERER.render(head("Debate", match))))
    assert html.unescape(text) == "Void: HTTP 502 <h1>Bad *Gateway*</h1>."


@pytest.mark.parametrize("name", ["mathquiz", "pyjail"])
def test_who_sees_marks_is_told_what_they_are(name: str) -> None:
    """A prisoner that is shown '| def jail' may take the mark for the jail's."""
    states, _ = play(load(name), 1, good=True)
    for state in states:
        for role in state.roles:
            seen = state.observe(role)
            assert str(seen).count(EXACT_NOTICE) == 1
            assert EXACT_NOTICE in seen.rules


def test_a_forfeit_is_told_once() -> None:
    match = partial(Written, load("chess").new(1), (), {}, {})
    one = "black forfeited (time)"
    assert ended(match(one, forfeits=("black",))) == one
    assert ended(match("over", forfeits=("a", "b"))).endswith("; forfeited by a, b")
    both = match("b forfeited (time)", forfeits=("a", "b"))
    assert ended(both) == f"{both.outcome}; forfeited by a"


@given(anything, st.integers(100, 200))
def test_what_is_exact_is_all_there_or_says_what_is_not(text: str, most: int) -> None:
    shown = exact(text, most)
    assert shown.splitlines() == shown.split("\n")
    ours = [line for line in shown.splitlines() if not line.startswith("| ")]
    over = len(text.replace("\r\n", "\n")) > most  # which no text can pretend
    assert [line.endswith(" characters left out]") for line in ours] == [True] * over
    shown.encode()
    if text.isprintable():
        left = text[: most // 2] if len(text) > most else text
        assert shown.startswith(f"| {left}")


def test_what_does_not_print_is_written_out() -> None:
    assert exact("a\r\nb\u2028c\x1b\td ", 100) == "| a\n| b\\u2028c\\x1b\td "
    assert exact("", 100) == "| "
    assert quoted("a\u2028b ") == "> a\n> b"
    assert quoted("") == ">"
