"""How reliably models move: what was valid, what was tried again, what was forfeited."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raybench.tournament import votes
from raybench.tournament.records import Match
from raybench.tournament.shares import Share
from raybench.types import Counts, Estimate

REPLIED = ("forfeit", votes.MISSING)
"""Kinds of failures that do not tell of requests without a reply."""


@dataclass
class Reliability:
    """One model's replies, in all matches or in those of one game."""

    matches: int = 0
    void: int = 0
    """Matches that did not count, because this model could not be reached."""
    failed: int = 0
    """Requests that got no reply, as a juror too, and in attempts at matches that were given up."""
    moves: int = 0
    invalid: int = 0
    truncated: int = 0
    unparsed: int = 0
    """Whole replies in which no move was found, legal or not."""
    forfeits: Counter[str] = field(default_factory=Counter)
    """By their reason, one for each seat; of matches that counted."""
    seconds: float = 0.0
    tokens: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Why replies held no valid move: the commonest reasons of each match."""
    hits: Share = field(default_factory=Share)
    """Of replies, those that hold a valid move."""
    lost: Share = field(default_factory=Share)
    """Of matches that counted, those that it forfeited, in one seat or more."""

    @property
    def replies(self) -> int:
        """Return how often it replied."""
        return self.moves + self.invalid

    @property
    def valid(self) -> Estimate:
        """Return the share of replies that hold a valid move."""
        return self.hits.estimate("replies")

    @property
    def forfeited(self) -> Estimate:
        """Return the share of matches that it forfeited, be it in several seats."""
        return self.lost.estimate("matches")


def reliability(matches: Iterable[Match], models: Sequence[str]) -> dict[str, Reliability]:
    """Return how reliable each model is."""
    found = {model: Reliability() for model in models}
    for match in matches:
        if match.missing in found:
            found[match.missing].void += 1
        for model, count in match.failed.items():
            if model in found:  # and no juror who plays nowhere
                found[model].failed += count
        for model, roles in _seated(match).items():
            of = found[model]
            efforts = [match.efforts[role] for role in roles]
            turns, invalid = sum(it.turns for it in efforts), sum(it.invalid for it in efforts)
            of.hits.add(match.drawn_with, turns, turns + invalid)
            forfeits = [it.reason for it in match.forfeits if it.role in roles]
            if match.void is None:
                of.matches += 1
                of.lost.add(match.drawn_with, bool(forfeits))
                of.forfeits.update(forfeits)
            of.moves += turns
            of.invalid += invalid
            of.truncated += sum(it.truncated for it in efforts)
            of.unparsed += sum(it.unparsed for it in efforts)
            of.seconds += sum(it.seconds for it in efforts)
            of.tokens += sum(it.tokens for it in efforts)
            for role, why, count in match.errors:
                if role in roles:
                    of.reasons[why] += count
    return found


def counts(found: Mapping[str, Reliability], matches: Iterable[Match]) -> dict[str, Counts]:
    """Return what became of each model's replies, as results show it beside every score.

    A reply is counted once: truncated, or whole and no move to be found in it (unparsed), or ok,
    be its move legal or not. The share of valid moves is a number of its own.
    """
    missing: Counter[str] = Counter()
    for match in matches:
        for model in {*match.fixture.seats}:
            missing[model] += match.votes_missing
    return {
        model: Counts(
            ok=of.replies - of.truncated - of.unparsed,
            truncated=of.truncated,
            unparsed=of.unparsed,
            infra_error=of.failed,
            judge_error=missing[model],
        )
        for model, of in found.items()
    }


def failures(matches: Iterable[Match]) -> Iterator[dict[str, object]]:
    """Yield the matches that need a person's eye, and why."""
    for match in matches:
        about = {"match": match.number, "game": match.fixture.game}
        for lost in match.given_up:
            yield {**about, "model": lost.missing or "", "kind": "begun anew", "why": lost.void}
        if match.void is not None:
            yield {**about, "model": match.missing or "", "kind": "void", "why": match.void}
        for forfeit in match.forfeits:
            last = match.last.get(forfeit.role)
            yield {
                **about,
                "model": match.seats[forfeit.role],
                "kind": "forfeit",
                "why": forfeit.why + (f"; the last reply: {last}" if last else ""),
            }
        yield from votes.failures(match.votes_lost, about)


def _seated(match: Match) -> dict[str, list[str]]:
    """Return the roles of each model of a match."""
    found: dict[str, list[str]] = {}
    for role, model in match.seats.items():
        found.setdefault(model, []).append(role)
    return found
