"""What a person is told of the replies of an assessment."""

from typing import cast

from statements import values

from raybench.autobench.steps import Reply
from raybench.experiments.autobench.headway import Headway
from raybench.experiments.parts.session import Session


class Heard:
    """A session that only remembers what it was told."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.shares: list[float] = []
        self.spent: list[dict[str, int]] = []

    def phase(self, name: str) -> None:
        self.phases.append(name)

    def reached(self, share: float) -> None:
        self.shares.append(share)

    def spend(self, **counts: int) -> None:
        self.spent.append(counts)


def test_known_replies_count_but_say_nothing_of_the_pace() -> None:
    heard = Heard()
    headway = Headway(cast(Session, heard), 1_210)
    headway.known(210)
    came = Reply("yes", prompt_tokens=3, output_tokens=2)
    failed = Reply(None, finish="error", prompt_tokens=3)
    headway.asked([came, failed] * 250)
    assert [values(it) for it in heard.phases] == [
        {"replies": 210, "least": 1210},
        {"replies": 710, "least": 1210},
    ]
    assert heard.shares == [0.0, 0.5]
    assert heard.spent == [{"prompt_tokens": 1_500, "output_tokens": 500, "errors": 250}]


def test_all_known_is_no_division_by_nothing() -> None:
    heard = Heard()
    Headway(cast(Session, heard), 12).known(12)
    assert heard.shares == [0.0]
