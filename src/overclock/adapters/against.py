"""`against(game, opponent)`: a game of several players as an ordinary environment of one player.

The result is an `Environment` like any other: it vectorises, compiles and passes through every adapter. All
randomness of a step (the game's own and the opponent's) comes from one draw, a stream of its own that is made
before the step and read move by move inside it, so a recorded draw replays the opponent too.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from overclock.env.environment import Environment, Obs, Params
from overclock.env.rng import Rng, Section
from overclock.env.spaces import Space, structure
from overclock.env.struct import Struct
from overclock.errors import UsageError

Opponent = Callable[[Rng, Any, Any, Any], Any]
"""`opponent(rng, obs, mask, params) -> action`: pure and hashable; it sees what its own player sees."""


class AgainstState(Struct):
    """The game, whether it is over, and what the opponent's opening moves earned the player before its first action."""

    game: Any
    over: Bool[Array, ""]
    owed: Float[Array, ""]


class _Progress(Struct):
    """The carry of the move loop; `moves.counter` is the number of moves made so far."""

    game: Any
    over: Bool[Array, ""]
    reward: Float[Array, ""]
    moves: Rng


@dataclasses.dataclass(frozen=True)
class Against(Environment[AgainstState, Params]):
    """One player's view of `game`, the other players moved by `opponent`. Build it with `against`.

    One step is one decision of the player: its move, then (where players take turns) every move of the others until
    it is the player's turn again or the game is over; the rewards of all these moves are summed. `max_steps`
    therefore counts decisions of the player.
    """

    game: Environment[Any, Any]
    opponent: Opponent | None = None
    player: int = 0
    max_replies: int = 100

    def default_params(self) -> Params:
        return self.game.default_params()

    def observation_space(self, params: Params) -> Space:
        return self.game.observation_space(params)

    def action_space(self, params: Params) -> Space:
        return self.game.action_space(params)

    def draw_reset(self, rng: Rng, params: Params) -> Rng:
        return _stream(rng)

    def draw_step(self, rng: Rng, state: AgainstState, params: Params) -> Rng:
        return _stream(rng)

    def init(self, draw: Rng, params: Params) -> AgainstState:
        game = self.game.init(self.game.draw_reset(draw.of_section(Section.RESET), params), params)
        ignored = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), structure(self.action_space(params)))
        opening = _Progress(game=game, over=jnp.bool_(False), reward=jnp.float32(0), moves=draw)
        opening = self._play(opening, ignored, 0, params)
        return AgainstState(game=opening.game, over=opening.over, owed=opening.reward)

    def transition(
        self, state: AgainstState, action: Any, draw: Rng, params: Params
    ) -> tuple[AgainstState, Float[Array, ""], Bool[Array, ""]]:
        start = _Progress(game=state.game, over=state.over, reward=state.owed, moves=draw)
        end = self._play(start, action, 1, params)
        return AgainstState(game=end.game, over=end.over, owed=jnp.float32(0)), end.reward, end.over

    def observe(self, state: AgainstState, params: Params) -> Obs:
        return _of_player(self.game.observe(state.game, params), self.player)

    def action_mask(self, state: AgainstState, params: Params) -> Bool[Array, " actions"] | None:
        return _of_player(self.game.action_mask(state.game, params), self.player)

    def info(self, state: AgainstState, params: Params) -> dict[str, Any]:
        return self.game.info(state.game, params)

    def _play(self, progress: _Progress, action: Any, own_moves: int, params: Params) -> _Progress:
        """The player's move (if `own_moves` is 1), then the others' until the player's turn or the end."""
        limit = own_moves + self.max_replies

        def unfinished(now: _Progress) -> Bool[Array, ""]:
            made = now.moves.counter
            waiting = ~self.game.acting(now.game, params)[self.player]
            return ~now.over & ((made < own_moves) | (waiting & (made < limit)))

        def move(now: _Progress) -> _Progress:
            draw = self.game.draw_step(now.moves.of_section(Section.STEP), now.game, params)
            # Between the player's turns its action is in the joint action still, where the rules ignore it.
            joint = self._joint_action(now, action, params)
            game, reward, over = self.game.transition(now.game, joint, draw, params)
            earned = reward[self.player].astype(jnp.float32)
            return _Progress(game=game, over=over, reward=now.reward + earned, moves=now.moves.advance())

        return jax.lax.while_loop(unfinished, move, progress)

    def _joint_action(self, now: _Progress, action: Any, params: Params) -> Any:
        obs, mask = self.game.observe(now.game, params), self.game.action_mask(now.game, params)
        streams = now.moves.lanes(self.game.num_players)
        actions = []
        for player in range(self.game.num_players):
            if player == self.player:
                actions.append(action)
                continue
            rng = Rng(
                k0=streams.k0[player],
                k1=streams.k1[player],
                counter=now.moves.counter,  # `lanes` starts streams at 0; this one is at the present move
                section=int(Section.ACTION),
            )
            seen, legal = _of_player(obs, player), _of_player(mask, player)
            if self.opponent is None:
                actions.append(self.action_space(params).sample(rng, 0, legal))
            else:
                actions.append(self.opponent(rng, seen, legal, params))
        shapes = structure(self.action_space(params))
        return jax.tree.map(
            lambda shape, *leaves: jnp.stack([jnp.asarray(leaf, shape.dtype) for leaf in leaves]), shapes, *actions
        )


def against(
    game: Environment[Any, Any], opponent: Opponent | None = None, player: int = 0, max_replies: int = 100
) -> Against:
    """The single-player view of `game` for `player`; the other players follow `opponent`.

    `opponent(rng, obs, mask, params) -> action` is a pure, hashable function (a plain function, a method of a frozen
    dataclass); None plays uniformly at random among the legal actions. `max_replies` bounds the moves others make
    in a row: beyond it the player is shown the game although it is not its turn, and its next action is ignored.

    >>> env = against(my_game, opponent=lambda rng, obs, mask, params: jnp.argmax(mask))
    """
    if game.num_players < 2:
        raise UsageError(f"{type(game).__name__} has one player already; `against` is for games of two or more.")
    if not 0 <= player < game.num_players:
        raise UsageError(f"player must be 0 to {game.num_players - 1}, got {player}.")
    if max_replies < 1:
        raise UsageError(f"max_replies must be at least 1, got {max_replies}.")
    return Against(game, opponent, player, max_replies)


def _stream(rng: Rng) -> Rng:
    """A stream named by two words of this event's section, so that its moves share no draw with any other event."""
    return Rng(k0=rng.words(0), k1=rng.words(1), counter=jnp.uint32(0))


def _of_player(tree: Any, player: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[player], tree)
