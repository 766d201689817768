"""What variants need not ask, because another one did: one journal of replies for all."""

from collections.abc import Mapping, Sequence
from typing import Any

from raybench.arena.known import Known
from raybench.autobench.steps import Reply
from raybench.experiments.autobench.reuse import Kept
from raybench.pipeline.journal import Journal

NAME = "variant"
"""The field by which lines of the journals say whose they are."""


class Shared:
    """What the journal of replies holds, by variant: of each what it asked, and what that took."""

    def __init__(self, variants: Sequence[str]) -> None:
        # Replies to iterations that are done are of use to the variants that follow.
        self.of = {name: Kept(0) for name in variants}

    def enter(self, record: Mapping[str, Any]) -> None:
        """Take a line of the journal."""
        self.of[record[NAME]].enter(record)

    def known(self, variant: str, earlier: Mapping[str, Reply]) -> Known:
        """Return what a variant need not ask: its own, the others', and those of another run."""
        others: dict[str, Reply] = {}
        for name, kept in self.of.items():
            if name != variant:
                others |= kept.replies
        return Known(self.of[variant].replies, earlier, others)


class Shelf:
    """A variant's part of the journal of replies."""

    def __init__(self, journal: Journal, variant: str) -> None:
        self._journal = journal
        self._variant = variant

    def extend(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Keep lines, each with the variant's name."""
        self._journal.extend([{NAME: self._variant, **record} for record in records])
