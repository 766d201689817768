"""What an experiment concludes, and who of those that were asked never replied."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raybench.stats.joint import Joint
from raybench.tracking import report
from raybench.tracking.leaderboard import Board, Column
from raybench.types import Counts, Estimate


@dataclass(frozen=True)
class Outcome:
    """What an experiment concludes; the session writes it down."""

    metrics: Mapping[str, Mapping[str, Estimate]]
    counts: Mapping[str, Counts]
    failures: Sequence[Mapping[str, Any]]
    """What somebody has to look at."""
    columns: Sequence[Column]
    """The first is what the leaderboard is sorted by."""
    sections: Sequence[report.Section]
    answer: str = ""
    """What the run was asked, answered in some sentences: they come before everything else."""
    of: str = "model"
    """What the leaderboard's lines are."""
    boards: Sequence[Board] = ()
    """Further leaderboards, which stand below that of the models."""
    agreement: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    """How far the order agrees with others, by their names."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What results.json says of the run beside what is true of every run."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Digests of what was asked or read, by names, where `about["data"]` and the session's inputs
    do not have them."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What the numbers depend on, in the report's words."""
    units: report.Units | None = None
    """What the report's readers can open, one by one."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What leaderboard.md, the report and the terminal say of the run, by short names."""
    joint: Joint | None = None
    """The headline of all models with the covariance of their errors: what rankings are compared
    by."""
    files: Mapping[str, Iterable[Mapping[str, Any]]] = field(default_factory=dict)
    """Further files of JSON lines, by their names."""
    texts: Mapping[str, Callable[[], Iterable[str]]] = field(default_factory=dict)
    """Further files of text, by their names, which may have a folder, and what writes each."""
    unshared: Mapping[str, Iterable[Mapping[str, Any]]] = field(default_factory=dict)
    """Those that stay in the run's folder, for they hold what is not to be published."""
    accepted: bool = False
    """Somebody has looked at the failures."""
    unfinished: str = ""
    """Why the run is not over: what there is, is told, and the same command goes on with it."""
    mute: Mapping[str, str] = field(default_factory=dict)
    """Judges of which no word ever came, and why."""
    heard: Collection[str] = ()
    """Models that have said something, whatever their counts tell."""
    replied: Collection[str] = ()
    """Kinds of failures to which calls did get replies: they are no reason why others got none."""

    @property
    def lost(self) -> list[Mapping[str, Any]]:
        """Return the failures that tell why calls got no reply."""
        return [it for it in self.failures if it.get("kind") not in self.replied]


def silent(counts: Mapping[str, Counts], failures: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the models that were asked and never replied, with what kept most replies away."""
    mute = {
        model: of.infra_error
        for model, of in counts.items()
        if of.infra_error and not (of.ok or of.truncated or of.unparsed)
    }
    return {
        model: f"no call got a reply ({calls} asked): {commonest(failures, model) or 'see above'}"
        for model, calls in mute.items()
    }


def commonest(failures: Sequence[Mapping[str, Any]], model: str) -> str:
    """Return the reason that most of a model's failures have, where they name one."""
    reasons = Counter(it["why"] for it in failures if it.get("model") == model and it.get("why"))
    return max(reasons, key=reasons.__getitem__, default="")
