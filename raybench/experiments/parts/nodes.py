"""Nodes of a cluster that die while a run goes on: Ray's own words on that are kept off stdout."""

_UNEXPECTED = 2
"""Ray's number for a death that nobody has asked for: an autoscaler's are others."""


class Deaths:
    """Tells of every node's death once, but for those before it is asked for the first time."""

    def __init__(self) -> None:
        self._told: set[str] | None = None

    def new(self) -> list[str]:
        """Return the addresses of nodes that died since the last time, or never came back."""
        import ray

        if not ray.is_initialized():
            return []
        dead = {
            node["NodeID"]: str(node["NodeManagerAddress"])
            for node in ray.nodes()
            if not node["Alive"] and node["DeathReason"] == _UNEXPECTED
        }
        told, self._told = self._told, {*dead}
        return [] if told is None else [dead[node] for node in sorted(dead.keys() - told)]
