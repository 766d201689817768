"""The shipped candidates show what screening does with good ones and with each kind of bad ones."""

import io
import json
import math
from pathlib import Path

import pytest
from statements import codes

from raybench import benchmarks
from raybench.benchmarks.parts.hle import images
from raybench.benchmarks.parts.hle.screening import candidates, plain
from raybench.benchmarks.parts.hle.screening.candidates import COLUMNS, Candidate

_PATH = Path(benchmarks.__path__[0]) / "samples" / "hle_candidates.jsonl"
_ROWS = [json.loads(line) for line in _PATH.read_text(encoding="utf-8").splitlines()]
_INVALID = {
    "the-same-again": ["repeated"],
    "nearly-the-same": ["repeated"],
    "four-options": ["few_options"],
    "no-such-option": ["no_option"],
    "no-rationale": ["required"],
    "open-ended": ["left_open", "open_ended"],
    "linked-image": ["image"],
    "parts-missing": ["required", "required", "answer_type"],
    "only-the-answer": ["same_options", "no_rationale"],
}


@pytest.fixture(scope="module")
def checked() -> dict[str, Candidate]:
    return {it.row["id"].split("-", 2)[2]: it for it in candidates.check(_ROWS)}


def test_they_have_the_hubs_columns_and_are_written_as_people_read_them() -> None:
    assert all(tuple(row) == COLUMNS for row in _ROWS)
    written = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _ROWS)
    assert _PATH.read_text(encoding="utf-8") == written


def test_fifteen_are_valid_and_every_other_is_invalid_in_its_own_way(
    checked: dict[str, Candidate],
) -> None:
    invalid = {name: it.reasons for name, it in checked.items() if not it.valid}
    assert list(invalid) == list(_INVALID)
    assert len(checked) - len(invalid) == 15
    for name, reasons in invalid.items():
        assert [it.removeprefix("candidate.") for it in codes(reasons)] == _INVALID[name]
    assert all(it.notes == () for it in checked.values() if it.valid)


def test_right_options_are_spread_over_letters(checked: dict[str, Candidate]) -> None:
    right = [it.row["answer"] for it in checked.values() if it.valid and plain.chosen(it.row)]
    assert len(right) == 5
    assert len(set(right)) >= 3


# ----------------------------------------------------------------- their answers, by other ways


def bracelets(beads: int, colours: int) -> int:
    """Return how many there are, by counting those that are the least of their kind."""
    count = 0
    for number in range(colours**beads):
        digits = [number // colours**place % colours for place in range(beads)]
        turned = [digits[at:] + digits[:at] for at in range(beads)]
        count += min(turned + [it[::-1] for it in turned]) == digits
    return count


def test_the_formula_for_bracelets_is_right(checked: dict[str, Candidate]) -> None:
    def formula(beads: int) -> int:
        turned: int = sum(3 ** math.gcd(turn, beads) for turn in range(beads))
        flipped: int = beads // 2 * (3 ** (beads // 2) + 3 ** (beads // 2 + 1))
        return (turned + flipped) // (2 * beads)

    assert [formula(beads) for beads in (4, 6)] == [bracelets(beads, 3) for beads in (4, 6)]
    assert checked["bracelets"].row["answer"] == str(formula(12))


def test_answers_that_can_be_counted_are_right(checked: dict[str, Candidate]) -> None:
    pairs = [(a, b) for a in range(1, 61) for b in range(1, 61) if (a * a + b * b) % 61 == 0]
    assert checked["sums-of-squares"].row["answer"] == str(len(pairs))

    zeros = number = 0
    while zeros < 2026:
        number += 1
        zeros += next(power for power in range(9) if number % 5 ** (power + 1))
    assert zeros == 2026
    assert checked["zeros"].row["answer"] == str(number)

    shown = [f"{mask:04b}" for mask in range(16)]  # what a connective makes of 00, 01, 10, 11
    complete = [it for it in shown if it[0] == "1" and it[3] == "0" and it[1] == it[2]]
    assert plain.chosen(checked["connectives"].row) == str(len(complete))

    def largest(left: int, order: int = 1, cycle: int = 1) -> int:
        longer = range(cycle, left + 1)
        more = [largest(left - it, math.lcm(order, it), it + 1) for it in longer]
        return max(order, *more) if more else order

    assert plain.chosen(checked["largest-order"].row) == str(largest(10))
    assert plain.chosen(checked["orbit"].row) == f"{math.sqrt(4**3 / 2):.2f}"
    assert checked["rod"].row["answer"] == f"{math.sqrt(3 * 9.81 * 2):.2f}"


def test_spanning_trees_are_what_the_matrix_says(checked: dict[str, Candidate]) -> None:
    numpy = pytest.importorskip("numpy")
    laplacian = numpy.diag([5] * 3 + [3] * 5)
    laplacian[:3, 3:] = laplacian[3:, :3] = -1
    trees = round(numpy.linalg.det(laplacian[1:, 1:].astype(float)))
    assert checked["spanning-trees"].row["answer"] == str(trees)


def test_the_image_shows_what_the_rationale_says(checked: dict[str, Candidate]) -> None:
    row = checked["black-cells"].row
    assert images.decoded(row["image"])[0] == "png"
    board = row["rationale"].split(": ")[1].split(".")[0].split(", ")
    black = {(x, y) for y, line in enumerate(board) for x, cell in enumerate(line) if cell == "1"}
    near = [sum((x + a, y + b) in black for a, b in _NEAR) for x, y in black]
    assert row["answer"] == str(near.count(2))
    assert _pixels(images.decoded(row["image"])[1]) == {
        (x, y): (x, y) in black for x in range(5) for y in range(5)
    }


_NEAR = ((0, 1), (1, 0), (0, -1), (-1, 0))


def _pixels(data: bytes) -> dict[tuple[int, int], bool]:
    """Return which of the board's cells are black, each by the pixel in its middle."""
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(data)).convert("L")
    side = image.width / 5
    return {
        (x, y): image.getpixel((int((x + 0.5) * side), int((y + 0.5) * side))) == 0
        for x in range(5)
        for y in range(5)
    }
