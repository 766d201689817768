import pytest

from perf.feeding_lengths import BAR, KINDS, Lengths, ask_through_feeder, measure


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_replica_is_full_whatever_the_lengths_of_its_replies(kind: Lengths) -> None:
    outcome = measure(kind, 1000, 64, ask_through_feeder)
    assert outcome.mean_batch >= BAR * outcome.ideal_batch
