"""Moves are read as people and models write them; half a move is never taken for whole."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.players.parts.contract import Made, NoMove
from raybench.players.parts.reading import as_reply
from raybench.players.parts.reading import read as read_whole
from raybench.types import Completion, Finish, Form

REFUSAL = "the game has no such move"


def reply(text: str, finish: Finish = "stop") -> Completion:
    return Completion(text, finish, output_tokens=7)


def refuses(move: str) -> object:
    raise NoMove(REFUSAL)


def read(given: Completion, form: Form) -> str:
    made = read_whole(given, form, refuses)
    assert made.reply == given.text
    return made.move


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("Move: e4", "e4"),
        ("I take the centre.\n\nMove: e4", "e4"),
        ("Move: d4? No.\nMove: e4", "e4"),
        ("**Move:** e4", "e4"),
        ("**Move: e4**", "e4"),
        ("- move : `e4`", "e4"),
        ("> MOVE: 'e4'  ", "e4"),
        ("Move: raise to 12", "raise to 12"),
        ("Move: e4\n\nThis opens lines.", "e4"),
        ("Move: <e4>", "e4"),
        ("Hm.\n**Final Move:** e4", "e4"),
        ("So it is 123.\nAnswer: 123", "123"),
        ("I am sure.\nMove:\n\ne4", "e4"),
        ("Move:\n```\ne4\n```", "e4"),
        ("Move: e4\nMove:", "e4"),
        ('{"move": "e4"}', "e4"),
        ('\n{\n  "move" : "Move\\\\: e4"\n}', "Move\\: e4"),
    ],
)
def test_the_last_line_that_names_a_move_counts(text: str, move: str) -> None:
    assert read(reply(text), "line") == move


@pytest.mark.parametrize("text", ["I would\nplay e4", "My move is\ne4", "Move:\n\nhm\nor not"])
def test_without_such_a_line_there_is_none(text: str) -> None:
    with pytest.raises(NoMove) as found:
        read(reply(text), "line")
    assert code(found.value) == ("reply.no_move" if "Move:" in text else "reply.no_line")


@pytest.mark.parametrize(
    ("text", "line"), [("e4", "e4"), ("\n**e4** \n", "e4"), ("I wait.", "I wait.")]
)
def test_one_line_that_nothing_marks_may_be_a_move(text: str, line: str) -> None:
    asked = list[str]()
    assert read_whole(reply(text), "line", asked.append) == Made(line, text)
    assert asked == [line]
    with pytest.raises(NoMove) as found:
        read(reply(text), "line")
    assert found.value.reply == text
    assert code(found.value) == "reply.refused"
    assert code(values(found.value)["why"]) == "reply.no_line"
    assert values(found.value)["refusal"] == REFUSAL


@pytest.mark.parametrize(
    "text",
    [
        '{"move": "e4"',
        '{"move": ""}',
        '{"move": 4}',
        '{"move": "e4", "why": "it is"}',
        '{"move": "\\x"}',
    ],
)
def test_of_json_only_what_was_asked_for_is_a_move(text: str) -> None:
    with pytest.raises(NoMove):
        read(reply(text), "line")


@pytest.mark.parametrize("text", ["Move:", "**Move:** ``", "Move:\nMove:", "***"])
def test_a_mark_without_a_move_is_none(text: str) -> None:
    with pytest.raises(NoMove) as found:
        read(reply(text), "line")
    assert code(found.value) == ("reply.no_line" if text == "***" else "reply.no_move")


def test_of_a_reply_that_was_cut_only_whole_lines_count() -> None:
    assert read(reply("Move: e4\nBecause", "length"), "line") == "e4"
    for text in ("Move: Nf", "thinking\nMove: Nf", "Nf", "Move:\nNf", "Move:\n\nNf"):
        with pytest.raises(NoMove) as found:
            read(reply(text, "length"), "line")
        assert (code(found.value), values(found.value)["tokens"]) == ("reply.cut", 7)


@pytest.mark.parametrize("finish", ["empty", "thinking", "refusal", "overflow", "unsupported"])
@pytest.mark.parametrize("form", ["line", "text", "code"])
def test_why_there_is_nothing_is_said(finish: Finish, form: Form) -> None:
    with pytest.raises(NoMove) as found:
        read(reply("", finish), form)
    why = values(found.value)["what"] if finish == "thinking" else found.value
    assert code(why) == f"reply.{finish}"


def test_a_speech_is_all_that_was_said() -> None:
    speech = "Friends,\n\nlend me your ears."
    assert read(reply(f"  {speech} \n"), "text") == speech
    assert read(reply(speech[:16], "length"), "text") == speech[:16]


def test_of_programs_the_last_one_counts() -> None:
    text = "First:\n```python\na = 1\n```\nNo, better:\n```py\nb = 2\n```\nThere."
    assert read(reply(text), "code") == "b = 2\n"
    with pytest.raises(NoMove) as found:
        read(reply("a = 1"), "code")
    assert code(found.value) == "reply.no_block"
    with pytest.raises(NoMove) as found:
        read(reply("```python\na = 1\nb =", "length"), "code")
    assert code(found.value) == "reply.cut"


@given(st.from_regex(r"[A-Za-z0-9+#=-]{1,12}", fullmatch=True))
def test_moves_come_back_from_replies_made_of_them(move: str) -> None:
    assert read(reply(as_reply(move, "line")), "line") == move
    assert read(reply(as_reply(move, "code")), "code").strip() == move


@given(st.text(max_size=200), st.sampled_from(["stop", "length", "thinking"]))
def test_no_text_breaks_it(text: str, finish: Finish) -> None:
    for form in ("line", "text", "code"):
        try:
            assert isinstance(read(reply(text, finish), form), str)
        except NoMove as why:
            assert str(why)


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "text",
    ["Move:\n" * 50_000 + "a\nb", "**" * 100_000, "```\n" * 50_000, '{"move": "' + "\\\\" * 99_999],
)
def test_long_replies_are_read_in_time(text: str) -> None:
    # Models that cannot stop write such things, and all matches of a room wait meanwhile.
    for form in ("line", "text", "code"):
        with contextlib.suppress(NoMove):
            read(reply(text), form)
