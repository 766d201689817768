"""Every model behind one door: `await fleet.complete(model, requests)`."""

from raybench.fleet.account import Account
from raybench.fleet.client import Engine, Fleet, open_fleet, resolved
from raybench.fleet.engines import EngineSpec, group_engines, problems
from raybench.fleet.hub import missing_token
from raybench.fleet.remote_options import key_problems, missing_keys, name_keys

__all__ = [
    "Account",
    "Engine",
    "EngineSpec",
    "Fleet",
    "group_engines",
    "key_problems",
    "missing_keys",
    "missing_token",
    "name_keys",
    "open_fleet",
    "problems",
    "resolved",
]
