"""Requests to an engine of ours that are ended when the model has worked on them for long enough.

Imported only where vllm is wanted: it knows how an engine's client keeps its requests.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

_STEP_S, _LOOK_S = 0.05, 1.0
"""No request is looked at more often, and one in the queue no more seldom."""
_log = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def ended_in_time(engine: Any, request: str, deadline_s: float | None) -> AsyncIterator[None]:
    """Have the engine abort a request that it is asked meanwhile, once its time is up."""
    if deadline_s is None:
        yield
        return
    watch = asyncio.create_task(_end(engine, request, deadline_s))
    try:
        yield
    finally:
        if not watch.cancel() and (error := watch.exception()):
            _log.warning("a request is not ended at its deadline: %s", error)


async def _end(engine: Any, request: str, deadline_s: float) -> None:
    await asyncio.sleep(deadline_s)
    while (left := deadline_s - (done := worked(engine, request))) > 0:
        await asyncio.sleep(max(_STEP_S, left if done else min(left, _LOOK_S)))
    # Whole: told to its client only, the engine would go on for nobody.
    await asyncio.shield(engine.abort(request))


def worked(engine: Any, request: str) -> float:
    """Return the seconds from the engine's first step for a request to its last token so far.

    A queue is no work, and who hangs writes nothing: such requests fail, and are never late. An
    engine that counts nothing (disable_log_stats) does not tell, and nothing of it is ended.
    """
    of = engine.output_processor
    for name in of.external_req_ids.get(request, ()):
        state = of.request_states.get(name)
        if state is not None and state.stats is not None and state.stats.scheduled_ts:
            return float(state.stats.last_token_ts - state.stats.scheduled_ts)
    return 0.0
