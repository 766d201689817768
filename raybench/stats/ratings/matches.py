"""A match as every rating sees it: sides, each with its place, and what is drawn together."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from raybench.errors import ConfigurationError, Problem


class Player(NamedTuple):
    """A model in a role; '' is no role."""

    model: str
    role: str = ""


class Side(NamedTuple):
    """What wins or loses together, one player or a team, and its place: the lower, the better."""

    players: tuple[Player, ...]
    place: float


Match = tuple[Side, ...]
Bundle = tuple[tuple[Match, int], ...]
"""Matches that are not independent, each with how often it was played: the bootstrap draws all."""
Bundles = Counter[Bundle]
"""How often each bundle was found. Matches that are alike are fitted as one with a count."""
Entry = TypeVar("Entry", bound=Hashable)


def bundled(
    entries: Iterable[Entry],
    clusters: Sequence[Hashable] | None,
    match: Callable[[Entry], Match],
) -> Bundles:
    """Count what was played, by cluster where there are any; `match` reads an entry.

    Each distinct entry is read once, however often it was played.
    """
    if clusters is None:
        counted = Counter(entries)
        return _summed((((match(entry), 1),), times) for entry, times in counted.items())
    listed = list(entries)
    if len(listed) != len(clusters):
        raise ConfigurationError(
            Problem(
                "ratings.invalid",
                f"There are {len(listed)} results and {len(clusters)} clusters",
                setting="clusters",
                fix="Give one cluster for each result, in the same order, or none at all.",
            )
        )
    read = {entry: match(entry) for entry in set(listed)}
    by_cluster: dict[Hashable, Counter[Match]] = {}
    for entry, cluster in zip(listed, clusters, strict=True):
        by_cluster.setdefault(cluster, Counter())[read[entry]] += 1
    return _summed((tuple(sorted(them.items())), 1) for them in by_cluster.values())


def models_of(match: Match) -> set[str]:
    """Return who played."""
    return {player.model for side in match for player in side.players}


def kept(bundles: Bundles, keep: Callable[[Match], Iterable[Match]]) -> Bundles:
    """Return bundles with each match replaced by what is kept of it; none are lost, only emptied.

    An empty bundle still is one that can be drawn: how many of the others are, is chance, too.
    """

    def reduced(bundle: Bundle) -> Bundle:
        parts: Counter[Match] = Counter()
        for match, times in bundle:
            for part in keep(match):
                parts[part] += times
        return tuple(sorted(parts.items()))

    return _summed((reduced(bundle), times) for bundle, times in bundles.items())


def played(games: Mapping[str, Bundles]) -> dict[str, int]:
    """Return how many matches each model played."""
    found: Counter[str] = Counter()
    for bundles in games.values():
        for bundle, many in bundles.items():
            for match, times in bundle:
                for name in models_of(match):
                    found[name] += many * times
    return dict(sorted(found.items()))


def matches(games: Mapping[str, Bundles]) -> dict[str, int]:
    """Return how many matches each game has."""
    return {
        game: sum(many * times for bundle, many in it.items() for _, times in bundle)
        for game, it in games.items()
    }


def teams_in(games: Mapping[str, Bundles]) -> bool:
    """Tell whether any side has more than one player."""
    return any(
        len(side.players) > 1
        for bundles in games.values()
        for bundle in bundles
        for match, _ in bundle
        for side in match
    )


def _summed(found: Iterable[tuple[Bundle, int]]) -> Bundles:
    total: Bundles = Counter()
    for bundle, times in found:
        total[bundle] += times
    return total
