"""The report of where the time of the suite goes, and what makes a test impure."""

import time

import pytest
import tiers
from durations import Measurement, Observed, summary_lines


def test_the_report_adds_up_by_phase_kind_and_file() -> None:
    rows = [
        Measurement("a.py::one", "pure", "setup", "passed", 1.0, 0.5, 0.0),
        Measurement("a.py::one", "pure", "call", "passed", 2.0, 1.0, 0.0),
        Measurement("b.py::two", "ray", "call", "passed", 4.0, 0.5, 0.0),
    ]
    lines = [line.split() for line in summary_lines(rows, [(1.0, 1.0), (2.0, 1.0)], 6.0)]
    assert ["3.0", "2.0", "collection"] in lines
    assert ["6.0", "1.5", "2", "call"] in lines
    assert ["3.0", "1.5", "1", "pure"] in lines
    assert ["4.0", "0.5", "1", "b.py"] in lines
    assert ["10.0", "4.0", "2", "total"] in lines
    assert ["6.0", "elapsed"] in lines


def test_sleeps_are_recorded() -> None:
    observed = Observed()
    slept: list[float] = []
    observed.record_sleeps(slept.append)(0.5)
    assert slept == [0.5] and observed.slept == 0.5


@pytest.mark.parametrize(("programs", "slept"), [(["git"], 0.0), ([], 0.3)])
def test_a_test_that_starts_a_program_or_sleeps_is_not_pure(
    programs: list[str], slept: float
) -> None:
    assert tiers.impurity(programs, slept)
    assert tiers.impurity([], 0.1) is None


def test_this_suite_records_sleeps() -> None:
    assert time.sleep.__name__ == "recording_sleep"
