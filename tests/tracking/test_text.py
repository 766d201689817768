from hypothesis import given
from hypothesis import strategies as st

from raybench.tracking.text import clipped, one_line, printable, short_name


@given(st.text(st.characters()))
def test_printable_text_can_be_written_and_obeys_nothing(text: str) -> None:
    shown = printable(text + "\ud83d\x1b\x9b")
    shown.encode("utf-8")
    assert not {"\x1b", "\x9b", "\x00", "\r"} & set(shown)


def test_plain_text_stays_itself() -> None:
    assert printable("a\tb\nc — 模型 é") == "a\tb\nc — 模型 é"
    assert printable("a\r\nb") == "a\nb"


@given(st.text(), st.integers(1, 20))
def test_one_line_is_one_short_line(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most
    assert len(line.splitlines()) <= 1


@given(st.text(), st.integers(3, 40))
def test_a_name_is_short_and_has_both_ends(name: str, most: int) -> None:
    line, whole = short_name(name, most), one_line(name)
    assert len(line) <= most
    assert line == whole or (line[0], line[-1]) == (whole[0], whole[-1])


def test_checkpoints_of_one_run_have_other_names_also_where_they_are_long() -> None:
    names = [f"our-lab/very-long-experiment-name-checkpoint-{n}" for n in (1000, 2000)]
    assert len({short_name(name, 26) for name in names}) == 2


def test_of_a_long_text_the_beginning_and_the_end_are_shown() -> None:
    text = "begin " + "x" * 20_000 + " Answer: C"
    shown = clipped(text)
    assert shown.startswith("begin ")
    assert shown.endswith(" Answer: C")
    assert len(shown) < 6100
    assert f"{len(text) - 6000:,} characters" in shown
    assert clipped("short") == "short"
