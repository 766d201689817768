"""How far the replies of an assessment have come: whoever waits for them is told."""

from collections.abc import Collection

from raybench.autobench.steps import Reply
from raybench.experiments.parts.session import Session
from raybench.statements import Statement


class Headway:
    """Known replies count as done, but say nothing about the pace: they took no time."""

    def __init__(self, session: Session, least: int) -> None:
        """`least` is how many replies there have to be, known ones included."""
        self._session = session
        self._least = least
        self._known = self._asked = 0

    def waits(self, why: str) -> None:
        """Tell what is being waited for."""
        self._session.phase(why)

    def known(self, count: int) -> None:
        """Count replies that need not be asked for."""
        self._known += count
        self._tell()

    def asked(self, replies: Collection[Reply]) -> None:
        """Count replies that came now."""
        self._asked += len(replies)
        self._tell()
        self._session.spend(
            prompt_tokens=sum(it.prompt_tokens for it in replies),
            output_tokens=sum(it.output_tokens for it in replies),
            errors=sum(it.finish == "error" for it in replies),
        )

    def _tell(self) -> None:
        # Where all iterations are under way at once, none is done for long.
        self._session.phase(
            Statement(
                "headway.replies",
                "{replies:,} replies of at least {least:,}",
                replies=self._known + self._asked,
                least=self._least,
            )
        )
        self._session.reached(self._asked / max(1, self._least - self._known))
