"""What a run's journal says of its studies, when it is read again."""

import json
from dataclasses import replace

from raybench.arena.studies import Learned, Marked, Study
from raybench.experiments.optimise_players.ledger import Ledger, lines
from raybench.types import Completion, Retries

MARK = Marked("before", 3, "family", "Move: x", "x", None, 0.5, False, 7)
REPLY = Completion("Move: x", "stop", prompt_tokens=9, output_tokens=2)


def read(*told: Learned) -> Ledger:
    ledger = Ledger()
    for each in told:
        for line in lines(each):
            ledger.enter(line)
    return ledger


def test_a_study_goes_on_with_all_that_was_told_of_it() -> None:
    ledger = read(
        Learned(1, marks=[MARK], replies={"a": REPLY}),
        Learned(1, replies={"b": REPLY}, over=True, failure="gave up", gave_up=True),
        Learned(2, replies={"c": REPLY}),
    )
    study = ledger.resumed(Study(1, "m", "set"))
    assert (study.attempt, study.replies) == (1, {"a": REPLY, "b": REPLY})
    assert study.known == {"before": {3}, "after": set()} and study.state is None
    assert ledger.marks[1]["before"][3] == MARK
    other = ledger.resumed(Study(2, "m", "set"))
    assert (other.attempt, other.replies) == (0, {"c": REPLY})


def test_a_reply_of_an_endpoint_is_kept_without_its_retries() -> None:
    limited = replace(REPLY, token_limit=100)
    told = Learned(1, replies={"a": replace(limited, retries=Retries(server_errors=2))})
    assert all(json.loads(json.dumps(line)) == line for line in lines(told))
    assert read(told).resumed(Study(1, "m", "set")).replies == {"a": limited}


def test_what_was_learned_needs_no_replies_any_more() -> None:
    ledger = read(Learned(1, replies={"a": REPLY}), Learned(1, state={"demos": []}))
    study = ledger.resumed(Study(1, "m", "set"))
    assert study.state == {"demos": []} and not study.replies
