"""Scripts move by what their role sees, and their moves are valid where the real game stands."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from raybench import games
from raybench.arena.chair import Decoding
from raybench.arena.room import Begun, House, Room
from raybench.arena.scripted import Scripted
from raybench.arena.under_way import UnderWay
from raybench.games import ABLE, MANAGER, RANDOM, State
from raybench.tournament.fixtures import Fixture
from raybench.tournament.match import Terms
from raybench.tournament.turns import Ending, Turn

EVERY = [
    (game, script) for game in games.names() for script in (RANDOM, ABLE, *games.load(game).scripts)
]


@pytest.mark.parametrize(("game", "script"), sorted({*EVERY}))
@pytest.mark.parametrize("seed", range(3))
async def test_every_script_plays_every_game_to_its_end(game: str, script: str, seed: int) -> None:
    state: State = games.load(game).new(seed)
    made = games.load(game).script(script)
    seats = {role: Scripted(role, made, f"{seed}") for role in state.roles}
    rng, moves = random.Random(seed), 0
    while (role := state.to_move) is not None:
        if role == MANAGER:
            state = state.apply(state.sample(rng))
            continue
        heard = await seats[role].reply(state, state.observe(role), (), None)
        assert (heard.error, heard.calls, heard.seconds, heard.tokens) == (None, 0, 0, 0)
        assert heard.move is not None and heard.reply == heard.move
        state, moves = state.apply(heard.move), moves + 1
    assert moves


def positions(game: str, seed: int, count: int) -> Iterator[State]:
    rng = random.Random(seed)
    state: State = games.load(game).new(seed)
    for _ in range(count):
        if state.over:
            return
        yield state
        state = state.apply(state.sample(rng))


@pytest.mark.parametrize("game", games.names())
@pytest.mark.parametrize("script", [RANDOM, ABLE])
async def test_a_script_knows_no_more_than_its_role(game: str, script: str) -> None:
    """Where only what it cannot see differs, it moves alike."""
    made, rng = games.load(game).script(script), random.Random(1)
    for state in positions(game, 5, 12):
        role = state.to_move
        if role is None or role == MANAGER:
            continue
        other = state.redrawn(role, rng)
        heard = [
            (await Scripted("m", _blind(made), "1/0").reply(it, it.observe(role), (), None)).move
            for it in (state, other)
        ]
        assert heard[0] == heard[1]


def _blind(script: games.Script) -> games.Script:
    """Return the script with what it draws made of what the role sees, not of what was redrawn."""

    def made(state: State, rng: random.Random) -> str:
        seen = state.observe(state.to_move or "")
        return script(state, random.Random(str(seen)))

    return made


def room(**more: object) -> Room:
    async def nobody() -> object:
        raise AssertionError("no model is asked")

    house = House({}, Terms(), Decoding({"line": 8, "text": 8, "code": 8}))
    return Room(nobody, replace(house, **more))  # type: ignore[arg-type]


async def test_a_match_of_scripts_asks_nobody_and_goes_on_alike_where_it_was_cut_off() -> None:
    fixture = Fixture("chess", ("random", "able"), 7)
    playing = room(scripts={"random": "random", "able": "able"}, rules={"chess": {"plies": 12}})

    async def played(kept: list[Turn]) -> list[Turn]:
        of = Begun(1, 0, fixture, kept)
        state: State = games.load("chess").new(7, plies=12)
        turns = [*kept]
        for turn in kept:
            state = state.apply(turn.move or "")
        seats = {
            role: playing.seat(of, role, model, None)  # type: ignore[arg-type]
            for role, model in zip(state.roles, fixture.seats, strict=True)
        }
        while (role := state.to_move) is not None:
            heard = await seats[role].reply(state, state.observe(role), (), None)
            model = seats[role].model
            turns.append(Turn(role, model, "move", "", heard.reply, heard.move, None, calls=0))
            state = state.apply(heard.move or "")
        return turns

    whole = await played([])
    assert len(whole) == 12
    assert await played(whole[:5]) == whole


def record(seats: tuple[str, str], *, answer: str, greedy: frozenset[str]) -> str:
    """Return the table of a match of PyJail, in which all matches begin alike."""
    house = House(
        {}, Terms(), Decoding({}), scripts={"able": "able", "random": "random"}, greedy=greedy
    )
    of = UnderWay(7, Fixture("pyjail", seats, 99), ("warden", "prisoner"), 0)
    of.turns = [
        Turn("warden", seats[0], "write", "", "jail", "jail", None),
        Turn("prisoner", seats[1], "open", "", answer, answer, None),
    ]
    ending = Ending({"warden": 1.0, "prisoner": -1.0}, "over", start="")
    return str(of.record(ending, house)["table"])


def test_matches_with_scripts_that_did_the_same_are_repeats_where_all_begin_alike() -> None:
    greedy = frozenset({"m"})
    first = record(("m", "able"), answer="x", greedy=greedy)
    assert record(("m", "able"), answer="x", greedy=greedy) == first != "99"
    assert record(("m", "able"), answer="y", greedy=greedy) != first
    assert record(("m", "able"), answer="x", greedy=frozenset()) == "99", "m draws its replies"
    assert record(("m", "n"), answer="x", greedy=greedy) == "99"
