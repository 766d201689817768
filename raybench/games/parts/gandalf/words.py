"""The passwords: English words of our own choosing, one a line in `words.txt`.

They have 7 to 12 letters, so that no initials come to one by chance, and are no words that a talk
about anything else needs.
"""

from functools import cache
from importlib.resources import files

SHORTEST, LONGEST = 7, 12


@cache
def passwords() -> tuple[str, ...]:
    """Return every password, in order."""
    return tuple(files(__package__).joinpath("words.txt").read_text(encoding="utf-8").split())
