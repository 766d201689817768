"""Questions that ask again what another asks, in the same words or nearly so.

Two are alike by the share of their shingles (three words in a row, and each option's for itself)
that both have, see `raybench.grading.likeness`; the rarest are looked up first.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from raybench.benchmarks.parts.contract import Row
from raybench.benchmarks.parts.hle import options
from raybench.grading.likeness import Alike, digest, shingles, words

ALIKE = 0.8
"""From here on questions are one. Of 50 words, one that is another leaves 0.89 and two leave 0.79;
of ten, one leaves 0.60: short questions may look alike."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a question says, in whatever case, spacing and punctuation, options in any order."""

    key: str
    shingles: frozenset[str]
    exact: bytes
    """The same for those that say the very same, and for no others."""
    image: bytes = b""
    """Questions of different images are different, whatever they say."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """That a question is there already."""

    of: str
    """The other's id."""
    share: float
    """Of shingles that both have."""
    exact: bool


def said(row: Row) -> Said:
    """Return what a row's question says."""
    parts = options.parted(str(row.get("question") or ""))
    stem, listed = words(parts.stem), sorted(map(words, parts.options))
    # An option's shingles are its own: the one who chooses 'two' has not read 'two' in the stem.
    own = (f"\t{it}" for option in listed for it in shingles(option))
    shown = str(row.get("image") or "").strip()
    return Said(
        str(row.get("id") or "").strip(),
        frozenset([*shingles(stem), *own]),
        digest(repr((stem, listed))),
        digest(shown) if shown else b"",
    )


def find(
    new: Sequence[Said],
    known: Sequence[Said] = (),
    *,
    stays: Sequence[bool] | None = None,
    alike: float = ALIKE,
) -> list[Repeat | None]:
    """Return of each new question what it repeats: the most like it, of these the first.

    All known ones stay, and so do the new ones that repeat none. `stays` is False for new ones that
    are turned down anyhow: nothing is a repeat of these.
    """
    if not 0 < alike <= 1:
        raise ValueError(f"questions are alike from a share above 0 to 1 on, not {alike}")
    index = _Index(alike, Counter(it for each in (*known, *new) for it in each.shingles))
    for each in known:
        index.add(each)
    found = []
    for place, each in enumerate(new):
        found.append(index.like(each))
        if found[-1] is None and (stays is None or stays[place]):
            index.add(each)
    return found


class _Index:
    """Questions that stay, by their rarest shingles."""

    def __init__(self, alike: float, frequency: Counter[str]) -> None:
        # Ties in the order of first sight: the same for the same questions, on every machine.
        ranked = sorted(frequency.items(), key=lambda item: item[1])
        self._rank = {shingle: rank for rank, (shingle, _) in enumerate(ranked)}
        self._kept: list[Said] = []
        self._near: defaultdict[bytes, Alike[int]] = defaultdict(lambda: Alike(alike))
        self._exact: dict[tuple[bytes, bytes], int] = {}

    def add(self, each: Said) -> None:
        self._near[each.image].add(len(self._kept), self._ranks(each))
        self._exact.setdefault((each.image, each.exact), len(self._kept))
        self._kept.append(each)

    def like(self, each: Said) -> Repeat | None:
        if not each.shingles:
            return None  # it says nothing
        if (place := self._exact.get((each.image, each.exact))) is not None:
            return Repeat(self._kept[place].key, 1.0, True)
        near = self._near[each.image].like(self._ranks(each))
        # Negative, so that of those most alike the first is the greatest.
        best = max(((share, -place) for share, place in near), default=None)
        return Repeat(self._kept[-best[1]].key, best[0], False) if best else None

    def _ranks(self, each: Said) -> frozenset[int]:
        return frozenset(self._rank[shingle] for shingle in each.shingles)
