"""How many samples each stage of a run of benchmarks has left, for the time left."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from raybench import benchmarks
from raybench.fleet import EngineSpec
from raybench.pipeline.graph import Work
from raybench.pipeline.stage_reports import (
    CHECKER,
    JUDGES,
    PROGRAMS,
    Finished,
    Lane,
    Report,
    lane_of,
)
from raybench.tracking.console import Progress


class StageProgress:
    """Takes what stages report, and what comes into the journal, which counts where reports lack.

    Of simulated models nothing is reported before that.
    """

    def __init__(
        self,
        progress: Progress,
        work: Work,
        left: Mapping[tuple[str, str], int],
        engines: Sequence[EngineSpec],
    ) -> None:
        """`left` is how many samples each model has left of each benchmark."""
        self._progress = progress
        self._judges = [it.name for it in work.judges.models.values()] if work.judges else []
        self._checker = work.checker.referee.model.name if work.checker else None
        self._reported: dict[Lane, Finished] = {}
        self._kept: dict[Lane, Finished] = {}
        ranked = {model for model, _ in left}
        for engine in engines:
            # Those who judge work beside the others, unless the engine is ours and does both.
            hosted = engine.kind == "vllm"
            models = [it.name for it in engine.models if hosted or it.name in ranked]
            progress.assign(models, engine.name, hosted=hosted)
        lanes: dict[Lane, float] = {}
        for (model, benchmark), count in left.items():
            for lane in (lane_of(model, benchmark), *self._later(benchmark)):
                lanes[lane] = lanes.get(lane, 0) + count
        progress.expect(lanes)

    def reported(self, report: Report) -> None:
        """Take what a stage has finished of blocks that are under way."""
        self._take(self._reported, report.finished, report.at_work_s)

    def kept(self, units: Iterable[Mapping[str, Any]]) -> None:
        """Take samples that enter the journal: all stages have finished them."""
        counts: dict[Lane, Finished] = {}
        for unit in units:
            own = lane_of(unit["model"], unit["benchmark"])
            known = bool(unit["reused"])
            seconds = 0.0 if known else unit["seconds"]
            counts.setdefault(own, Finished()).add(Finished(1, known, seconds))
            for lane in self._later(unit["benchmark"]):
                counts.setdefault(lane, Finished()).add(Finished(1))
        self._take(self._kept, counts, {})

    def _later(self, benchmark: str) -> list[Lane]:
        """Return the lanes in which replies to a benchmark are graded."""
        of = benchmarks.load(benchmark)
        lanes = [lane_of(PROGRAMS, benchmark, PROGRAMS)] if of.sandboxed else []
        if of.judged:
            lanes += [lane_of(judge, benchmark, JUDGES) for judge in self._judges]
        if of.checked and self._checker is not None:
            lanes.append(lane_of(self._checker, benchmark, CHECKER))
        return lanes

    def _take(
        self,
        side: dict[Lane, Finished],
        news: Mapping[Lane, Finished],
        at_work_s: Mapping[str, float],
    ) -> None:
        done, known = {}, {}
        for lane, finished in news.items():
            units_before, known_before = self._counted(lane)
            side.setdefault(lane, Finished()).add(finished)
            units, skipped = self._counted(lane)
            known[lane] = skipped - known_before
            if (fresh := units - units_before - known[lane]) > 0:
                worked = finished.units - finished.known
                done[lane] = float(fresh), finished.seconds * fresh / max(worked, 1)
        self._progress.skip({lane: count for lane, count in known.items() if count > 0})
        self._progress.arrive(done, at_work_s)

    def _counted(self, lane: Lane) -> tuple[int, int]:
        """Return the samples of a lane that are finished, and those of them that were known."""
        sides = [side[lane] for side in (self._reported, self._kept) if lane in side]
        units = max((it.units for it in sides), default=0)
        return units, max((it.known for it in sides), default=0)
