"""The parts of a suite: ordinary experiments, each with a run of its own in the suite's folder."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, cast

from raybench import experiments as rooms
from raybench.config import Config, parts, storage
from raybench.config.suite import PARTS, TITLES
from raybench.errors import Problem, RunFailed
from raybench.experiments.parts.within import House
from raybench.pipeline.run_identity import fingerprints, marked, settings
from raybench.pipeline.sources import SAMPLES
from raybench.pipeline.store import HEADLINE, RESULTS
from raybench.reading import from_json
from raybench.stats.joint import Joint
from raybench.types import Estimate, Plan

FOLDER = "parts"
"""Where the parts' runs lie in the suite's."""
HEADLINES: Mapping[str, str] = {
    "hle": "hle/accuracy",
    "autobench": "autobench/score",
    "games": "games/rating",
}
"""What each ranks by. The index has several scores, and says by which."""
_INTELLIGENCE = "index/intelligence"


class Room(Protocol):
    """What an experiment offers that can be a part."""

    CONCLUSIONS: tuple[str, ...]

    def plan(self, config: Config) -> Plan:
        """Say what a run would do."""
        ...

    async def run(
        self, config: Config, resolved: Mapping[str, Any], *, within: House | None = None
    ) -> None:
        """Run it."""
        ...


@dataclass(frozen=True)
class Part:
    """One part, as it is asked for."""

    name: str
    config: Config
    resolved: Mapping[str, Any]
    folder: Path
    """Where its runs lie."""

    @property
    def title(self) -> str:
        """What people call it."""
        return TITLES[self.name]

    @property
    def room(self) -> Room:
        """The experiment."""
        return room(self.name)

    @property
    def last(self) -> Path | None:
        """Its last run that has results."""
        return next((it / RESULTS for it in self._runs if (it / RESULTS).exists()), None)

    @property
    def over(self) -> bool:
        """Tell whether nothing of it is to be asked, or concluded otherwise, any more."""
        if (last := self.last) is None or self._runs[0] != last.parent:
            return False
        told = _told(last)
        same = told.get("concluded_with") == settings(self.resolved, self.room.CONCLUSIONS)
        return same and "failed" not in told

    @property
    def _runs(self) -> list[Path]:
        """Return the folders of its runs, the newest first.

        What its config.yaml was run with by hand, with something changed, lies beside them.
        """
        own: tuple[Mapping[str, Any], tuple[str, ...], tuple[str, ...]] = self.resolved, (), ()
        if told_apart := getattr(self.room, "told_apart", None):
            own = told_apart(self.config, self.resolved)
        resolved, limits, aside = own
        marks = fingerprints(resolved, without=(*self.room.CONCLUSIONS, *limits, *aside))
        wanted = settings(resolved, limits)
        return [
            folder
            for folder in marked(self.folder, marks)
            if not (file := folder / RESULTS).exists() or _told(file).get("limits", {}) == wanted
        ]


def _told(results: Path) -> dict[str, Any]:
    """Return what results say of their run."""
    return dict(from_json(results.read_bytes())["run"])


def room(name: str) -> Room:
    """Return an experiment that can be a part."""
    return cast(Room, rooms.load(name))


def conclusions() -> tuple[str, ...]:
    """Return the settings that change only what is made of journals: all parts', and our own."""
    return ("suite.external", *(it for name in PARTS for it in room(name).CONCLUSIONS))


def of(config: Config, resolved: Mapping[str, Any], folder: Path) -> Iterator[Part]:
    """Yield the parts of the suite that has this folder.

    What is set for others is none of theirs: a part is known again whatever becomes of that.
    """
    below = str(folder / FOLDER)
    stored = config.storage and storage.below(
        config.storage, folder.parent.name, folder.name, FOLDER
    )
    for part in parts(config):
        name = str(part.experiment)
        others = {"suite", *PARTS} - {name}
        own = {key: value for key, value in resolved.items() if key not in others}
        yield Part(
            name,
            replace(part, runs_dir=below, storage=stored, resume=True),
            own | {"experiment": name, "runs_dir": below, "storage": stored, "resume": True},
            folder / FOLDER / name,
        )


@dataclass(frozen=True, eq=False)
class Found:
    """What a part came to."""

    name: str
    results: Mapping[str, Any]
    metric: str
    """What it ranks by."""
    joint: Joint
    folder: Path

    @property
    def title(self) -> str:
        """What people call it."""
        return TITLES[self.name]

    @property
    def inputs(self) -> dict[str, str]:
        """Return the digests of what it asked, by names."""
        run = self.results["run"]
        data = {name: str(of["digest"]) for name, of in run.get("data", {}).items()}
        return {**run.get("inputs", {}), **data}

    @property
    def deviations(self) -> Sequence[Mapping[str, Any]]:
        """Return the settings by which it deviates from its source; () of earlier versions."""
        return tuple(self.results["run"].get("deviations", ()))

    @property
    def samples(self) -> bool:
        """Tell whether it asked questions that come with raybench."""
        return any(it["origin"] == SAMPLES for it in self.results["run"].get("data", {}).values())

    def estimate(self, model: str, metric: str) -> Estimate | None:
        """Return a model's estimate of a metric, None where there is none."""
        told = self.results["models"].get(model, {}).get(metric)
        if told is None:
            return None
        ends = told["ci95"]
        known = None if ends is None or None in ends else (float(ends[0]), float(ends[1]))
        return Estimate(told["value"], told["stderr"], known, told["n"], told["method"])

    @property
    def units(self) -> str:
        """How much it asked, in words."""
        run = self.results["run"]
        return Plan(self.name, (), (), None, run["units"], run["unit"], "").counted


def asked(found: Sequence[Found]) -> dict[str, str]:
    """Return the digests of what all of them asked; what they asked otherwise bears the part."""
    digests: dict[str, set[str]] = {}
    for it in found:
        for name, digest in it.inputs.items():
            digests.setdefault(name, set()).add(digest)
    return {
        name if len(digests[name]) == 1 else f"{it.name}/{name}": digest
        for it in found
        for name, digest in it.inputs.items()
    }


def read(part: Part) -> Found | None:
    """Return what a part came to; None where it has no results."""
    if (file := part.last) is None:
        return None
    results = from_json(file.read_bytes())
    lines = file.parent / HEADLINE
    try:
        rows = [from_json(it) for it in lines.read_bytes().splitlines()] if lines.exists() else []
        joint = Joint.read(rows)
    except ValueError as error:
        raise RunFailed(
            Problem(
                "journal.invalid",
                f"{lines} is not what a run leaves ({error})",
                fix=f"delete {file.parent}, and the same command plays that part anew",
            )
        ) from error
    metric = joint.metric or HEADLINES.get(part.name, _INTELLIGENCE)
    return Found(part.name, results, metric, joint, file.parent)
