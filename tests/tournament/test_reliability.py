"""What was valid, what was forfeited, and what was nobody's fault who plays."""

from tournament.outcomes import won

from raybench.tournament.records import Effort
from raybench.tournament.reliability import counts, failures, reliability
from raybench.tournament.turns import Forfeit

MATCHES = [
    won(
        1, "a", "b", -1,
        efforts={"white": Effort(3, 4, 1, 7, 3.5, 70), "black": Effort(3, 0, 0, 3, 1.0, 30)},
        forfeits=[Forfeit("white", "invalid moves", 9)],
        errors=[("white", "no such square")] * 3 + [("white", "not your turn")],
    ),
    won(2, "b", "a", 0, efforts={"white": Effort(2, 0), "black": Effort(2, 0)}, votes_missing=2),
    won(3, "a", "b", 0, void="b gave no reply: refused", missing="b"),
]  # fmt: skip


def test_replies_and_forfeits_are_counted_by_model() -> None:
    found = reliability(MATCHES, ["a", "b", "c"])
    a = found["a"]
    assert (a.matches, a.moves, a.invalid, a.truncated, a.void) == (2, 6, 4, 1, 0)
    assert a.forfeits == {"invalid moves": 1}
    assert a.reasons.most_common(1) == [("no such square", 3)]
    assert a.valid.value == 0.6 and a.valid.n == 10
    assert (a.forfeited.value, a.forfeited.n) == (0.5, 2)
    assert (found["b"].void, found["b"].matches) == (1, 2)
    assert found["c"].valid.value is None


def test_counts_stand_beside_every_score() -> None:
    of = counts(reliability(MATCHES, ["a", "b"]), MATCHES)
    assert of["a"].to_json() == {
        "ok": 6, "truncated": 1, "unparsed": 4, "infra_error": 0, "judge_error": 2
    }  # fmt: skip
    assert of["b"].infra_error == 1


def test_what_needs_a_persons_eye_says_why() -> None:
    told = [*failures(MATCHES)]
    assert [it["kind"] for it in told] == ["forfeit", "votes missing", "void"]
    assert told[0]["why"] == "invalid moves; the last reply: not your turn"
    assert told[0]["model"] == "a"
    assert told[2]["why"] == "b gave no reply: refused"


def test_who_forfeits_in_two_seats_of_a_match_has_forfeited_one() -> None:
    both = [Forfeit("white", "time", 3), Forfeit("black", "time", 4)]
    matches = [won(n, "a", "a", 0, forfeits=both) for n in range(3)]
    matches += [won(9, "a", "a", 0, void="gone", missing="a", forfeits=both[:1])]
    of = reliability(matches, ["a"])["a"]
    assert (of.forfeits.total(), of.matches, of.forfeited.value) == (6, 3, 1.0)
