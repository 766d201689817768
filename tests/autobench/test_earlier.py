import random
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_rows import plain

from raybench.autobench.earlier import ALIKE, Earlier
from raybench.grading.likeness import shingles, words

EMPIRE = (
    "What were the main causes of the fall of the {} Empire, and how did they interact with each "
    "other over time?"
)
TRAIN = (
    "A train leaves Station A at {} km/h. Two hours later another train leaves the same station in "
    "the same direction at 90 km/h. How far from Station A will {} catch up with the first?"
)
SHORT = "alpha beta gamma 1 2 two +".split()  # noqa: SIM905
tasks = st.lists(st.sampled_from([*SHORT, "?", " "]), max_size=7).map(" ".join)
changes = st.lists(st.tuples(st.integers(0, 8), st.none() | tasks), max_size=25)


def alike(one: str, other: str) -> bool:
    earlier = Earlier()
    earlier.put(3, one)
    there = Earlier()
    there.put(3, other)
    assert earlier.like(other, 4) == there.like(one, 4)
    return earlier.like(other, 4) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Why?", "why"),
        ("?!", "?!"),
        ("", "  "),
        ("What is 17 × 23?", "what is  $17 × 23$"),
        (EMPIRE.format("Roman"), EMPIRE.format("Western Roman")),
        (TRAIN.format(60, "the second train"), TRAIN.format(60, "the other one")),
        (
            "Write a short story about a keeper who learns that the light draws more than ships.",
            "Write a short story about a keeper who learns that his light draws more than ships.",
        ),
        (TRAIN.format(60, "it"), "**Question:** " + TRAIN.format(60, "it")),
    ],
)
def test_repeats(one: str, other: str) -> None:
    assert alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is 17 × 23?", "What is 18 × 23?"),
        ("What is the capital of France?", "What is the capital of Germany?"),
        (TRAIN.format(60, "it"), TRAIN.format(70, "it")),
        (TRAIN.format(60, "it"), TRAIN.format(60, "it").replace("Two", "Three")),
        (TRAIN.format("60", "it").replace("90", "60"), TRAIN.format("90", "it").replace("60", "9")),
        (
            "Solve the equation x^2 + 5x + 6 = 0 for all of its real and complex roots, please.",
            "Solve the equation x^2 - 5x + 6 = 0 for all of its real and complex roots, please.",
        ),
        ("?", "!"),
        ("", "?"),
        ("", "Why?"),
        (
            "How did the printing press influence the spread of ideas during the Renaissance?",
            "How did the steam engine influence the growth of towns during the last century?",
        ),
    ],
)
def test_other_tasks(one: str, other: str) -> None:
    assert not alike(one, other)


def test_the_most_like_counts_and_of_these_the_first() -> None:
    earlier = Earlier()
    near, same = EMPIRE.format("Western Roman"), EMPIRE.format("Roman")
    for iteration, task in enumerate([near, same, same]):
        earlier.put(iteration, task)
    assert earlier.like(same, 3) == 1
    assert earlier.like(same, 1) == 0
    assert earlier.like(same, 0) is None
    earlier.drop(1)
    assert earlier.like(same, 3) == 2
    earlier.put(2, "Another?")
    assert earlier.like(same, 3) == 0
    earlier.drop(7)


def by_comparing_all(there: dict[int, str], task: str, before: int) -> int | None:
    """Return what is found, as the definition has it."""

    def said(text: str) -> tuple[list[str], set[str]]:
        figures = [it for it in words(text) if it in {"1", "2", "two", "+"}]
        return figures, set(shingles(words(text))) or {text.strip()}

    figures, own = said(task)
    shares = {
        iteration: len(own & said(text)[1]) / len(own | said(text)[1])
        for iteration, text in there.items()
        if iteration < before and said(text)[0] == figures
    }
    best = max(shares.values(), default=0)
    return min(it for it, share in shares.items() if share == best) if best >= ALIKE else None


@given(changes, tasks, st.integers(0, 9))
def test_what_is_found_is_what_comparing_all_finds(
    some: list[tuple[int, str | None]], task: str, before: int
) -> None:
    earlier, there = Earlier(), dict[int, str]()
    for iteration, text in some:
        if text is None:
            earlier.drop(iteration)
            there.pop(iteration, None)
        else:
            earlier.put(iteration, text)
            there[iteration] = text
        for asked in (task, text or ""):
            assert earlier.like(asked, before) == by_comparing_all(there, asked, before)


@given(changes, changes, tasks, st.integers(0, 8), st.randoms())
def test_neither_order_nor_later_iterations_nor_what_is_gone_make_a_difference(
    some: list[tuple[int, str | None]],
    others: list[tuple[int, str | None]],
    task: str,
    before: int,
    draw: random.Random,
) -> None:
    there = {iteration: text for iteration, text in some if text is not None}
    one, other = Earlier(), Earlier()
    for iteration, text in there.items():
        one.put(iteration, text)
    for iteration, gone in others:
        other.put(iteration, gone or "alpha")
    shuffled = list(there.items())
    draw.shuffle(shuffled)
    for iteration, text in shuffled:
        other.put(iteration, text)
    for iteration, _ in others:
        if iteration not in there and iteration < before:
            other.drop(iteration)
    assert one.like(task, before) == other.like(task, before)


def test_four_hundred_tasks_take_a_moment() -> None:
    draw = random.Random(0)
    common = [f"word{it}" for it in "abcdefghijklmnopqrstuvwxyz"] + [
        f"term{it:b}" for it in range(9)
    ]
    some = [" ".join(draw.choices(common, k=60)) for _ in range(400)]
    earlier, started = Earlier(), time.process_time()
    for iteration, task in enumerate(some):
        assert earlier.like(task, iteration) is None
        earlier.put(iteration, task)
    assert time.process_time() - started < 30  # some 1 s: no slow machine is to decide


@pytest.mark.parametrize("tail", ["", " {}"], ids=["the very same", "each with another number"])
def test_thousands_that_say_the_same_take_a_moment(tail: str) -> None:
    earlier, started = Earlier(), time.process_time()
    for iteration in range(5000):
        task = EMPIRE.format("Roman") + tail.format(iteration)
        assert earlier.like(task, iteration) == (0 if iteration and not tail else None)
        earlier.put(iteration, task)
    for iteration in range(5000):
        earlier.drop(iteration)
    assert time.process_time() - started < 60  # some 3 s: no slow machine is to decide


@pytest.mark.parametrize(
    ("stem", "most"), [("gsm8k_test", 0), ("math500", 0), ("math_test_5000", 22)]
)
def test_real_questions_are_rarely_taken_for_repeats(stem: str, most: int) -> None:
    earlier, found = Earlier(), Counter[bool]()
    for iteration, row in enumerate(plain(stem)):
        found[earlier.like(row["question"], iteration) is not None] += 1
        earlier.put(iteration, row["question"])
    assert found[True] <= most
