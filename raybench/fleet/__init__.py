"""Every model behind one door: `await fleet.complete(model, requests)`."""

from raybench.fleet.account import Account
from raybench.fleet.client import Engine, Fleet, open_fleet, resolved
from raybench.fleet.engines import EngineSpec, group_engines, problems

__all__ = [
    "Account",
    "Engine",
    "EngineSpec",
    "Fleet",
    "group_engines",
    "open_fleet",
    "problems",
    "resolved",
]
