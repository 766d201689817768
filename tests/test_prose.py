"""The number of comparisons with prose never rises."""

import prose
import pytest


def test_no_file_compares_more_prose_than_before() -> None:
    counts, allowed = prose.counted(), prose.allowed()
    print(f"{sum(counts.values()):,} comparisons with prose in {len(counts)} files")
    grown = {
        name: (allowed.get(name, 0), number)
        for name, number in counts.items()
        if number > allowed.get(name, 0)
    }
    if grown:
        told = "\n".join(f"  {name}: {was} -> {now}" for name, (was, now) in grown.items())
        pytest.fail(
            f"comparisons with prose (see tests/prose.py):\n{told}\nAssert on codes, settings, "
            "numbers or keys; `python tests/prose.py` writes the numbers anew",
            pytrace=False,
        )
