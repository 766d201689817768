"""What few replicates of a simulation can tell of how often intervals hold the truth."""

from scipy import stats


def least_share(trials: int, share: float = 0.95) -> float:
    """Return the share of trials that is reached in 999 of 1,000 cases, where `share` is true."""
    return float(stats.binom.ppf(0.001, trials, share)) / trials
