"""What threads of one process ask of Serve, one at a time.

Wherever Serve makes a deployment's configuration, as when it deploys one and when it tells the
state of all, it notes for a moment, for the whole process, that a module is to be pickled by value.
Of two threads at it one takes the other's note away, which then fails.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any

_ONE = threading.Lock()


def applications() -> Mapping[str, Any]:
    """Return what Serve has on record of each application."""
    from ray import serve

    with _ONE:
        return dict(serve.status().applications)


def deploy(make: Callable[[], Any], name: str, *, route_prefix: str | None = None) -> None:
    """Have Serve begin with the application that is made; its state says how that goes on."""
    from ray import serve

    with _ONE:
        serve.run_many(
            [serve.RunTarget(make(), name=name, route_prefix=route_prefix)],
            wait_for_ingress_deployment_creation=False,
            wait_for_applications_running=False,
        )
