"""What a run has from the one that it is a part of: engines that are up, a parent in MLflow."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from raybench.config import FleetConf
from raybench.errors import RunFailed
from raybench.fleet import Account, Fleet, open_fleet
from raybench.fleet.client import Say
from raybench.fleet.preflight import Preflight
from raybench.tracking import console
from raybench.types import ModelSpec


class House:
    """Engines that are brought up once, when the first part asks for them, and serve all parts.

    It is left where the parts are over: then the engines are stopped.
    """

    def __init__(
        self,
        models: Sequence[ModelSpec],
        conf: FleetConf,
        *,
        parent: str | None = None,
        page: Path | None = None,
    ) -> None:
        """Have a fleet of everybody that any part asks.

        `parent` is the run in MLflow that theirs stand below, `page` the report that theirs lead
        back to.
        """
        self.page = page
        self.following = 0
        """Parts that come after the one that has the engines now."""
        self._models = list({model.name: model for model in models}.values())
        self._conf = conf
        self.preflight = Preflight(conf, whole=self._models)
        """Asks the endpoints of all parts at once, when the first part needs any of them."""
        self._parent = parent
        self._stack = AsyncExitStack()
        self._fleet: Fleet | None = None
        self._ray = False
        self._failed: RunFailed | None = None
        self._say: Say = print

    @property
    def tags(self) -> Mapping[str, str]:
        """What a part's run bears in MLflow, so that it stands below the whole."""
        return {"mlflow.parentRunId": self._parent} if self._parent else {}

    @property
    def account(self) -> Account | None:
        """What all parts together asked of the engines; None where none came up."""
        return self._fleet.account if self._fleet else None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    @asynccontextmanager
    async def fleet(
        self, models: Sequence[ModelSpec], say: Say, *, ray: bool
    ) -> AsyncIterator[Fleet]:
        """Lend the engines of these models, which begin to come up where they are not yet."""
        self._say = say
        whole = await self._opened(ray=ray)
        with whole.lent(models) as fleet:
            yield fleet

    async def _opened(self, *, ray: bool) -> Fleet:
        if self._failed is not None:  # what failed for one part would take as long for the next
            raise self._failed
        try:
            if self._fleet is None:
                refused = await self.preflight.check(self._models, self._said)
                opening = open_fleet(
                    self._models, self._conf, self._said, ray=ray, wait=False,
                    refused={name: problem.text for name, problem in refused.items()},
                    note=console.say,
                )  # fmt: skip
                self._fleet = await self._stack.enter_async_context(opening)
                self._ray = ray or self._fleet.controller is not None
            if ray and not self._ray:
                from raybench.fleet.cluster import cluster

                await self._stack.enter_async_context(cluster(self._conf, self._said))
                self._ray = True
        except RunFailed as error:
            self._failed = error
            raise
        return self._fleet

    def _said(self, text: str) -> None:
        """Tell whoever has the engines now."""
        self._say(text)
