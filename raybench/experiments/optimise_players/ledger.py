"""What there is of a run's studies: what was learned, how held-out positions were played."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from raybench.arena.studies import PHASES, Learned, Marked, Study
from raybench.types import Completion, Retries

JOURNAL = "marks"
_ALWAYS = ("text", "finish")


class Ledger:
    """Reads the journal, and keeps what it says."""

    def __init__(self) -> None:
        self.marks: dict[int, dict[str, dict[int, Marked]]] = {}
        """By study, phase and place."""
        self.states: dict[int, Mapping[str, Any]] = {}
        """What was learned, by study."""
        self.replies: dict[int, dict[str, Completion]] = {}
        """What an optimiser was replied, by study and the digest of the request."""
        self.attempts = Counter[int]()
        """How often an optimiser gave up, by study."""
        self.cached: dict[int, str] = {}
        """Where that was taken from, where it was not learned in this run."""
        self.lines: dict[tuple[int, str, int], int] = {}
        """Where each mark stands in the journal, counted from 1: by study, phase and place."""
        self._read = 0

    def enter(self, line: Mapping[str, Any]) -> None:
        """Take a line of the journal."""
        self._read += 1
        number = int(line["study"])
        if "gave_up" in line:
            self.attempts[number] += 1
            return
        if "request" in line:
            self.replies.setdefault(number, {})[line["request"]] = Completion(**line["reply"])
            return
        if "state" in line:
            self.replies.pop(number, None)  # of no use any more
            self.states[number] = line["state"]
            if line.get("cached"):
                self.cached[number] = str(line["cached"])
            return
        mark = Marked(**{name: it for name, it in line.items() if name != "study"})
        by = self.marks.setdefault(number, {phase: {} for phase in PHASES})
        by[mark.phase][mark.place] = mark
        self.lines[number, mark.phase, mark.place] = self._read

    def resumed(self, study: Study) -> Study:
        """Return a study with what there is of it."""
        study.state = self.states.get(study.number)
        study.attempt = self.attempts[study.number]
        study.replies |= self.replies.get(study.number, {})
        for phase, marks in self.marks.get(study.number, {}).items():
            study.known[phase] |= marks.keys()
        return study


def lines(told: Learned) -> Iterator[dict[str, Any]]:
    """Yield the lines of what came of a study."""
    for key, reply in told.replies.items():
        yield {"study": told.number, "request": key, "reply": _short(reply)}
    if told.state is not None:
        yield {"study": told.number, "state": told.state}
    if told.gave_up:
        yield {"study": told.number, "gave_up": told.failure}
    for mark in told.marks:
        yield {"study": told.number, **asdict(mark)}


def _short(reply: Completion) -> dict[str, Any]:
    """Return a reply without what is as ever, and without retries: it is not asked for again."""
    found = asdict(replace(reply, retries=Retries()))
    usual = asdict(Completion("", "stop"))
    return {key: it for key, it in found.items() if key in _ALWAYS or it != usual[key]}
