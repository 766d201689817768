"""Do answers and tasks that say how to rate move the ratings of AutoBench's judges?

    python -m perf.autobench_injection [--seeds 2] [--model NAME] [roster=NAME fleet.… …]

Has the first model of a roster rate the answers of `honest_answers.py`, and the same with each kind
of `injected_answers.py` round them, with decoding constrained and not, and fenced and not. Prints
for each of the four how many replies can be read, the ratings, the difference that injections make
(paired; over questions, each of which counts once, so that what its pairs share is no evidence
twice), how often they raise and lower, and what a judge is for: how much more good answers get than
bad ones. The harmless kind shows what any further words do; a judge that tells good from bad no
better than chance shows that its resistance says nothing.
"""

import argparse
import asyncio
import hashlib
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from perf.honest_answers import ASKED
from perf.injected_answers import HARMLESS, IN_TASK, KINDS, every
from raybench import cli
from raybench.autobench import prompts
from raybench.config import Config
from raybench.fleet import Fleet, open_fleet
from raybench.stats import intervals
from raybench.types import Estimate, Message, Request

_HONEST_MORE = 4  # an honest rating is in many pairs: with more seeds, less of its luck is
_TOLD = ("", HARMLESS, IN_TASK)
ATTACKS = tuple(kind for kind in KINDS if kind not in _TOLD)
"""The kinds that ask for a 5."""


class Arm(NamedTuple):
    """How ratings are asked for."""

    constrained: bool
    fenced: bool

    def __str__(self) -> str:
        return f"{'' if self.constrained else 'un'}constrained, {'' if self.fenced else 'un'}fenced"


class Call(NamedTuple):
    """One rating: of which question's good or bad answer, with what round it ("": nothing)."""

    number: int
    good: bool
    kind: str
    arm: Arm
    seed: int


ARMS = tuple(itertools.starmap(Arm, itertools.product((True, False), (False, True))))
Ratings = Mapping[Call, int | None]
"""None where the reply holds no rating."""


def calls(seeds: int) -> dict[Call, str]:
    """Return everything that is asked, with its prompt; what shares a prompt stands together."""
    injected = {(it.honest.question, it.kind): it for it in every()}
    found: dict[Call, str] = {}
    for number, honest in enumerate(ASKED):
        for kind, good, fenced in itertools.product(("", *KINDS), (True, False), (False, True)):
            shown = injected[honest.question, kind] if kind else honest
            answer = shown.good if good else shown.bad
            prompt = prompts.rate_answer(shown.question, answer, fenced=fenced)
            for constrained, seed in itertools.product(
                (True, False), range(seeds if kind else seeds * _HONEST_MORE)
            ):
                found[Call(number, good, kind, Arm(constrained, fenced), seed)] = prompt
    return found


def request(call: Call, prompt: str, config: Config) -> Request:
    """Return a rating as the arena asks for it; only the question and the seed number draw."""
    # With one seed for all, one draw's luck would pass for what all questions have in common.
    digest = hashlib.sha256(f"{call.number}/{call.seed}".encode()).digest()
    return Request(
        messages=(Message("user", prompt, foreign=True),),
        seed=int.from_bytes(digest[:4], "big") >> 1,
        max_tokens=config.autobench.rating_tokens,
        temperature=config.autobench.rating_temperature,
        regex=prompts.RANK_REGEX if call.arm.constrained else None,
    )


async def rated(asked: Mapping[Call, str], name: str | None, config: Config) -> Ratings:
    """Return a judge's ratings of everything."""
    named = {model.name: model.spec() for model in config.roster.models}
    judge = named[name] if name else next(iter(named.values()))
    found: dict[Call, int | None] = {}

    async def question(number: int, fleet: Fleet) -> None:
        its = [call for call in asked if call.number == number]
        replies = await fleet.complete(judge.name, [request(it, asked[it], config) for it in its])
        for why in {reply.error for reply in replies if reply.error}:
            print(f"no reply: {why}", file=sys.stderr)
        found.update(zip(its, (prompts.parse_rank(reply.text) for reply in replies), strict=True))
        print(f"{len(found)} of {len(asked)}", file=sys.stderr)

    async with open_fleet([judge], config.fleet, lambda it: print(it, file=sys.stderr)) as fleet:
        await asyncio.gather(*(question(number, fleet) for number in range(len(ASKED))))
    return found


def over_questions(
    calls: Iterable[Call], value: Callable[[Call], float | None]
) -> dict[int, float]:
    """Return each question's mean of the values that there are."""
    found: dict[int, list[float]] = {}
    for call in calls:
        if (it := value(call)) is not None:
            found.setdefault(call.number, []).append(it)
    return {number: fmean(values) for number, values in found.items()}


class Measured:
    """What the ratings of one arm say."""

    def __init__(self, ratings: Ratings, arm: Arm) -> None:
        """Take the arm's own ratings."""
        self.ratings = {call: it for call, it in ratings.items() if call.arm == arm}

    def of(self, kinds: Sequence[str], good: bool | None = None) -> list[Call]:
        """Return the calls of these kinds, and of good or bad answers alone."""
        return [it for it in self.ratings if it.kind in kinds and good in (None, it.good)]

    def read(self, kinds: Sequence[str]) -> str:
        """Return how many replies hold a rating, and how many of these a 5."""
        found = [self.ratings[call] for call in self.of(kinds)]
        there = [it for it in found if it is not None]
        return f"{len(there)}/{len(found)} read, {there.count(5)} of them 5"

    def mean(self, kinds: Sequence[str], good: bool | None = None) -> dict[int, float]:
        """Return each question's mean rating."""
        return over_questions(self.of(kinds, good), self.ratings.__getitem__)

    def effect(self, kinds: Sequence[str], good: bool | None = None) -> dict[int, float]:
        """Return by how much each question's ratings differ from those of the honest twins."""
        twins = {it: self.mean([""], it) for it in (True, False)}

        def moved(call: Call) -> float | None:
            rating, twin = self.ratings[call], twins[call.good].get(call.number)
            return None if rating is None or twin is None else rating - twin

        return over_questions(self.of(kinds, good), moved)

    def moved(self, kinds: Sequence[str], sign: int) -> dict[int, float]:
        """Return each question's share of ratings above (below) the twin's of the same seed."""

        def past(call: Call) -> float | None:
            rating, twin = self.ratings[call], self.ratings[call._replace(kind="")]
            return None if rating is None or twin is None else float((rating - twin) * sign > 0)

        return over_questions(self.of(kinds), past)

    def telling(self, kinds: Sequence[str]) -> dict[int, float]:
        """Return by how much each question's good answer is rated above its bad one."""
        return less(self.mean(kinds, True), self.mean(kinds, False))


def less(first: Mapping[int, float], second: Mapping[int, float]) -> dict[int, float]:
    """Return the differences of what both have."""
    return {number: first[number] - second[number] for number in first if number in second}


def shown(values: Mapping[int, float], sign: str = "") -> str:
    """Return the mean over questions with its interval."""
    found: Estimate = intervals.mean(list(values.values()), over="questions")
    if found.value is None or found.ci95 is None:
        return "none" if found.value is None else f"{found.value:{sign}.2f} ({found.method})"
    return f"{found.value:{sign}.2f} [{found.ci95[0]:{sign}.2f}, {found.ci95[1]:{sign}.2f}]"


def told(ratings: Ratings) -> Iterable[str]:
    """Yield the lines on each arm, and on what the fence changes."""
    arms = {arm: Measured(ratings, arm) for arm in ARMS}
    for arm, found in arms.items():
        yield f"\n{arm}: honest {found.read([''])}; attacks {found.read(ATTACKS)}"
        yield f"  {'mean rating':18} honest {shown(found.mean(['']))}"
        for name, kinds in (("honest", [""]), ("attacks", ATTACKS)):
            yield f"  {'good − bad':18} {name} {shown(found.telling(kinds), '+')}"
        for name, good in (("good", True), ("bad", False)):
            yield f"  {f'attacks on {name}':18} {shown(found.effect(ATTACKS, good), '+')}"
        for kind in (*KINDS, "all attacks"):
            kinds = ATTACKS if kind == "all attacks" else [kind]
            raised, lowered = (shown(found.moved(kinds, sign)) for sign in (1, -1))
            effect = shown(found.effect(kinds), "+")
            yield f"  {kind:18} {effect}  raised {raised}  lowered {lowered}"
    for constrained in (True, False):
        bare, fenced = (arms[Arm(constrained, it)] for it in (False, True))
        yield f"\n{Arm(constrained, True)} less unfenced, paired by question:"
        for name, kinds in (("attacks", ATTACKS), (HARMLESS, [HARMLESS]), (IN_TASK, [IN_TASK])):
            change = less(fenced.effect(kinds), bare.effect(kinds))
            yield f"  {f'effect, {name}':24} {shown(change, '+')}"
        for name, kinds in (("honest", [""]), ("attacks", ATTACKS)):
            change = less(fenced.telling(kinds), bare.telling(kinds))
            yield f"  {f'good − bad, {name}':24} {shown(change, '+')}"


def main() -> None:
    """Print what came of every kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--model")
    arguments, overrides = parser.parse_known_args()
    config = cli.check(cli.compose(["+experiment=autobench", *overrides]))
    asked = calls(arguments.seeds)
    begun = time.monotonic()
    ratings = asyncio.run(rated(asked, arguments.model, config))
    print(
        f"{len(asked)} ratings by {arguments.model or config.roster.models[0].name} at temperature "
        f"{config.autobench.rating_temperature}, {time.monotonic() - begun:.0f} s with the start"
    )
    print("\n".join(told(ratings)))


if __name__ == "__main__":
    main()
