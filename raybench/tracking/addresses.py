"""The addresses of units in their run's report: report.html#unit=KEY.

Experiments give them to what they let people read; whoever links there from elsewhere asks here.
Of a run that has several tournaments or assessments, addresses begin with which one it is: `part`.
"""

import re

_BETWEEN = re.compile(r"\W+")


def sample(unit_id: int) -> str:
    """Return the address of a sample, by `raybench.pipeline.units.unit_id`."""
    return f"{unit_id:016x}"


def iteration(number: int, part: str = "") -> str:
    """Return the address of an iteration of the peer protocol."""
    return _within(part, f"iteration-{number}")


def match(number: int, part: str = "") -> str:
    """Return the address of a match."""
    return _within(part, f"match-{number}")


def position(study: int, phase: str, place: int) -> str:
    """Return the address of a held-out position, as one study played it in one phase."""
    return f"study-{study}-{phase}-{place}"


def tournament(cell: str) -> str:
    """Return how addresses of the matches in one wording begin."""
    return cell.replace("/", "-")


def trial(bias: str, seed: object) -> str:
    """Return how addresses of the iterations of a trial begin."""
    return f"{_BETWEEN.sub('_', bias)}-{seed}"


def _within(part: str, address: str) -> str:
    return f"{part}-{address}" if part else address
