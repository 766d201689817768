"""What the tests of time rest on tells a quadratic from what is none."""

from games.growth import linear


def test_what_is_linear_is_told_from_what_is_quadratic() -> None:
    assert linear(lambda size: sum(range(100 * size)), 4_000)
    assert not linear(lambda size: [sum(range(size)) for _ in range(size)], 4_000)
