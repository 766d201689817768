"""Chess: the game itself, by its own rules.

Source: ZeroSumEval, section 4 ("players have multiple chances in making a valid move"); the rules
are FIDE's, as the library `chess` keeps them.

Moves are SAN or UCI as people write them: "e4", "1. e4", "e2-e4", "Nf3+!", "0-0", "exd8=Q", "e8Q",
"12...Qxd4"; or words: "pawn to e4", "knight takes e5", "castle kingside", "I play e4". A text that
can mean two moves is refused with both, one that holds several, like "e4 e5", with that; a pawn on
the last rank has to say what it becomes. Checkmate wins.
Stalemate draws, and so does material with which no mate is possible. The rest is ours to choose, by
rule:

- `claims=automatic` ends the game where a draw could be claimed: at the third repetition, and after
  50 moves of each side without capture or pawn move. Somebody could always claim it, and games
  between models that shuffle end. With `claims=players` the one to move says "draw", or with a
  move that would bring it about "Nf3 draw"; unclaimed, the fifth repetition and 75 moves end it.
- `plies` moves of both players together, and the game is a draw, unless the last one ended it.
- `openings=book`: the seed draws one of the openings that are shipped, so that models without
  chance play different games; seatings that are paired share a seed, and so an opening. All are
  even in length: White moves first. `start` is a FEN, to which the book does not apply (Black moves
  first where it says so). `random_plies` random moves come after either; they need not be fair,
  which paired seatings make up for.
- `resign` allows "resign". Draws are never offered: two models would have to agree, which the game
  is not about.
- `show_legal` lists the legal moves, `picture` shows the board as an image beside the text.
"""

import random
from dataclasses import dataclass, field, replace

import chess

from raybench.games.parts.chess_game import pgn, view
from raybench.games.parts.chess_game.ending import End, Key, claimable, ended, key
from raybench.games.parts.chess_game.openings import Opening, drawn
from raybench.games.parts.chess_game.picture import picture
from raybench.games.parts.chess_game.reading import intent, read
from raybench.games.parts.chess_game.settings import ROLES, SIDES, ChessRules, board_of, in_words
from raybench.games.parts.chess_game.standins import any_move, good_move, greedy_move
from raybench.games.parts.contract import Game, InvalidMove, State
from raybench.games.parts.quoting import echoed
from raybench.statements import Statement
from raybench.types import Observation


@dataclass(frozen=True, slots=True)
class Chess(State):
    """A position with the moves that led to it; the board follows from these."""

    rules: ChessRules
    opening: Opening
    board: chess.Board = field(compare=False, repr=False)
    """Never changed, as several threads may read it: moves are made on copies, which have no memory
    of their own. To write one down in SAN makes it, too."""
    moves: tuple[str, ...] = ()
    """In SAN with numbers, the opening's in front."""
    end: End | None = None
    keys: tuple[Key, ...] = field(default=(), compare=False, repr=False)
    """Of the positions since the last capture or pawn move, this one's last."""
    last: chess.Move | None = field(default=None, compare=False, repr=False)

    @property
    def roles(self) -> tuple[str, ...]:
        return ROLES

    @property
    def to_move(self) -> str | None:
        return None if self.end else ROLES[not self.board.turn]

    @property
    def outcome(self) -> str:
        return self.end.how if self.end else ""

    @property
    def start(self) -> str:
        return " ".join(self.opening.moves)

    @property
    def claim(self) -> str:
        """The draw that a player may claim in this position; '' where there is none."""
        if self.rules.claims == "automatic":
            return ""
        return claimable(self.board, self._times)

    @property
    def _times(self) -> int:
        """How often this position has come up."""
        return self.keys.count(self.keys[-1])

    def observe(self, role: str) -> Observation:
        rules, board = self.rules, self.board
        shown = view.shown(
            role, board, self.moves, self.opening, self._times, self.end, rules.plies
        )
        last = (self.last.from_square, self.last.to_square) if self.last else ()
        images = (picture(board.board_fen(), last),) if rules.picture else ()
        words = in_words(rules, role)
        if role != self.to_move:
            return Observation(role, words, shown, images=images)
        shown += view.choice(self.legal() if rules.show_legal else (), self.claim)
        return Observation(role, words, shown, "move", view.task(role), images=images)

    def legal(self) -> tuple[str, ...]:
        if self.end:
            return ()
        moves = [*self.board.legal_moves]
        board = self.board.copy(stack=False)
        sans = [board.san(move) for move in moves]
        if self.rules.claims == "players":
            if len(self.keys) > 3 or self.board.halfmove_clock > 98:
                after = [self._moved(move) for move in moves]
                ways = zip(sans, after, strict=True)
                sans += [f"{san} draw" for san, it in ways if it.claim and not it.end]
            sans += ["draw"] * bool(self.claim)
        return (*sans, *(["resign"] * self.rules.resign))

    def apply(self, move: str) -> "Chess":
        if self.end:
            raise InvalidMove(Statement("move.game_over", "the game is over"))
        word, text = intent(move)
        if word == "resign":
            return self._resigned()
        if word == "draw":
            return self._claimed(text)
        return self._moved(read(self.board, text))

    def _resigned(self) -> "Chess":
        if not self.rules.resign:
            raise InvalidMove(Statement("chess.no_resigning", "nobody resigns here: make a move"))
        loser, winner = self.board.turn, ROLES[self.board.turn]
        how = Statement(
            "chess.resigned",
            "{loser} resigned: {winner} won",
            loser=SIDES[loser],
            winner=SIDES[not loser],
        )
        return replace(self, end=End(how, winner))

    def _claimed(self, text: str) -> "Chess":
        """Return the state after a draw was claimed, with this move or in this position."""
        if self.rules.claims == "automatic":
            raise InvalidMove(
                Statement(
                    "chess.no_claims", "draws are neither offered nor claimed here: make a move"
                )
            )
        after = self._moved(read(self.board, text)) if text else self
        if after.end:
            return after
        if not after.claim:
            move = echoed(text, 40)
            raise InvalidMove(
                Statement(
                    "chess.no_draw",
                    "{there_is} no draw to claim: make a move without a claim{now}",
                    there_is=f"after {move} there is" if text else "there is",
                    now=", or claim the one there is now by 'draw' alone" if self.claim else "",
                    move=move,
                    claimable=bool(self.claim),
                )
            )
        how = Statement(
            "chess.claimed",
            "{draw}, claimed by {side}",
            draw=after.claim,
            side=SIDES[self.board.turn],
        )
        return replace(after, end=End(how))

    def _moved(self, move: chess.Move) -> "Chess":
        board = self.board.copy(stack=False)
        number = view.number(board, first=not self.moves)
        moves = (*self.moves, number + board.san_and_push(move))
        keys = (*self.keys, key(board)) if board.halfmove_clock else (key(board),)
        made = len(moves) - len(self.opening.moves)
        end = ended(board, keys.count(keys[-1]), made, self.rules)
        return Chess(self.rules, self.opening, board, moves, end, keys, move)

    def scores(self) -> dict[str, float]:
        if self.end is None or self.end.winner is None:
            return dict.fromkeys(ROLES, 0.0)
        return {role: 1.0 if role == self.end.winner else -1.0 for role in ROLES}

    def sample(self, rng: random.Random) -> str:
        """Move at random; claim a draw half the time that there is one."""
        if self.claim and rng.random() < 0.5:
            return "draw"
        return self._san(any_move(self.board, rng))

    def good(self, rng: random.Random) -> str:
        """Mate if there is one, else win what can be won and lose nothing, one move ahead."""
        return self._san(good_move(self.board, rng))

    def _san(self, move: chess.Move) -> str:
        return self.board.copy(stack=False).san(move)


def _greedy(state: Chess, rng: random.Random) -> str:
    return state._san(greedy_move(state.board, rng))


def _begin(seed: int, rules: ChessRules) -> Chess:
    board = board_of(rules.start)
    state = Chess(rules, drawn(seed, rules), board, keys=(key(board),))
    for san in state.opening.moves:
        state = state._moved(state.board.parse_san(san))
    return state


GAME = Game(
    "chess",
    "Chess",
    ChessRules,
    _begin,
    lambda rules: ROLES,
    extension="pgn",
    written=pgn.written,
    scripts={"greedy": _greedy},
)
