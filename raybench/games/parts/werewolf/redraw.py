"""The same game as far as one player can know, with everything else drawn anew."""

import random
from typing import TYPE_CHECKING

from raybench.games.parts.werewolf.record import DEATHS, Event, Sight, known, since, votes
from raybench.games.parts.werewolf.settings import WOLF

if TYPE_CHECKING:
    from raybench.games.werewolf import Village

_TRIES = 30


def redrawn(state: "Village", sight: Sight, rng: random.Random) -> "Village":
    """Return a state that a game by the rules can lead to, and of which the player knows as much.

    Hidden roles are dealt anew within what is known, and the game is played again: what the player
    knows of happens again, and what others did in secret is drawn. Where that fails too often, the
    player knows nearly everything, and the state itself is returned.
    """
    for _ in range(_TRIES):
        cast = _dealt(state, sight, rng)
        if cast is not None and (found := _played(state, cast, sight, rng)) is not None:
            return found
    return state


def _dealt(state: "Village", sight: Sight, rng: random.Random) -> tuple[str, ...] | None:
    told = {event.seat for event in sight.record if event.kind in DEATHS and event.shown}
    fixed = {sight.seat, *sight.fellows, *told}
    free = [number for number, seat in enumerate(state.roles) if seat not in fixed]
    parts = [state.cast[number] for number in free]
    rng.shuffle(parts)
    cast = list(state.cast)
    for number, part in zip(free, parts, strict=True):
        cast[number] = part
    wolves = {seat for seat, part in zip(state.roles, cast, strict=True) if part == WOLF}
    if sight.part == WOLF and wolves != {sight.seat, *sight.fellows}:
        return None
    looks = [event for event in sight.record if event.kind == "look"]
    agrees = all((event.move in wolves) == (event.shown == WOLF) for event in looks)
    return tuple(cast) if agrees else None


def _played(
    state: "Village", cast: tuple[str, ...], sight: Sight, rng: random.Random
) -> "Village | None":
    """Return where the game leads with these roles; None where it cannot go as the player saw it.

    How far the others have come in secret is drawn, too.
    """
    new, found, read, matched = state.dealt_as(cast), None, 0, 0
    mine = state.to_move == sight.seat
    while True:
        fresh = known(new.log[read:], sight.seat)
        if fresh != sight.record[matched : matched + len(fresh)]:
            return found
        read, matched = len(new.log), matched + len(fresh)
        coming = sight.record[matched:]
        if not coming and (new.to_move == sight.seat) == mine:
            found = new
            if mine or new.over or rng.random() < 0.5:
                return found
        if new.over:
            return found
        if coming and coming[0].kind == "left":
            new = new.without(coming[0].seat)
            continue
        move = _move(new, coming, sight, rng)
        if move is None:
            return found
        new = new.apply(move)


def _move(
    new: "Village", coming: tuple[Event, ...], sight: Sight, rng: random.Random
) -> str | None:
    """Return a move that makes happen what the player saw next; None where there is none."""
    action, mover = new.steps[0]
    if action == "speak" or mover == sight.seat or (action == "kill" and sight.part == WOLF):
        same = bool(coming) and (coming[0].kind, coming[0].seat) == (action, mover)
        return coming[0].move if same else None
    possible = {*(new.legal() or ())} & _fitting(new, action, mover, coming)
    return rng.choice(sorted(possible)) if possible else None


def _fitting(new: "Village", action: str, mover: str, coming: tuple[Event, ...]) -> set[str]:
    """Return the choices of somebody else that fit what comes of them."""
    every = {*(new.legal() or ())}
    if action == "vote":
        tally = next((event.move for event in coming if event.kind == "tally"), "")
        shown = votes(tally)
        return {shown[mover]} if mover in shown else every
    dawn = next((event.seat for event in coming if event.kind == "dawn"), None)
    if dawn is None or action == "look":
        return every
    named = [event.move for event in since(new.log, "dusk", "kill")]
    if action == "guard":
        return every - {dawn} if dawn else {*named[-1:]}
    own = [event.move for event in coming[:1] if event.kind == "guard"]
    return {dawn} if dawn else {*(own or named)} or every
