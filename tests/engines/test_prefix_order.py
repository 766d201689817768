import random
from itertools import pairwise
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from raybench.autobench import prompts
from raybench.engines.base import prefix_order
from raybench.types import Message, Request, Role

# Few letters and short texts: what is drawn shares prefixes often.
messages = st.builds(Message, st.sampled_from(get_args(Role)), st.text("ab<", max_size=4))
batches = st.lists(st.lists(messages, min_size=1, max_size=3), max_size=12).map(
    lambda found: [Request(tuple(path), seed=seed) for seed, path in enumerate(found)]
)


def rendered(request: Request) -> str:
    """The conversation as a chat template writes it, with marks that no text can hold."""
    return "".join(f"[{message.role}]{message.content}|" for message in request.messages)


def ordered(batch: list[Request]) -> list[Request]:
    return [batch[place] for place in prefix_order(batch)]


@given(batches)
def test_it_is_a_permutation(batch: list[Request]) -> None:
    assert sorted(prefix_order(batch)) == list(range(len(batch)))


@given(batches)
def test_whatever_prefix_some_share_they_are_neighbours(batch: list[Request]) -> None:
    texts = [rendered(request) for request in ordered(batch)]
    for prefix in {text[:length] for text in texts for length in range(len(text) + 1)}:
        places = [place for place, text in enumerate(texts) if text.startswith(prefix)]
        assert places == list(range(places[0], places[-1] + 1)), prefix


@given(batches)
def test_equal_conversations_keep_their_order(batch: list[Request]) -> None:
    seeds: dict[str, list[int]] = {}
    for request in ordered(batch):
        seeds.setdefault(rendered(request), []).append(request.seed)
    assert all(found == sorted(found) for found in seeds.values())


@given(batches, st.integers())
def test_the_order_of_the_conversations_does_not_depend_on_the_callers(
    batch: list[Request], seed: int
) -> None:
    shuffled = random.Random(seed).sample(batch, len(batch))
    assert [rendered(r) for r in ordered(shuffled)] == [rendered(r) for r in ordered(batch)]


def test_the_judges_of_one_answer_follow_each_other() -> None:
    # The same answer judged five times among others, as when judges share one engine.
    batch = [
        Request((Message("user", prompts.rate_answer("Why?", f"Because of {cause}.")),), seed=judge)
        for judge in range(5)
        for cause in ("wind", "rain", "snow")
    ]
    texts = [request.messages[0].content for request in ordered(batch)]
    assert sum(a != b for a, b in pairwise(texts)) == 2


def test_the_turns_of_a_game_stand_beside_their_history() -> None:
    def turn(game: str, moves: int) -> Request:
        history = [Message("user", f"{game}, move {move}") for move in range(moves)]
        return Request(tuple(history), seed=0)

    batch = [turn("chess", 3), turn("poker", 1), turn("chess", 1), turn("poker", 3)]
    assert prefix_order(batch) == [2, 0, 1, 3]
