"""By what replies are known again: by all that they depend on, and nothing else."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from raybench.arena.decoding import Decoding
from raybench.arena.known import Addresses, Known, line, read
from raybench.autobench.steps import Ask, Reply

DECODING = Decoding({"task": 1, "task_rating": 2, "answer": 3, "answer_rating": 4}, seed=1)
ASK = Ask("answer", "a", "What is a boat?", "1/answer")
RATING = Ask("answer_rating", "a", "How good is it?", "1/answer_rating/b")
IDENTITIES = {"a": "weights 1, temperature 0.3", "b": "weights 2"}


def address(ask: Ask = ASK, decoding: Decoding = DECODING, **identities: str) -> str:
    return Addresses(IDENTITIES | identities, decoding).of(ask)


def test_what_a_reply_depends_on_is_in_its_address() -> None:
    here = {
        address(),
        address(replace(ASK, model="b")),
        address(replace(ASK, prompt="What is a ship?")),
        address(replace(ASK, key="2/answer")),  # another seed
        address(replace(ASK, kind="task")),  # another bound
        address(a="weights 1, temperature 0.4"),
        address(decoding=replace(DECODING, seed=2)),
        address(decoding=replace(DECODING, tokens={**DECODING.tokens, "answer": 9})),
    }
    assert len(here) == 8
    of_ratings = {
        address(RATING),
        address(RATING, replace(DECODING, constrained_ratings=False)),
        address(RATING, replace(DECODING, rating_temperature=0.4)),
    }
    assert len(of_ratings) == 3


def test_what_it_does_not_depend_on_is_not() -> None:
    assert address(b="weights 3") == address()
    assert address(decoding=replace(DECODING, rating_temperature=0.4)) == address()
    assert address(decoding=replace(DECODING, constrained_ratings=False)) == address()


texts = st.text()  # half surrogate pairs among them: endpoints send such


@given(texts, st.sampled_from(["stop", "length", "refusal"]), st.integers(0, 9))
def test_what_the_journal_keeps_is_read_as_it_was(text: str, finish: str, tokens: int) -> None:
    reply = Reply(text, finish, "why", tokens, 1)  # type: ignore[arg-type]
    broken = Reply(None, "error", "dead")
    kept = line((3, 1, "answer"), "a", {"x": reply, "y": broken})
    assert kept["iteration"] == 3
    assert read(kept) == {"x": reply}  # what broke is asked again
    assert read({"iteration": 3, "calls": {"calls": 1}}) == {}


@given(texts)
def test_any_text_has_an_address(text: str) -> None:
    assert address(replace(ASK, prompt=text)) == address(replace(ASK, prompt=text))


def test_a_runs_own_replies_come_before_those_of_the_run_that_it_extends() -> None:
    own, earlier = Reply("own"), Reply("earlier")
    known = Known({"x": own}, {"x": earlier, "y": earlier})
    assert (known.get("x"), known.get("y"), known.get("z")) == (own, earlier, None)
    assert [known.is_new(where) for where in "xy"] == [False, True]


OWN, SHARED, EARLIER = Reply("own"), Reply("shared"), Reply("earlier")


def test_it_is_told_whose_a_reply_is() -> None:
    known = Known(
        {"a": OWN}, {"a": EARLIER, "b": EARLIER, "c": EARLIER}, {"a": SHARED, "b": SHARED}
    )
    assert [known.get(where) for where in "abcd"] == [OWN, SHARED, EARLIER, None]
    assert [known.is_shared(where) for where in "abc"] == [False, True, False]
    # The journal has its own and what another assessment of the run was replied.
    assert [known.is_new(where) for where in "abc"] == [False, False, True]


def test_replies_that_come_later_are_known_at_once() -> None:
    own: dict[str, Reply] = {}
    known = Known(own)
    assert known.get("a") is None
    own["a"] = OWN
    assert known.get("a") is OWN
