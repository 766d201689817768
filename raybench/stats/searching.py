"""Finding the smallest number that is enough."""

from collections.abc import Callable


def least(enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """Return the smallest number from `start` on that is enough; None where that is beyond `most`.

    Whatever is larger than one that is enough is enough.
    """
    low, high = start - 1, start
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
