"""What a game may need from outside before it can go on: it asks the manager, who brings it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Jury:
    """Opinions are wanted: every juror is asked each of the prompts, which know of no other.

    The manager's move is JSON: {"votes": [{"juror": NAME, "replies": [TEXT or null, …]}, …]}, with
    a reply for each prompt; null where a juror gave none. Where one is missing or was cut, the vote
    has "why" too: [TEXT or null, …], the reason for each reply.
    """

    prompts: tuple[str, ...]
    schema: Mapping[str, Any]
    """Each reply is JSON of this schema, where an engine can be held to it; a game that reads it
    looks again."""


@dataclass(frozen=True, slots=True)
class Program:
    """The output of a program is wanted, which only the sandbox may run.

    The manager's move is JSON: {"status": …, "stdout": TEXT, "stderr": TEXT, "exit_code": N}, with
    the sandbox's words for the status.
    """

    source: str
    stdin: str = ""
    seconds: float = 5.0
    """The time it has: so much of a processor's, and as much in which it does nothing."""
    secret: str = ""
    """Hexadecimal digits in `stdin` that nobody may foresee, as who knows the seed does: the
    manager draws others for the first place where they stand, and adds {"secret": TEXT}."""


Need = Jury | Program
"""What a game needs from outside before it can go on."""
