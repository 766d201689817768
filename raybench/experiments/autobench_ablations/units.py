"""All iterations of all variants, for the report's reader: what each made of the same task."""

from collections.abc import Iterator, Sequence

from raybench.experiments.autobench.units import Part, side_by_side
from raybench.experiments.autobench_ablations.comparison import Played
from raybench.tracking.report import Units


def units(played: Sequence[Played]) -> Units:
    """Return the iterations of variants, in the order in which they were played."""
    return side_by_side(lambda: [[*_parts(played)]], ["variant"], "journal/iterations.jsonl")


def _parts(played: Sequence[Played]) -> Iterator[Part]:
    """Yield the variants. One is played to its end before the next one begins."""
    before = 0
    for it in played:
        lines = range(before + 1, before + len(it.records) + 1)
        yield Part(it.name, {"variant": it.label}, it.records, it.settings, lines)
        before += len(it.records)
