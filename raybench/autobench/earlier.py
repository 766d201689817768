"""placeholder until likeness lands."""


class Earlier:
    """Tasks of earlier iterations."""

    def __init__(self) -> None:
        self._tasks: dict[int, str] = {}

    def put(self, iteration: int, task: str) -> None:
        """Keep an iteration's task."""
        self._tasks[iteration] = task

    def drop(self, iteration: int) -> None:
        """Forget an iteration's task."""
        self._tasks.pop(iteration, None)

    def like(self, task: str, before: int) -> int | None:
        """Return the earlier iteration that has such a task."""
        same = [it for it, text in self._tasks.items() if it < before and text == task]
        return min(same, default=None)
