"""A wait is told with its end, and each has all of the patience."""

from statements import codes, values

from raybench.arena.patience import Patience


def test_a_wait_is_told_once_and_counted_down() -> None:
    now, said, phases = [100.0], list[str](), list[str]()
    patience = Patience(600, said.append, phases.append, lambda: now[0])
    patience.rest()
    left = []
    for now[0] in (100.0, 160.0, 800.0):
        left.append(patience.left(["c", "a jury with x"]))
    assert left == [600, 540, 0]
    assert codes(said) == ["patience.begins"] and values(said[0])["left"] == 600
    assert values(phases[1])["left"] == 540
    assert all("c and a jury" in told for told in (said[0], phases[1]))
    patience.rest()
    assert phases[-1] == "playing" and patience.left(["c"]) == 600 and len(said) == 2


def test_a_wait_may_have_no_end_or_no_length() -> None:
    said = list[str]()
    assert Patience(None, said.append, lambda text: None).left(["c"]) == float("inf")
    assert values(said.pop())["left"] == float("inf")
    assert Patience(0, said.append, lambda text: None).left(["c"]) == 0
    assert not said, "nobody is waited for"
