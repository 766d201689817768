"""What a match was drawn with: its seed, or what models that always reply alike make of it."""

from raybench.tournament.fixtures import Fixture, Result, table

AB, BA = Fixture("chess", ("a", "b"), 7), Fixture("chess", ("b", "a"), 8)


def test_seeds_tell_matches_apart() -> None:
    assert table(AB, None, {"a", "b"}) == "7"
    assert table(AB, "1. e4", {"a"}) == "7"
    assert Result(AB, (1, 0)).drawn_with == "7"


def test_models_that_reply_alike_play_the_same_match_from_the_same_start() -> None:
    assert table(AB, "1. e4", {"a", "b"}) == table(BA, "1. e4", {"a", "b", "c"})
    assert table(AB, "1. e4", {"a", "b"}) != table(AB, "1. d4", {"a", "b"})
    other = Fixture("chess", ("a", "c"), 7)
    assert table(AB, "", {"a", "b", "c"}) != table(other, "", {"a", "b", "c"})
    assert Result(AB, (1, 0), table="chess: a, b: ").drawn_with == "chess: a, b: "
