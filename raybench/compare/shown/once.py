"""What several pairs have to say alike, said once."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from raybench.compare.found import Concluded, Setting
from raybench.compare.shown.words import lost_of, told_of

_EVERYWHERE = "of all pairs"
_NAMED = 4
"""Pairs named one by one; of more, how many there are."""
Said = TypeVar("Said", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Own:
    """What is said of one pair alone."""

    notes: Sequence[str]
    settings: Sequence[Setting]


@dataclass(frozen=True, slots=True)
class Shared(Generic[Said]):
    """Something that is so of several pairs."""

    what: Said
    of: str
    """'of all pairs', or of which."""

    @property
    def told(self) -> str:
        """Return it as a sentence that says of which pairs it is so."""
        text = str(self.what)
        return f"{text.removesuffix('.')} ({self.of}){'.' * text.endswith('.')}"

    @property
    def everywhere(self) -> bool:
        """Tell whether it is so of all pairs."""
        return self.of == _EVERYWHERE


@dataclass(frozen=True, slots=True)
class Once:
    """All that is said of a comparison beside its numbers, each thing in one place."""

    notes: Sequence[Shared[str]]
    settings: Sequence[Shared[Setting]]
    own: Sequence[Own]
    """Of each pair, in their order."""


def once(found: Sequence[Concluded]) -> Once:
    """Return what is said of all pairs."""
    notes = [list(dict.fromkeys([*told_of(it), *it.compared.notes])) for it in found]
    settings = [list(dict.fromkeys(it.compared.settings)) for it in found]
    many, differ = _shared(notes, found), _shared(settings, found)
    said, set_ = {it.what for it in many}, {it.what for it in differ}
    return Once(
        many,
        differ,
        [
            Own(
                [*(it for it in of if it not in said), *lost_of(pair)],
                [it for it in told if it not in set_],
            )
            for pair, of, told in zip(found, notes, settings, strict=True)
        ],
    )


def _shared(each: Iterable[Sequence[Said]], found: Sequence[Concluded]) -> list[Shared[Said]]:
    """Return what more than one has, in the order in which it comes up."""
    who: dict[Said, list[Concluded]] = {}
    for pair, told in zip(found, each, strict=True):
        for it in told:
            who.setdefault(it, []).append(pair)
    return [Shared(it, _of(of, found)) for it, of in who.items() if len(of) > 1]


def _of(those: Sequence[Concluded], found: Sequence[Concluded]) -> str:
    """Say of which pairs something is so: of all, of all of some parts, or of whom."""
    models = _by_part(it for it in found if it.scores)
    own = _by_part(those)
    if all(len(own.get(part, ())) >= len(of) for part, of in models.items()):
        return _EVERYWHERE
    if all(part and len(of) == len(models.get(part, ())) for part, of in own.items()):
        return f"of all pairs of {', '.join(own)}"
    if len(those) > _NAMED:
        return f"of {len(those)} pairs"
    return f"of {'; '.join(dict.fromkeys(it.compared.pair.short for it in those))}"


def _by_part(pairs: Iterable[Concluded]) -> dict[str, list[Concluded]]:
    by: dict[str, list[Concluded]] = {}
    for it in pairs:
        by.setdefault(it.compared.pair.part, []).append(it)
    return by
