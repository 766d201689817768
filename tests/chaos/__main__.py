"""The long form, by hand: python -m tests.chaos --minutes 60 [--seed N] [--only NAME].

Round after round of each scenario, with a schedule of its own each; says what was injected and what
came of it. Exit code 1 where anything was lost, doubled or came out otherwise.
"""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from chaos.rounds import Round, calm, disturbed, figures  # noqa: E402
from chaos.scenarios import SCENARIOS  # noqa: E402
from chaos.schedule import drawn  # noqa: E402
from chaos.world import world  # noqa: E402


def main() -> int:
    """Break things until the time is up; return the exit code."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--minutes", type=float, default=60)
    asked.add_argument("--seed", type=int, default=0, help="of the first round")
    asked.add_argument("--only", choices=SCENARIOS, help="one scenario")
    told = asked.parse_args()
    names = [told.only] if told.only else [*SCENARIOS]
    rounds = list[Round]()
    with world() as here:
        calms = {name: calm(here, SCENARIOS[name], name) for name in names}
        until = time.monotonic() + 60 * told.minutes  # of breaking things
        for seed in range(told.seed, sys.maxsize):
            for name in names:
                if time.monotonic() > until:
                    break
                scenario, folder = SCENARIOS[name], f"{name}-{seed}"
                events = drawn(seed, scenario.faults)
                rounds.append(found := disturbed(here, scenario, calms[name], events, folder))
                print(f"{name}, seed {seed}: {found}", file=sys.stderr, flush=True)
                if found.whole:
                    shutil.rmtree(here.disk / folder)
            else:
                continue
            break
    print(json.dumps(figures(rounds), indent=1))
    return not all(it.whole for it in rounds)


if __name__ == "__main__":
    sys.exit(main())
