"""Which models take part in a unit, and what is known of each while a run goes on."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from raybench.fleet import Account
from raybench.tracking.console.models import Seen

_STATES = {
    "cold": "not up",
    "wanted": "coming up",
    "arriving": "coming up",
    "leaving": "going to sleep",
}
"""What engines' states are called where another word tells more."""
_AWAY = ("cold", "leaving", "asleep")


def models_of(record: Mapping[str, Any]) -> set[str]:
    """Return the models that take part in a unit, by its record in the journal.

    That is whoever was asked, sat at the table, or was judged.
    """
    if isinstance(seats := record.get("seats"), Mapping):
        return {str(name) for name in seats.values()}
    if isinstance(scores := record.get("cumulative"), Mapping):
        return {str(name) for name in scores}
    return {record["model"]} if isinstance(record.get("model"), str) else set()


def seen(
    ranked: Collection[str],
    account: Account,
    done: Counter[str],
    total: int | None,
    unfinished: bool,
) -> list[Seen]:
    """Return what is known of each model now.

    `total` is in how many units each of those that are ranked takes part; judges and others take
    part in none. `unfinished` tells that there are units left, whoever they need.
    """
    return [
        _seen(name, account, done[name], total if name in ranked else None, unfinished)
        for name in dict.fromkeys([*ranked, *account.models])
    ]


ASKING, JUDGING = "asking", "judging"
BOTH = f"{ASKING} and {JUDGING}"
"""Of endpoints and stand-ins it is not known which of the two they are at."""


def stage(judges: Collection[str], account: Account) -> str | None:
    """Return whether models are asked, or their replies judged and nothing else.

    Only of hosted models it is known whether they have something to do. None where nobody has.
    """
    others = account.models.keys() - judges
    busy = {name for of in (account.running, account.queued) for name, count in of.items() if count}
    if busy & others:
        return ASKING
    if others - account.states.keys():
        return BOTH
    begun = any(account.models[name].requests for name in others)
    if busy or (begun and {*judges} - account.states.keys()):
        return JUDGING
    return None


def _seen(name: str, account: Account, done: int, total: int | None, unfinished: bool) -> Seen:
    tally = account.models.get(name)
    hosted, queued = name in account.states, account.queued.get(name, 0)
    # The controller knows all processes; for endpoints and simulated models, only this one counts.
    under_way = account.running.get(name, 0) if hosted else tally.under_way if tally else 0
    return Seen(
        name,
        _state(name, account, queued, over=not unfinished or (total is not None and done >= total)),
        done,
        total,
        tally.requests if tally else 0,
        under_way,
        queued,
        tally.output_tokens if tally else 0,
        tally.errors if tally else 0,
    )


def _state(name: str, account: Account, queued: int, *, over: bool) -> str:
    if name in account.failed:
        return "failed"
    if over:
        return "done"
    state = account.states.get(name, "")
    if queued and state in _AWAY:
        return "waiting"
    return _STATES.get(state, state)
