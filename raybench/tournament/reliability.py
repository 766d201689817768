"""How reliably models move: what was valid, what was tried again, what was forfeited."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from raybench.stats import grouped
from raybench.tournament.records import Match
from raybench.types import Counts, Estimate


@dataclass
class Reliability:
    """One model's replies, in all matches or in those of one game."""

    matches: int = 0
    void: int = 0
    """Matches that did not count, because this model could not be reached."""
    moves: int = 0
    invalid: int = 0
    truncated: int = 0
    forfeits: Counter[str] = field(default_factory=Counter)
    """By their reason, one for each seat; of matches that counted."""
    seconds: float = 0.0
    tokens: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Why replies held no valid move."""
    by_match: list[tuple[int, int, int]] = field(default_factory=list)
    """The seed of each match, moves and invalid replies."""
    lost: list[tuple[int, bool]] = field(default_factory=list)
    """The seed of each match that counted, and whether it forfeited that, in one seat or more."""

    @property
    def replies(self) -> int:
        """Return how often it replied."""
        return self.moves + self.invalid

    @property
    def valid(self) -> Estimate:
        """Return the share of replies that hold a valid move."""
        hits = [
            hit for _, moves, invalid in self.by_match for hit in [1.0] * moves + [0.0] * invalid
        ]
        seeds = [seed for seed, moves, invalid in self.by_match for _ in range(moves + invalid)]
        return grouped.share(np.array(hits), _numbered(seeds), over="replies", by="seed")

    @property
    def forfeited(self) -> Estimate:
        """Return the share of matches that it forfeited, be it in several seats."""
        hits = np.array([float(lost) for _, lost in self.lost])
        groups = _numbered([seed for seed, _ in self.lost])
        return grouped.share(hits, groups, over="matches", by="seed")


def reliability(matches: Iterable[Match], models: Sequence[str]) -> dict[str, Reliability]:
    """Return how reliable each model is."""
    found = {model: Reliability() for model in models}
    for match in matches:
        if match.missing in found:
            found[match.missing].void += 1
        for model, roles in _seated(match).items():
            of = found[model]
            efforts = [match.efforts[role] for role in roles]
            turns, invalid = sum(it.turns for it in efforts), sum(it.invalid for it in efforts)
            of.by_match.append((match.fixture.seed, turns, invalid))
            forfeits = [it.reason for it in match.forfeits if it.role in roles]
            if match.void is None:
                of.matches += 1
                of.lost.append((match.fixture.seed, bool(forfeits)))
                of.forfeits.update(forfeits)
            of.moves += turns
            of.invalid += invalid
            of.truncated += sum(it.truncated for it in efforts)
            of.seconds += sum(it.seconds for it in efforts)
            of.tokens += sum(it.tokens for it in efforts)
            of.reasons.update(why for role, why in match.errors if role in roles)
    return found


def counts(found: Mapping[str, Reliability], matches: Iterable[Match]) -> dict[str, Counts]:
    """Return what became of each model's replies, as results show it beside every score."""
    missing: Counter[str] = Counter()
    for match in matches:
        for model in {*match.fixture.seats}:
            missing[model] += match.votes_missing
    return {
        model: Counts(
            ok=of.moves,
            truncated=of.truncated,
            unparsed=of.invalid,
            infra_error=of.void,
            judge_error=missing[model],
        )
        for model, of in found.items()
    }


def failures(matches: Iterable[Match]) -> Iterator[dict[str, object]]:
    """Yield the matches that need a person's eye, and why."""
    for match in matches:
        about = {"match": match.number, "game": match.fixture.game}
        if match.void is not None:
            yield {**about, "model": match.missing or "", "kind": "void", "why": match.void}
        for forfeit in match.forfeits:
            last = [why for role, why in match.errors if role == forfeit.role]
            yield {
                **about,
                "model": match.seats[forfeit.role],
                "kind": "forfeit",
                "why": forfeit.reason + (f"; the last reply: {last[-1]}" if last else ""),
            }
        if match.votes_missing:
            why = f"{match.votes_missing} of {match.votes + match.votes_missing} votes are missing"
            yield {**about, "model": "", "kind": "votes missing", "why": why}


def _numbered(seeds: Sequence[int]) -> grouped.Groups:
    """Return the number of each seed: matches that share one are not independent."""
    numbers = {seed: number for number, seed in enumerate(dict.fromkeys(seeds))}
    return np.array([numbers[seed] for seed in seeds], dtype=np.int64)


def _seated(match: Match) -> dict[str, list[str]]:
    """Return the roles of each model of a match."""
    found: dict[str, list[str]] = {}
    for role, model in match.seats.items():
        found.setdefault(model, []).append(role)
    return found
