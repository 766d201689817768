"""The shipped questions of HLE are closed, answered and explained; what they show is drawn anew."""

import base64
import contextlib
import datetime
import heapq
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import hle_images
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

Row = dict[str, Any]

_CATEGORIES = {
    *("Math", "Biology/Medicine", "Computer Science/AI", "Physics", "Humanities/Social Science"),
    *("Chemistry", "Engineering", "Other"),
}
_PNG = "data:image/png;base64,"
ROWS: list[Row] = [json.loads(line) for line in hle_images.SAMPLES.read_bytes().splitlines()]
CHOICES = [row for row in ROWS if row["answer_type"] == "multipleChoice"]
SHOWN = [row for row in ROWS if row["image"]]

of_each = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
of_each_choice = pytest.mark.parametrize("row", CHOICES, ids=lambda row: row["id"])
of_each_image = pytest.mark.parametrize("row", SHOWN, ids=lambda row: row["raw_subject"])


def options(row: Row) -> dict[str, str]:
    _, listed = row["question"].split("\n\nAnswer Choices:\n")
    return dict(line.split(". ", 1) for line in listed.split("\n"))


def about(words: str) -> Row:
    (row,) = (row for row in ROWS if words in row["question"])
    return row


def number(answer: str) -> Fraction:
    """Return a number that stands alone, before a unit, or as a fraction of LaTeX."""
    return Fraction(re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r"\1/\2", answer).split()[0])


def png(row: Row) -> bytes:
    return base64.b64decode(row["image"].removeprefix(_PNG), validate=True)


# ------------------------------------------------------------------------------ the columns


@of_each
def test_every_column_holds_what_the_published_one_does(row: Row) -> None:
    assert all(isinstance(value, str) for value in row.values())
    assert all(row[column] for column in row if column != "image")
    assert re.fullmatch(r"[0-9a-f]{24}", row["id"])
    assert row["answer_type"] in ("exactMatch", "multipleChoice")
    assert row["category"] in _CATEGORIES
    assert row["author_name"] == "raybench"


def test_every_category_is_asked_and_mathematics_the_most() -> None:
    counts = Counter(row["category"] for row in ROWS)
    assert set(counts) == _CATEGORIES
    assert min(counts.values()) >= 3
    assert counts.most_common(1)[0][0] == "Math"


def test_one_canary_of_our_own_marks_them_all() -> None:
    (canary,) = {row["canary"] for row in ROWS}
    assert re.search(r"raybench:hle:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", canary)


@of_each
def test_answers_are_short_and_rationales_explain_them(row: Row) -> None:
    assert "\n" not in row["answer"]
    assert len(row["answer"]) <= 30
    assert len(row["rationale"]) >= 80
    assert row["rationale"].endswith((".", "$"))


def test_texts_hold_what_prompts_have_to_carry_untouched() -> None:
    texts = "".join(row["question"] + row["answer"] for row in ROWS)
    assert all(part in texts for part in ("{question}", "{response}", "{{}}", r"\frac{", '"', "“"))
    assert any(not c.isascii() and c.isalpha() for c in texts)


# ------------------------------------------------------------------------------ multiple choice


def test_about_a_quarter_is_multiple_choice() -> None:
    assert 0.2 <= len(CHOICES) / len(ROWS) <= 0.3
    assert all("Answer Choices" not in row["question"] for row in ROWS if row not in CHOICES)


@of_each_choice
def test_options_are_five_or_more_distinct_and_lettered_in_order(row: Row) -> None:
    found = options(row)
    assert len(set(map(str.casefold, found.values()))) == len(found) >= 5
    assert "".join(found) == "ABCDEFGH"[: len(found)]
    assert row["answer"] in found


def test_right_letters_are_spread() -> None:
    letters = Counter(row["answer"] for row in CHOICES)
    assert set(letters) == set("ABCDEF")
    assert max(letters.values()) == 2


@pytest.mark.parametrize("longest", [True, False])
def test_the_right_option_is_not_told_by_its_length(longest: bool) -> None:
    """Always taking the longest, or the shortest, gets no more right than luck well may."""
    extreme, hits, chance = max if longest else min, 0.0, 0.0
    for row in CHOICES:
        lengths = [len(option) for option in options(row).values()]
        right = len(options(row)[row["answer"]])
        hits += (right == extreme(lengths)) / lengths.count(extreme(lengths))
        chance += 1 / len(lengths)
    assert hits <= chance + 2 * chance**0.5


# ------------------------------------------------------------------------------ images


def test_two_questions_show_an_image_and_say_so() -> None:
    assert {row["id"] for row in SHOWN} == set(hle_images.DRAWINGS)
    assert len(SHOWN) == 2
    assert all("image" in row["question"] for row in SHOWN)


@of_each_image
def test_an_image_is_what_is_drawn_to_the_byte(row: Row) -> None:
    assert row["image"] == hle_images.data_uri(hle_images.DRAWINGS[row["id"]]())


@of_each_image
def test_an_image_is_a_small_png_that_others_can_read(row: Row) -> None:
    data = png(row)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(data) < 4096
    with Image.open(io.BytesIO(data)) as image:
        image.load()  # checks its sums as well
        assert (image.format, image.size) == ("PNG", (392, 232))
        shades = {shade: count for count, shade in image.convert("L").getcolors() or []}
    assert set(shades) == {0, 255}
    assert 0.02 < shades[0] / sum(shades.values()) < 0.3


def test_drawing_anew_leaves_the_file_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hle.jsonl"
    blank = (json.dumps(row | {"image": row["image"] and "?"}) + "\n" for row in ROWS)
    file.write_text("".join(blank), encoding="utf-8")
    shipped = hle_images.SAMPLES.read_bytes()
    monkeypatch.setattr(hle_images, "SAMPLES", file)
    hle_images.main()
    assert file.read_bytes() == shipped


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(1, 600)), max_size=12))
def test_what_is_compressed_can_be_read_with_the_library(runs: list[tuple[int, int]]) -> None:
    data = b"".join(bytes([byte]) * count for byte, count in runs)
    assert zlib.decompress(hle_images.compressed(data)) == data


def test_the_graph_has_the_shortest_path_that_is_its_answer() -> None:
    reached: dict[str, int] = {}
    ahead = [(0, "A")]
    while ahead:
        so_far, vertex = heapq.heappop(ahead)
        if vertex not in reached:
            reached[vertex] = so_far
            for edge, length in hle_images.EDGES.items():
                if vertex in edge:
                    heapq.heappush(ahead, (so_far + length, edge.replace(vertex, "")))
    assert reached["G"] == int(about("shortest path from A to G")["answer"])


def test_the_slope_leads_to_the_height_that_is_its_answer() -> None:
    heights = [Fraction(2)]
    for (x, y), (u, v) in pairwise(hle_images.SLOPE):
        if y * v < 0:  # up to where it crosses the axis, and on from there
            crossing = x + Fraction(y * (u - x), y - v)
            heights.append(heights[-1] + (crossing - x) * Fraction(y, 2))
            heights.append(heights[-1] + (u - crossing) * Fraction(v, 2))
        else:
            heights.append(heights[-1] + (u - x) * Fraction(y + v, 2))
    assert max(heights) == number(about("derivative $f'$")["answer"])


# ------------------------------------------------------------------------------ answers


def surjections() -> int:
    return sum(f[0] != f[1] and len(set(f)) == 4 for f in product(range(4), repeat=7))


def rings() -> int:
    kinds = set()
    for ring in product("RGB", repeat=8):
        if len(set(ring)) == 3:
            turned = [ring[turn:] + ring[:turn] for turn in range(8)]
            kinds.add(min(turned + [one[::-1] for one in turned]))
    return len(kinds)


def roots() -> int:
    """Count the matrices over the field of three elements that are their own cube."""

    def times(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        cells = product(range(0, 9, 3), range(3))
        return tuple(sum(a[row + n] * b[3 * n + at] for n in range(3)) % 3 for row, at in cells)

    return sum(times(times(a, a), a) == a for a in product(range(3), repeat=9))


def tilings() -> int:
    """Count the coverings of a board with a hole by dominoes, square after square."""
    board = list(product(range(6), range(6)))
    squares = [(row, column) for row, column in board if not {row, column} <= {2, 3}]
    ways = Counter({frozenset(squares): 1})
    for row, column in squares:
        left: Counter[frozenset[tuple[int, int]]] = Counter()
        for bare, count in ways.items():
            if (row, column) not in bare:
                left[bare] += count
                continue
            for other in ((row, column + 1), (row + 1, column)):
                if other in bare:
                    left[bare - {(row, column), other}] += count
        ways = left
    return ways[frozenset()]


def homomorphisms() -> int:
    """Count the images that a turn and a reflection of the octagon may have."""
    target = list(product(range(6), range(4)))
    return sum(
        all(
            (8 * turn) % n == (2 * flip) % n == (2 * (turn + flip)) % n == 0
            for turn, flip, n in zip(turned, flipped, (6, 4), strict=True)
        )
        for turned, flipped in product(target, target)
    )


def states() -> int:
    """Count the remainders modulo 40 that some further word of up to eight bits tells apart."""
    words = [(2**length, value) for length in range(9) for value in range(2**length)]
    return len({tuple((r * by + v) % 40 == 0 for by, v in words) for r in range(40)})


def steps() -> int:
    seen = [2]
    while (following := (seen[-1] ** 2 + 1) % 1009) not in seen:
        seen.append(following)
    return len(seen)


def fibonacci() -> Fraction:
    total, (now, following) = Fraction(0), (1, 1)
    for n in range(1, 200):
        total += Fraction(n * now, 4**n)
        now, following = following, now + following
    return total.limit_denominator(1000)


def two_traits() -> Fraction:
    crosses = list(product("AAAa", repeat=3))  # of the four equal chances three show A
    return Fraction(sum(cross.count("A") == 2 for cross in crosses), len(crosses))


@pytest.mark.parametrize(
    ("words", "computed"),
    [
        (r"set $\{1, 2, 3, 4\}$", lambda: 2**4),
        ("How many group homomorphisms", homomorphisms),
        ("surjective functions", surjections),
        ("divisible by 6", lambda: 1 / Fraction(1, 2) + 1 / Fraction(1, 3) - 1 / Fraction(2, 3)),
        ("F_1 = F_2 = 1", fibonacci),
        ("Eight beads", rings),
        ("$A^3 = A$", roots),
        ("dominoes", tilings),
        ("exactly two of the three", two_traits),
        ("first cousins", lambda: Fraction(1, 16 * 50) + Fraction(15, 16 * 50**2)),
        ("deterministic finite automaton", states),
        ("convolution layer", lambda: 32 * (16 // 4 * 3 * 3 + 1)),
        ("Pollard", steps),
        ("(Cournot)", lambda: 100 - 3 * Fraction(100 - 20, 3 + 1)),
        ("stone", lambda: Fraction(10 * 3**2, 2)),
        ("ideal battery", lambda: Fraction(12**2, 4)),
    ],
)
def test_an_answer_that_can_be_computed_is_what_it_comes_to(
    words: str, computed: Callable[[], Fraction | int]
) -> None:
    assert number(about(words)["answer"]) == computed()


def test_the_program_prints_the_answer() -> None:
    row, printed = about("Python 3"), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(row["question"].split("\n\n")[1])
    assert printed.getvalue() == row["answer"] + "\n"


def test_the_day_is_the_calendars() -> None:
    assert about("1 March 2100")["answer"] == f"{datetime.date(2100, 3, 1):%A}"


def test_one_option_is_prime_and_it_is_the_answer() -> None:
    row = about("is prime")
    prime = [
        letter for letter, n in options(row).items() if all(int(n) % d for d in range(2, int(n)))
    ]
    assert prime == [row["answer"]]


def test_the_right_number_of_stereoisomers_is_the_answer() -> None:
    row = about("stereoisomers")
    kinds = {min(word, word[::-1]) for word in product("RS", repeat=4)}
    assert options(row)[row["answer"]] == str(len(kinds))


def test_the_speeds_add_up_to_the_answer() -> None:
    row, one = about("fires a probe"), Fraction(3, 5)
    two = (one + one) / (1 + one * one)
    three = (two + one) / (1 + two * one)
    assert options(row)[row["answer"]] == f"{three.numerator} c / {three.denominator}"
