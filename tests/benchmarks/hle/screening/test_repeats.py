import random
import time
from collections.abc import Sequence

import pytest
from hle_rows import choice, exact, png, uri
from hypothesis import given
from hypothesis import strategies as st

from raybench.benchmarks.parts.hle.screening import repeats
from raybench.benchmarks.parts.hle.screening.repeats import Repeat, Said

LONG = (
    "Let $G$ be a finite group of order 168 that acts on the projective plane over the field of "
    "two elements; how many orbits has its action on unordered pairs of flags that share no point?"
)
words = st.sampled_from("alpha beta gamma delta x y + -".split())  # noqa: SIM905
texts = st.lists(words, max_size=12).map(" ".join)


def asked(*questions: str) -> list[Repeat | None]:
    rows = [exact(f"q-{place}", question=text) for place, text in enumerate(questions)]
    return repeats.find([repeats.said(row) for row in rows])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LONG, LONG.upper()),
        (LONG, f"  {LONG.replace(' ', chr(10))} "),
        (LONG, LONG.replace("$", "").replace("?", " .")),
        ("What is $x^2$?", "what is x^2"),
        ("What is ﬁve?", "What is five?"),
    ],
)
def test_case_spacing_and_punctuation_make_no_other_question(one: str, other: str) -> None:
    assert asked(one, other) == [None, Repeat("q-0", 1.0, True)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is x + 1?", "What is x - 1?"),
        ("What is f'(0)?", "What is f(0)?"),
        ("What is n! for n = 3?", "What is n for n = 3?"),
        ("Who wrote the first book?", "Who wrote the second book?"),
        ("", ""),
    ],
)
def test_short_questions_may_look_alike(one: str, other: str) -> None:
    assert asked(one, other) == [None, None]


def test_a_word_of_a_long_question_makes_no_other() -> None:
    none, repeat = asked(LONG, LONG.replace("flags", "lines"))
    assert none is None
    assert repeat is not None
    assert (repeat.of, repeat.exact, repeat.share >= repeats.ALIKE) == ("q-0", False, True)
    two = LONG.replace("flags", "lines").replace("168", "60")
    assert asked(LONG, two) == [None, None]


def test_options_in_another_order_make_no_other_question() -> None:
    texts = ["the trivial one", "two", "three of them", "a fourth", "none"]
    rows = [choice(f"c-{place}", it) for place, it in enumerate((texts, texts[::-1]))]
    same = [row | {"question": row["question"].replace(row["id"], "G")} for row in rows]
    assert repeats.find(list(map(repeats.said, same))) == [None, Repeat("c-0", 1.0, True)]
    others = [f"{it} and more than that" for it in texts]
    other = choice("c-2", others)
    other["question"] = other["question"].replace("c-2", "G")
    assert repeats.find([repeats.said(same[0]), repeats.said(other)]) == [None, None]


def test_the_same_words_about_another_image_are_another_question() -> None:
    rows = [exact(str(it), question=LONG, image=uri(png(it // 2))) for it in range(4)]
    found = repeats.find([repeats.said(row) for row in [*rows, exact("5", question=LONG)]])
    assert found == [None, Repeat("0", 1.0, True), None, Repeat("2", 1.0, True), None]


def test_known_questions_stay_and_what_is_turned_down_is_not_repeated() -> None:
    known, new = [exact("old", question=LONG)], [exact("new", question=LONG)]
    said = [repeats.said(row) for row in (*known, *new)]
    assert repeats.find(said[1:], said[:1]) == [Repeat("old", 1.0, True)]
    assert repeats.find(said, stays=[False, True]) == [None, None]
    assert repeats.find([*said, said[0]], stays=[False, True, True])[2] == Repeat("new", 1.0, True)


def by_comparing_all(new: Sequence[Said], alike: float) -> list[str | None]:
    """Return what each repeats, as the definition has it."""
    kept: list[Said] = []
    found: list[str | None] = []
    for each in new:
        shares = [
            (len(each.shingles & it.shingles) / len(each.shingles | it.shingles), it.key)
            for it in kept
            if each.shingles
        ]
        best = max((share for share, _ in shares), default=0)
        same = [it.key for it in kept if it.exact == each.exact and each.shingles]
        near = [key for share, key in shares if share == best and best >= alike]
        found.append(next(iter(same or near), None))
        if found[-1] is None:
            kept.append(each)
    return found


@given(st.lists(texts, max_size=12), st.sampled_from([0.3, 0.5, 0.6, 2 / 3, 0.8, 1.0]))
def test_what_is_found_is_what_comparing_all_finds(some: list[str], alike: float) -> None:
    said = [repeats.said(exact(str(place), question=it)) for place, it in enumerate(some)]
    found = repeats.find(said, alike=alike)
    assert [it.of if it else None for it in found] == by_comparing_all(said, alike)


@given(st.lists(texts, max_size=10))
def test_every_question_repeats_itself_and_nothing_that_is_gone(some: list[str]) -> None:
    said = [repeats.said(exact(str(place), question=it)) for place, it in enumerate(some)]
    first = repeats.find(said)
    stay = [each for each, it in zip(said, first, strict=True) if it is None]
    assert all(it is None or it.of in {each.key for each in stay} for it in first)
    again = repeats.find(said, stay)
    assert all((it is None) == (not each.shingles) for each, it in zip(said, again, strict=True))


@pytest.mark.parametrize("alike", [0, -1, 1.1])
def test_a_share_is_above_0_to_1(alike: float) -> None:
    with pytest.raises(ValueError, match="above 0 to 1"):
        repeats.find([], alike=alike)


@pytest.mark.slow
def test_ten_thousand_candidates_take_seconds() -> None:
    draw = random.Random(0)
    common = [f"word{it}" for it in range(3000)]
    asked = [" ".join(draw.choices(common, k=100)) for _ in range(9_000)]
    asked += [f"{it} indeed" for it in asked[:1000]]
    started = time.process_time()
    said = [repeats.said(exact(str(place), question=it)) for place, it in enumerate(asked)]
    found = repeats.find(said)
    assert time.process_time() - started < 60
    assert [it.of if it else None for it in found[9000:]] == [str(it) for it in range(1000)]
    assert not any(found[:9000])
