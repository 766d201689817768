from hypothesis import given
from hypothesis import strategies as st

from raybench.tracking.console.words import clean, counted, duration, short


def test_numbers_and_times_in_few_characters() -> None:
    assert [short(n) for n in (950, 12_345, 123_456, 4_500_000)] == ["950", "12.3k", "123k", "4.5M"]
    assert [duration(s) for s in (0.4, 59, 250, 1500, 7500)] == [
        "0 s", "59 s", "4 min 10 s", "25 min", "2 h 5 min",
    ]  # fmt: skip


def test_one_of_something_is_no_several() -> None:
    told = [counted(*it) for it in ((1, "reply"), (2, "reply"), (1_000, "match"), (0, "call"))]
    assert told == ["1 reply", "2 replies", "1,000 matches", "0 calls"]


@given(st.text())
def test_somebodys_text_moves_no_cursor_and_turns_nothing_around(text: str) -> None:
    shown = clean(text)
    assert not any(ord(it) < 32 or 127 <= ord(it) < 160 for it in shown)
    assert not set(shown) & set(
        "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


def test_a_name_that_turns_its_line_around_is_put_right() -> None:
    assert clean("evil\u202egnp.exe") == "evilgnp.exe"
    assert clean("a\r\nb\x1b[2Jc") == "a b\ufffd[2Jc"
