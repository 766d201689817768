"""A provider of nodes for Ray's autoscaler, whose nodes come when a test lets them."""

import time
from pathlib import Path
from typing import Any

from ray.autoscaler._private.fake_multi_node.node_provider import FakeMultiNodeProvider


class HeldNodes(FakeMultiNodeProvider):
    """Raylets of this machine; none begins before there is a certain file."""

    def create_node_with_resources_and_labels(self, *told: Any) -> None:
        """Begin some, once that may be."""
        while not Path(self.provider_config["held_until"]).exists():
            time.sleep(0.2)
        super().create_node_with_resources_and_labels(*told)
