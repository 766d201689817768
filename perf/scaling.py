"""How a tournament grows with the nodes of a cluster: rates on 1, 2 and 4 raylets, in one run.

    PYTHONPATH=. python -m perf.scaling                 four minutes
    PYTHONPATH=. python -m perf.scaling --seconds 4     shorter

Liar's dice between stand-ins of which each takes 50 ms for a move, 16 matches at once for each
node (`--each`), so that four nodes ask for a quarter of what two cores can compute. Efficiency is
the rate by what so many nodes would make of the rate of one. All raylets share this machine's
processors, so that what they compute (prompts, replies read, journals, Ray's own work) is paid for
by one machine, however many there are: more than some 5,000 moves a second no two cores make. Each
number is a median over rounds, in turn. PYTHONPATH has to name this checkout: Ray's workers import
it, too. Exit code 1 where an efficiency is below `LEAST`.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from perf.games_pool import with_latency

LEAST = 0.9
_EACH = 16
_NODES = (1, 2, 4)
_ROW = "{:>6} {:>8} {:>9} {:>11} {:>17}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of each")
    parser.add_argument("--each", type=int, default=_EACH, help="matches at once, of a node")
    asked = parser.parse_args()
    rates: dict[int, list[float]] = {count: [] for count in _NODES}
    for _ in range(asked.rounds):
        for count in _NODES:
            with nodes(count):
                rates[count].append(with_latency(asked.each * count, asked.seconds, count))
    print(_ROW.format("nodes", "at once", "moves/s", "efficiency", "rounds"))
    one, worst = statistics.median(rates[1]), 1.0
    for count in _NODES:
        shares = sorted(rate / (count * one) for rate in rates[count])
        spread = f"{shares[0]:.3f}-{shares[-1]:.3f}"
        rate, share = statistics.median(rates[count]), statistics.median(shares)
        print(_ROW.format(count, asked.each * count, f"{rate:,.0f}", f"{share:.3f}", spread))
        worst = min(worst, share)
    sys.exit(worst < LEAST)


@contextmanager
def nodes(count: int) -> Iterator[None]:
    """Have a cluster of so many raylets, which this process has joined."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"include_dashboard": False})
    try:
        for _ in range(count - 1):
            cluster.add_node()
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main()
