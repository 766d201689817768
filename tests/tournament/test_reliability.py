"""What was valid, what was forfeited, and what was nobody's fault who plays."""

from dataclasses import asdict
from typing import Any

import numpy as np
from tournament.outcomes import won

from raybench.tournament.records import Effort, GivenUp
from raybench.tournament.reliability import counts, failures, reliability
from raybench.tournament.turns import Forfeit

MATCHES = [
    won(
        1, "a", "b", -1,
        efforts={
            "white": Effort(3, 4, 1, 7, 3.5, 70, unparsed=2), "black": Effort(3, 0, 0, 3, 1.0, 30)
        },
        forfeits=[Forfeit("white", "invalid moves", 9)],
        errors=[("white", "no such square", 3), ("white", "not your turn", 1)],
        last={"white": "not your turn"},
    ),
    won(2, "b", "a", 0, efforts={"white": Effort(2, 0), "black": Effort(2, 0)}, votes_missing=2),
    won(
        3, "a", "b", 0, void="b gave no reply: refused", missing="b", failed={"b": 3, "juror": 1},
        given_up=[
            GivenUp(0, "b gave no reply: busy", "b"), GivenUp(1, "the sandbox failed: no room")
        ],
    ),
]  # fmt: skip


def test_replies_and_forfeits_are_counted_by_model() -> None:
    found = reliability(MATCHES, ["a", "b", "c"])
    a = found["a"]
    assert (a.matches, a.moves, a.invalid, a.truncated, a.void) == (2, 6, 4, 1, 0)
    assert a.forfeits == {"invalid moves": 1}
    assert a.reasons.most_common(1) == [MATCHES[0].errors[0][1:]]
    assert a.valid.value == 0.6 and a.valid.n == 10
    assert (a.forfeited.value, a.forfeited.n) == (0.5, 2)
    assert (found["b"].void, found["b"].matches) == (1, 2)
    assert found["c"].valid.value is None


def test_counts_stand_beside_every_score() -> None:
    of = counts(reliability(MATCHES, ["a", "b"]), MATCHES)
    assert of["a"].to_json() == {
        "ok": 7, "truncated": 1, "unparsed": 2, "infra_error": 0, "judge_error": 2
    }  # fmt: skip
    assert of["b"].infra_error == 3, "requests, and not matches"


def test_what_needs_a_persons_eye_says_why() -> None:
    told = [*failures(MATCHES)]
    assert [it["kind"] for it in told] == [
        "forfeit", "vote missing", "vote missing", "begun anew", "begun anew", "void"
    ]  # fmt: skip
    why = str(told[0]["why"])
    assert why.startswith("invalid moves; ") and why.endswith(f": {MATCHES[0].last['white']}")
    assert told[0]["model"] == "a"
    void = MATCHES[2]
    assert [(it["model"], it["why"]) for it in told[3:5]] == [
        (it.missing or "", it.void) for it in void.given_up
    ]
    assert told[5]["why"] == void.void
    assert (told[1]["model"], told[1]["why"]) == MATCHES[1].votes_lost[0]


def test_who_forfeits_in_two_seats_of_a_match_has_forfeited_one() -> None:
    both = [Forfeit("white", "time", 3), Forfeit("black", "time", 4)]
    matches = [won(n, "a", "a", 0, forfeits=both) for n in range(3)]
    matches += [won(9, "a", "a", 0, void="gone", missing="a", forfeits=both[:1])]
    of = reliability(matches, ["a"])["a"]
    assert (of.forfeits.total(), of.matches, of.forfeited.value) == (6, 3, 1.0)


def test_a_forfeit_of_a_void_match_does_not_count() -> None:
    forfeit = [Forfeit("white", "time", 3)]
    of = reliability(
        [won(1, "a", "b", 0, void="gone", forfeits=forfeit), won(2, "a", "b", 1)], "ab"
    )
    assert (of["a"].forfeited.value, of["a"].forfeited.n) == (0, 1)
    assert not of["a"].forfeits


def test_matches_of_one_seed_are_not_independent() -> None:
    rng = np.random.default_rng(5)
    covered, pools = {"forfeited": 0, "valid": 0}, 200
    for _ in range(pools):
        matches = []
        for seed, share in enumerate(rng.beta(0.7, 1.633, size=10)):  # of 0.3 on the average
            for lost in rng.random(7) < share:
                forfeits = [Forfeit("white", "time", 1)] if lost else []
                efforts = {"white": Effort(turns=int(not lost), invalid=int(lost))}
                matches.append(won(1, "a", "b", 1, seed=seed, forfeits=forfeits, efforts=efforts))
        found = reliability(matches, "ab")["a"]
        for name, of, true in (("forfeited", found.forfeited, 0.3), ("valid", found.valid, 0.7)):
            assert of.ci95 is not None
            covered[name] += of.ci95[0] <= true <= of.ci95[1]
    assert min(covered.values()) / pools > 0.93


def test_a_forfeit_by_time_says_how_long_it_took_and_what_was_allowed() -> None:
    late = Forfeit("white", "time", 9, 12.345, 10.0)
    (told,) = failures([won(1, "a", "b", -1, forfeits=[late])])
    assert told["why"] == late.why
    assert late.why.startswith("time: ") and "12.3 s" in late.why and "10 s" in late.why
    of = reliability([won(1, "a", "b", -1, forfeits=[late])], ["a", "b"])
    assert of["a"].forfeits == {"time": 1}


def test_forfeits_are_read_back_from_journals_also_of_those_who_knew_no_times() -> None:
    short: dict[str, Any] = {"role": "white", "reason": "time", "turn": 3}
    for forfeit in (short, asdict(Forfeit("white", "time", 1))):
        assert Forfeit(**forfeit).why == "time"
