"""Who can be reached: asked where it seems that nobody can."""

from raybench.arena.table import Batch
from raybench.autobench.settings import Settings
from raybench.autobench.steps import Address, Step, drawn


class RollCall:
    """Everybody is asked for a task that nobody needs; whatever else they say counts as well."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._missing: set[Address] = set()
        self._heard: set[str] = set()
        self._why = ""
        self._calls = 0

    def begin(self, iteration: int) -> list[Step]:
        """Return what everybody is asked, in an iteration that made one wonder."""
        self._heard.clear()
        draw = drawn(iteration, self._settings)
        probes = []
        for model in self._settings.everybody:
            self._calls += 1
            # A number of attempts that no other step has.
            probes.append(Step(draw, -self._calls, "task", model))
        self._missing = {probe.address for probe in probes}
        return probes

    def hear(self, batch: Batch) -> None:
        """Take note of what somebody replied."""
        self._missing.discard(batch.step)
        for reply in batch.replies.values():
            if reply.finish == "error":
                self._why = reply.why
            else:
                self._heard.add(batch.model)

    @property
    def is_over(self) -> bool:
        """Tell whether enough is known: a contestant and a judge were heard, or all were asked."""
        return not self._missing or not self.silent

    @property
    def silent(self) -> str:
        """Who was not heard, and why; '' where a contestant and a judge were."""
        if not self._heard.intersection(self._settings.models):
            return f"no model answers any more: {self._why}"
        if not self._heard.intersection(self._settings.panel):
            return f"no judge answers any more ({', '.join(self._settings.panel)}): {self._why}"
        return ""
