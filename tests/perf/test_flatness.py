"""What counts as flat, of samples made by hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from perf.flatness import SHORT, TOTAL, Rows, Sample, driver, read, table, told

HOURS = 2
MIB = 2**20


def samples(
    role: str, mib: Callable[[float], float], **others: Callable[[float], int]
) -> list[Sample]:
    """Return two hours of a role of two processes, a look a minute; functions are of the hour."""
    found = []
    for minute in range(60 * HOURS + 1):
        hour = minute / 60
        held = {"processes": 2, "files": 40, "threads": 20, "done": 0}
        held |= {name: of(hour) for name, of in others.items()}
        sample = Sample(60.0 * minute, role, pss=int(held["processes"] * mib(hour) * MIB), **held)
        found += [sample, Sample(60.0 * minute, TOTAL, 9, 9 * MIB, 99, 99)]
    return found


def complaints(seen: list[Sample]) -> list[str]:
    found: list[str] = []
    assert [*table(seen, found)]
    return found


@pytest.mark.parametrize(
    "mib",
    [
        lambda hour: 400.0,
        lambda hour: min(400.0, 100 + 1000 * hour),  # it warms up for 18 minutes
        lambda hour: 400 + 15 * hour,  # within 5 %
        lambda hour: 20 + 7 * hour,  # within 8 MiB
        lambda hour: 400 + 100 * (round(60 * hour) % 10 == 0),  # peaks now and then
        lambda hour: 500 - 50 * hour,
    ],
)
def test_flat(mib: Callable[[float], float]) -> None:
    assert complaints(samples("Slot", mib)) == []


@pytest.mark.parametrize("mib", [lambda hour: 400 + 30 * hour, lambda hour: 20 + 12 * hour])
def test_what_grows_for_hours_is_not_flat(mib: Callable[[float], float]) -> None:
    (told_of,) = complaints(samples("Slot", mib))
    assert told_of.startswith("Slot: memory ")


@pytest.mark.parametrize("what", ["files", "threads", "processes"])
def test_neither_are_descriptors_threads_and_processes(what: str) -> None:
    few = {what: lambda hour: 20 + round(2 * hour)}
    many = {what: lambda hour: 20 + round(20 * hour)}
    assert complaints(samples("Slot", lambda hour: 50.0, **few)) == []
    (told_of,) = complaints(
        samples("Slot", lambda hour: 50.0, **{"processes": lambda hour: 1} | many)
    )
    assert " grew from " in told_of


def logs(hour: float) -> int:
    """Twenty minutes to 192, again and again; in the end more of what is seen is high."""
    return 40 + 160 * ((round(60 * hour) + (8 if hour <= 1 else 0)) % 20) // 20


def connections(hour: float) -> int:
    """Some more for half an hour, or some fewer: as many in the warm-up as in the end."""
    return 220 if hour < 0.4 or hour > 1.6 else 200


@pytest.mark.parametrize("count", [logs, connections])
def test_what_rises_and_falls_again_is_told_by_its_peaks(count: Callable[[float], int]) -> None:
    def found(more: int) -> list[str]:
        def files(hour: float) -> int:
            return count(hour) + round(more * hour)

        return complaints(
            samples("raylet", lambda hour: 50.0, files=files, processes=lambda hour: 1)
        )

    assert found(0) == []
    (told_of,) = found(20)
    assert told_of.startswith("raylet: descriptors ")


def test_a_driver_keeps_so_much_of_each_unit_and_no_more() -> None:
    def found(name: str, units_an_hour: int) -> list[str]:
        def done(hour: float) -> int:
            return round(units_an_hour * hour)

        return complaints(
            samples(driver(name), lambda hour: 200 + 30 * hour, processes=lambda hour: 1, done=done)
        )

    assert found("games", 15_000) == []  # 2 KiB each
    assert found("games", 5_000) != []
    assert found("index", 100_000) != []  # 0.3 KiB each, of which there may be millions
    assert found("index", 200_000) == []


def test_drivers_of_short_runs_are_told_in_the_sum_alone() -> None:
    short = samples(SHORT, lambda hour: 100 + 100 * hour)
    assert complaints(short) == []
    (told_of,) = complaints([replace(it, role=TOTAL) for it in short if it.role == SHORT])
    assert told_of.startswith(f"{TOTAL}: memory ")


@pytest.mark.parametrize("what", ["files", "threads", "processes"])
def test_all_together_may_have_a_share_more(what: str) -> None:
    def found(more: int) -> list[str]:
        counts = {what: lambda hour: 1000 + round(more * hour)}
        return complaints(samples(TOTAL, lambda hour: 1.0, **counts)[::2])

    assert found(40) == []
    assert found(80) != []


def test_all_together_is_not_told_from_which_kind_of_short_run_was_there_more_often() -> None:
    def kinds(hour: float) -> int:
        """They alternate, and the many come a little more often in the end."""
        return 84 if round(60 * hour) % 10 < (4 if hour <= 1 else 6) else 75

    def found(processes: Callable[[float], int]) -> list[str]:
        return complaints(samples(TOTAL, lambda hour: 1.0, processes=processes)[::2])

    assert found(kinds) == []
    assert found(lambda hour: kinds(hour) + round(5 * hour)) != []


def test_what_is_left_in_the_folder_is_judged_the_same_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = samples(
        driver("peers"), lambda hour: 200 + 30 * hour, done=lambda hour: round(99 * hour)
    )
    rows = Rows(tmp_path)
    for sample in seen:
        rows.add(sample)
    assert read(tmp_path) == seen
    first: list[str] = []
    told(read(tmp_path), first, tmp_path)
    assert capsys.readouterr().out == (tmp_path / "table.txt").read_text()
    assert first == complaints(seen) != []
    assert (tmp_path / "soak.png").stat().st_size > 1000
