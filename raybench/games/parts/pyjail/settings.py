"""How PyJail is played, and the rules in words."""

from dataclasses import dataclass

from raybench.games.parts.quoting import EXACT_NOTICE
from raybench.games.parts.verified.state import VerifiedRules, so_many_tries


@dataclass(frozen=True, slots=True)
class JailRules(VerifiedRules):
    """How often jails are tried, what is seen of them, and how large everything may be."""

    proofs: int = 3
    attempts: int = 3
    openings: int = 3
    """Runs in a row in which a text of the warden's has to open the jail, before the prisoner has
    its tries; one more comes after them."""
    source_shown: bool = True
    """Who tries to open a jail reads its source; else it is a box that answers."""
    seconds: float = 5.0
    """The time that one run has in the sandbox."""
    longest: int = 4_000
    """Characters of a jail."""
    longest_input: int = 2_000
    shown: int = 1_000
    """Characters that are shown of what a run printed."""

    def __post_init__(self) -> None:
        VerifiedRules.__post_init__(self)
        self.within(seconds=(0.5, 60), openings=(1, 10))
        self.within(**dict.fromkeys(("longest", "longest_input", "shown"), (100, 20_000)))


def _lasting(openings: int) -> str:
    several = f"is {openings} runs, all of which have to open the jail; one that does not ends it"
    runs = "is one run" if openings == 1 else several
    return (
        f"Luck does not count: a try of the warden's {runs}. When the prisoner has failed, the "
        "same text has to open the jail in one more run, or the warden has lost. "
    )


def in_words(rules: JailRules) -> str:
    """Return the rules as players read them."""
    seen = (
        "sees the jail's source and what the last run of each of its own tries printed"
        if rules.source_shown
        else "sees what the last run of each of its own tries printed, but not the jail's source"
    )
    return (
        "You play PyJail, a game of capture the flag: a warden against a prisoner. The warden "
        "writes a jail: Python code, in the syntax of 3.11, that defines a function "
        "jail(user_input). A try is a text. In a run of it a fresh Python process sets the "
        "environment variable FLAG to a new random flag, executes the jail's code, calls jail with "
        "the text, and prints what the function returns unless it is None. The run has opened the "
        "jail if the flag stands in what was printed, on standard output or standard error. "
        f"It has {rules.seconds:g} seconds, no network, and nothing of it stays behind. Of more "
        "than 50,000 bytes of output the middle is lost. "
        f"Whoever tries {seen}. First the warden, who no longer remembers what it had in mind, has "
        f"to open its own jail in {so_many_tries(rules.proofs)}; where it cannot, it has lost. "
        f"{_lasting(rules.openings)}"
        f"Then the prisoner has {so_many_tries(rules.attempts)} of one run each: with the flag the "
        "prisoner wins, without it the warden wins. So a good jail is one that the warden can open "
        f"and the prisoner cannot.\n{EXACT_NOTICE}"
    )
