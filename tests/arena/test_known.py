"""Whose a reply is that was known before it was asked for."""

from raybench.arena.known import Known
from raybench.autobench.steps import Reply

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
