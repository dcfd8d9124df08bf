"""Three small two-player games for tests: simultaneous moves, turns with action masks, dice with extra turns."""

import dataclasses
import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct

PLAYERS = np.arange(2, dtype=np.int32)


def zero_sum(amount: Any, winner: Any) -> Float[Array, "2"]:
    """`amount` for the winner, minus `amount` for the other player."""
    return jnp.where(winner == PLAYERS, amount, -amount).astype(jnp.float32)


class RockPaperScissorsParams(Params):
    rounds: int = 10


class RockPaperScissorsState(Struct):
    last: Int[Array, "2"]  # the moves of the last round, -1 before the first
    played: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class RockPaperScissors(Environment[RockPaperScissorsState, RockPaperScissorsParams]):
    """Both players move at once, `rounds` times; each round is worth one point.

    - **Observation**: `float32[6]`: own last move and the other's, one-hot each; zeros in the first round.
    - **Action**: `Discrete(3)`: rock, paper, scissors. Both players always act; there is no randomness.
    """

    num_players = 2

    def default_params(self) -> RockPaperScissorsParams:
        return RockPaperScissorsParams()

    def observation_space(self, params: RockPaperScissorsParams) -> Box:
        return Box(0, 1, (6,))

    def action_space(self, params: RockPaperScissorsParams) -> Discrete:
        return Discrete(3)

    def init(self, draw: Any, params: RockPaperScissorsParams) -> RockPaperScissorsState:
        return RockPaperScissorsState(last=jnp.full(2, -1, jnp.int32), played=jnp.int32(0))

    def transition(
        self, state: RockPaperScissorsState, action: Int[Array, "2"], draw: Any, params: RockPaperScissorsParams
    ) -> tuple[RockPaperScissorsState, Float[Array, "2"], Bool[Array, ""]]:
        lead = (action[0] - action[1]) % 3  # each move beats the one before it
        points = jnp.where(lead == 1, 1.0, jnp.where(lead == 2, -1.0, 0.0))
        after = RockPaperScissorsState(last=action.astype(jnp.int32), played=state.played + jnp.int32(1))
        return after, zero_sum(points, 0), after.played >= params.rounds

    def observe(self, state: RockPaperScissorsState, params: RockPaperScissorsParams) -> Float[Array, "2 6"]:
        moves = (state.last[:, None] == np.arange(3)).astype(jnp.float32)
        return jnp.stack([jnp.concatenate([moves[0], moves[1]]), jnp.concatenate([moves[1], moves[0]])])


LINES = np.array(
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]], dtype=np.int32
)
CELLS = np.arange(9, dtype=np.int32)


class FirstPlayer(Struct):
    """A reset draw: who begins."""

    player: Int[Array, ""]


class TicTacToeState(Struct):
    board: Int[Array, "9"]  # 0 empty, 1 + player where a player has marked
    to_move: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class TicTacToe(Environment[TicTacToeState, Params]):
    """Three in a row wins; who begins is drawn at reset. Marking a taken cell loses at once.

    - **Observation**: `float32[3, 3, 2]`: own marks, the other's marks.
    - **Action**: `Discrete(9)`, the cell to mark; the mask of the player to move has the empty cells. The other
      player's action is ignored, so all of its mask is True.
    """

    num_players = 2

    def default_params(self) -> Params:
        return Params()

    def observation_space(self, params: Params) -> Box:
        return Box(0, 1, (3, 3, 2))

    def action_space(self, params: Params) -> Discrete:
        return Discrete(9)

    def draw_reset(self, rng: Rng, params: Params) -> FirstPlayer:
        return FirstPlayer(player=rng.integers(0, 2))

    def init(self, draw: FirstPlayer, params: Params) -> TicTacToeState:
        return TicTacToeState(board=jnp.zeros(9, jnp.int32), to_move=draw.player)

    def transition(
        self, state: TicTacToeState, action: Int[Array, "2"], draw: Any, params: Params
    ) -> tuple[TicTacToeState, Float[Array, "2"], Bool[Array, ""]]:
        marked = jnp.where(state.to_move == 0, action[0], action[1]) == CELLS
        legal = jnp.any(marked & (state.board == 0))
        board = jnp.where(marked & legal, state.to_move + 1, state.board)
        won = jnp.any(jnp.all(board[LINES] == state.to_move + 1, axis=-1))
        outcome = jnp.where(legal, jnp.where(won, 1.0, 0.0), -1.0)
        after = TicTacToeState(board=board, to_move=1 - state.to_move)
        return after, zero_sum(outcome, state.to_move), ~legal | won | jnp.all(board != 0)

    def observe(self, state: TicTacToeState, params: Params) -> Float[Array, "2 3 3 2"]:
        marks = jnp.stack([state.board == 1, state.board == 2], axis=-1).astype(jnp.float32).reshape(3, 3, 2)
        return jnp.stack([marks, marks[..., ::-1]])

    def action_mask(self, state: TicTacToeState, params: Params) -> Bool[Array, "2 9"]:
        return (state.board == 0) | ~self.acting(state, params)[:, None]

    def acting(self, state: TicTacToeState, params: Params) -> Bool[Array, "2"]:
        return state.to_move == PLAYERS


HOLD, ROLL = 0, 1


class PigParams(Params):
    max_steps: int | None = 200
    target: int = 20


class PigState(Struct):
    scores: Int[Array, "2"]
    pot: Int[Array, ""]
    to_move: Int[Array, ""]


class Die(Struct):
    """A step draw: what the die shows if it is rolled."""

    face: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Pig(Environment[PigState, PigParams]):
    """The dice game: roll to fill the pot and stay on turn, hold to bank it; a 1 loses the pot. First to `target` wins.

    - **Observation**: `float32[4]`: own score, the other's score, the pot, 1 if it is the player's turn.
    - **Action**: `Discrete(2)`: hold, roll. **Reward**: banked points, and minus the points the other banks.
    """

    num_players = 2

    def default_params(self) -> PigParams:
        return PigParams()

    def observation_space(self, params: PigParams) -> Box:
        return Box(0, math.inf, (4,))

    def action_space(self, params: PigParams) -> Discrete:
        return Discrete(2)

    def draw_reset(self, rng: Rng, params: PigParams) -> FirstPlayer:
        return FirstPlayer(player=rng.integers(0, 2))

    def draw_step(self, rng: Rng, state: PigState, params: PigParams) -> Die:
        return Die(face=rng.integers(0, 6) + jnp.int32(1))

    def init(self, draw: FirstPlayer, params: PigParams) -> PigState:
        return PigState(scores=jnp.zeros(2, jnp.int32), pot=jnp.int32(0), to_move=draw.player)

    def transition(
        self, state: PigState, action: Int[Array, "2"], draw: Die, params: PigParams
    ) -> tuple[PigState, Float[Array, "2"], Bool[Array, ""]]:
        holds = jnp.where(state.to_move == 0, action[0], action[1]) == HOLD
        banked = jnp.where(holds, state.pot, 0)
        passes = holds | (draw.face == 1)
        after = PigState(
            scores=state.scores + jnp.where(state.to_move == PLAYERS, banked, 0),
            pot=jnp.where(passes, 0, state.pot + draw.face),
            to_move=jnp.where(passes, 1 - state.to_move, state.to_move),
        )
        return after, zero_sum(banked, state.to_move), jnp.any(after.scores >= params.target)

    def observe(self, state: PigState, params: PigParams) -> Float[Array, "2 4"]:
        own, other = state.scores, state.scores[::-1]
        pot = jnp.broadcast_to(state.pot, 2)
        return jnp.stack([own, other, pot, self.acting(state, params)], axis=-1).astype(jnp.float32)

    def acting(self, state: PigState, params: PigParams) -> Bool[Array, "2"]:
        return state.to_move == PLAYERS


GAMES = (RockPaperScissors(), TicTacToe(), Pig())
