"""Around a table."""

from statements import values

from raybench.tournament.pairing.seats import met, notes, seatings, shares


def test_everybody_takes_every_seat() -> None:
    assert seatings("ab") == [("a", "b"), ("b", "a")]
    assert seatings("abc") == [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]


def test_seatings_that_are_the_same_are_one() -> None:
    assert seatings("abab") == [("a", "b", "a", "b"), ("b", "a", "b", "a")]
    assert len(seatings("aab")) == 3


def test_what_a_seat_has_beaten() -> None:
    assert shares((1.0, -1.0)) == [1.0, 0.0]
    assert shares((0.0, 0.0)) == [0.5, 0.5]
    assert shares((30.0, -10.0, -10.0, -10.0)) == [1.0, 1 / 3, 1 / 3, 1 / 3]


def test_a_model_does_not_meet_itself() -> None:
    assert [*met((2, 0, 2, 1))] == [(0, 1), (0, 2), (1, 2)]


def test_games_with_more_seats_than_models_are_told() -> None:
    assert not [*notes(5, {"chess": 2, "poker": 5})]
    told = [values(it) for it in notes(3, {"werewolf": 7, "dice": 6, "chess": 2})]
    assert [(it["game"], it["seats"], it["models"], it["each"]) for it in told] == [
        ("dice", 6, 3, "2"),
        ("werewolf", 7, 3, "2 or 3"),
    ]
