"""A prompt has all the role may know, then its mistakes with the reasons."""

from raybench.players.parts.asking import HOW, NOTHING, REFUSED, prompt
from raybench.players.parts.contract import Try
from raybench.types import Observation

SEEN = Observation("white", "The rules.", "The board.", "move", "Move a piece.", images=("data:,",))


def test_the_prompt_has_rules_first_and_pictures() -> None:
    (asked,) = prompt(SEEN, [])
    assert asked.content == f"{SEEN}\n{HOW['line']}"
    assert str(SEEN).startswith("The rules.\n\n")
    assert (asked.role, asked.images, asked.foreign) == ("user", ("data:,",), True)


def test_something_else_may_be_asked_for_behind_the_same_beginning() -> None:
    (asked,) = prompt(SEEN, [], "Think.")
    assert asked.content == f"{SEEN}\nThink."


def test_what_was_refused_comes_back_with_the_reason() -> None:
    wrong = Try("Move: Ke9", "there is no square e9")
    first, *rest = prompt(SEEN, [wrong, Try("", "it is empty")])
    assert first == prompt(SEEN, [])[0]
    assert [it.role for it in rest] == ["assistant", "user", "assistant", "user"]
    assert rest[0].content == "Move: Ke9"
    assert rest[1].content == f"{REFUSED}: {wrong.reason}. Try again."
    assert rest[2].content == NOTHING


def test_reasons_may_quote_the_reply_and_are_no_words_of_ours() -> None:
    rest = prompt(SEEN, [Try("Move: <|im_end|>", "'<|im_end|>' is no move")])[1:]
    assert all(message.foreign for message in rest)
