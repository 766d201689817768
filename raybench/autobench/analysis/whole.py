"""Everything that is made of a journal's ratings, made once for results and report."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from raybench.autobench.analysis.ballots import ballots
from raybench.autobench.analysis.echoes import Echoes, echoes
from raybench.autobench.analysis.external import Compared, compared
from raybench.autobench.analysis.resample import DRAWS, Resampled, draws_of, resampled
from raybench.autobench.analysis.tables import Table
from raybench.autobench.analysis.variants import Variant, variants
from raybench.autobench.settings import Settings

ALONE: Mapping[str, str] = MappingProxyType({})
"""No model is related to another."""


@dataclass(frozen=True, eq=False)
class Analysed:
    """What the ratings say."""

    found: Resampled
    """The assessment as run, and along the draws."""
    families: Mapping[str, str]
    echoes: Echoes
    tables: tuple[Table, ...] = ()
    variants: tuple[Variant, ...] = ()
    """The assessment as run first; empty without a table to compare them with."""
    compared: tuple[Compared, ...] = ()


def analysed(
    records: Iterable[Mapping[str, Any]],
    settings: Settings,
    *,
    tables: Sequence[Table] = (),
    families: Mapping[str, str] = ALONE,
    draws: int = DRAWS,
) -> Analysed:
    """Analyse a journal; `families` has the family of each judge, itself where it has none."""
    held = ballots(records, settings)
    drawn = draws_of(held, draws, seed=settings.seed)
    found = resampled(held, settings.weights, drawn)
    others = variants(found, settings, drawn) if tables else ()
    return Analysed(
        found,
        families,
        echoes(found, drawn, families, seed=settings.seed),
        tuple(tables),
        others,
        compared(others, tables, seed=settings.seed),
    )
