"""perf/feeding.py, small: the same simulation, and what its bars stand for."""

import re

import pytest

from perf import feeding
from perf.feeding import Case, World, mixed

pytestmark = pytest.mark.slow


def test_it_prints_how_busy_the_gpus_were(capsys: pytest.CaptureFixture[str]) -> None:
    feeding.main(["a", "c", "--decide", "--scale", "0.01"])
    printed = capsys.readouterr().out
    shares = [float(share) for share in re.findall(r"busy: ([0-9.]+) of ideal", printed)]
    assert len(shares) == 3
    assert all(0 < share < 1 for share in shares)
    assert re.search(r"slowest [0-9.]+ ms", printed)
    assert re.search(r"median [0-9.]+ ms", printed)


def test_a_case_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        feeding.main(["d"])
    assert ended.value.code == 2
    assert "a, c" in capsys.readouterr().err


def test_each_engine_is_loaded_once_and_then_gpus_are_shared_out() -> None:
    case = Case(4, mixed(12), 6000)
    outcome = World(case).run()
    assert 12 <= outcome.loads <= 18
    assert outcome.seconds <= 1.25 * case.ideal_s


@pytest.mark.parametrize("delay_s", [0.0, 2.0])
def test_late_reports_neither_starve_an_engine_nor_move_it_about(delay_s: float) -> None:
    """Judges alternate with the models that they judge; nothing may be lost or go in circles."""
    case = Case(2, mixed(5), 1000, referees=1, patience_s=1000.0, delay_s=delay_s)
    outcome = World(case).run()
    assert outcome.longest_wait <= case.patience_s
    assert outcome.loads <= 10
    assert outcome.loads + outcome.wakes <= 25


def test_no_engine_waits_longer_than_patience_though_all_have_work_for_longer() -> None:
    case = Case(2, mixed(8), 5000, patience_s=1800.0)
    outcome = World(case).run()
    assert outcome.seconds > 1.5 * case.patience_s
    assert outcome.longest_wait <= case.patience_s
