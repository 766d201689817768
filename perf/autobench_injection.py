"""Do answers and tasks that say how to rate move the ratings of AutoBench's judges?

    python -m perf.autobench_injection [--seeds 1] [--model NAME] [roster=NAME fleet.… …]

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
from collections.abc import Mapping

from perf.honest_answers import ASKED
from perf.injected_answers import KINDS, every
from perf.injected_ratings import Arm, Call, Ratings, told
from raybench import cli
from raybench.autobench import prompts
from raybench.config import Config
from raybench.fleet import Fleet, open_fleet
from raybench.types import Message, Request

_HONEST_MORE = 4  # an honest rating is in many pairs: with more seeds, less of its luck is


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


def main() -> None:
    """Print what came of every kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
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
