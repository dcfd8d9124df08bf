"""Small environments that tests can predict by hand, with arithmetic that is exact in float32.

| probe | what it isolates |
|---|---|
| `Countdown` | draws at reset and at every step; ends by the rules, by the clock, or by both at once |
| `Rooms` | legal actions that change, an observation that is a dict |
| `Dealer` | a tape of which every step reads a different number of words |
| `Duel` | two players who move together |
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.env import Box, Dict, Discrete, Environment, Params, Rng, Struct, Tape


class CountdownParams(Params):
    """`pace` is how much a step takes off; `bonus` is added to every reward."""

    max_steps: int | None = None
    pace: int = 1
    bonus: float = 0.0


class CountdownState(Struct):
    """What is left, the first value of it, and the number drawn by the last step."""

    left: Int[Array, ""]
    start: Int[Array, ""]
    drawn: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Countdown(Environment[CountdownState, CountdownParams]):
    """Starts at shortest plus 0 ... spread - 1 paces and terminates when nothing is left.

    The reward is action + drawn / 8 + bonus.
    """

    shortest: int = 2
    spread: int = 6

    def default_params(self) -> CountdownParams:
        return CountdownParams()

    def observation_space(self, params: CountdownParams) -> Box:
        return Box(-64.0, 64.0, (3,))

    def action_space(self, params: CountdownParams) -> Discrete:
        return Discrete(3)

    def draw_reset(self, rng: Rng, params: CountdownParams) -> Int[Array, ""]:
        return rng.integers(0, self.spread)

    def draw_step(self, rng: Rng, state: CountdownState, params: CountdownParams) -> Int[Array, ""]:
        return rng.integers(0, 8)

    def init(self, draw: Int[Array, ""], params: CountdownParams) -> CountdownState:
        start = self.shortest + draw * jnp.asarray(params.pace, jnp.int32)
        return CountdownState(left=start, start=start, drawn=jnp.int32(0))

    def transition(
        self, state: CountdownState, action: Any, draw: Int[Array, ""], params: CountdownParams
    ) -> tuple[CountdownState, Float[Array, ""], Bool[Array, ""]]:
        after = state.replace(left=state.left - jnp.asarray(params.pace, jnp.int32), drawn=draw)
        reward = action + draw / jnp.float32(8) + jnp.asarray(params.bonus, jnp.float32)
        return after, reward.astype(jnp.float32), after.left <= 0

    def observe(self, state: CountdownState, params: CountdownParams) -> Float[Array, "3"]:
        return jnp.stack([state.left, state.start, state.drawn]).astype(jnp.float32)

    def info(self, state: CountdownState, params: CountdownParams) -> dict[str, Any]:
        return {"left": state.left}


class RoomsState(Struct):
    """The room and how many doors were passed."""

    room: Int[Array, ""]
    passed: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Rooms(Environment[RoomsState, Params]):
    """Room r of 5 opens only some doors; an open door earns 1, a closed one -1 and the end."""

    rooms: int = 5

    def default_params(self) -> Params:
        return Params(max_steps=7)

    def observation_space(self, params: Params) -> Dict:
        return Dict({"room": Discrete(self.rooms), "view": Box(0.0, 64.0, (2,))})

    def action_space(self, params: Params) -> Discrete:
        return Discrete(self.rooms)

    def draw_reset(self, rng: Rng, params: Params) -> Int[Array, ""]:
        return rng.integers(3, self.rooms)

    def init(self, draw: Int[Array, ""], params: Params) -> RoomsState:
        return RoomsState(room=draw, passed=jnp.int32(0))

    def action_mask(self, state: RoomsState, params: Params) -> Bool[Array, " rooms"]:
        doors = jnp.arange(self.rooms)
        return (doors + state.room + state.passed) % 3 != 0

    def transition(
        self, state: RoomsState, action: Any, draw: Any, params: Params
    ) -> tuple[RoomsState, Float[Array, ""], Bool[Array, ""]]:
        legal = self.action_mask(state, params)[action]
        after = RoomsState(room=jnp.asarray(action, jnp.int32), passed=state.passed + 1)
        return after, jnp.where(legal, 1.0, -1.0).astype(jnp.float32), ~legal

    def observe(self, state: RoomsState, params: Params) -> dict[str, Any]:
        return {"room": state.room, "view": jnp.stack([state.room, state.passed]).astype(jnp.float32)}


class DealerState(Struct):
    """The sum of all cards, the last card, and whether a tape was ever too short."""

    total: Int[Array, ""]
    card: Int[Array, ""]
    overflow: Bool[Array, ""]


@dataclasses.dataclass(frozen=True)
class Dealer(Environment[DealerState, Params]):
    """Each step deals 1 to 3 cards of 13 (one more than the action); busts above 40."""

    tape_words: int = 3

    def default_params(self) -> Params:
        return Params(max_steps=9)

    def observation_space(self, params: Params) -> Box:
        return Box(0, 127, (2,), jnp.int32)

    def action_space(self, params: Params) -> Discrete:
        return Discrete(3)

    def draw_step(self, rng: Rng, state: DealerState, params: Params) -> Tape:
        return Tape.draw(rng, self.tape_words)

    def init(self, draw: Any, params: Params) -> DealerState:
        return DealerState(total=jnp.int32(0), card=jnp.int32(0), overflow=jnp.bool_(False))

    def transition(
        self, state: DealerState, action: Any, draw: Tape, params: Params
    ) -> tuple[DealerState, Float[Array, ""], Bool[Array, ""]]:
        def deal(i: Any, carry: tuple[Any, Any, Tape]) -> tuple[Any, Any, Tape]:
            card, tape = carry[2].next_below(13)
            return carry[0] + card + 1, card + 1, tape

        total, card, tape = jax.lax.fori_loop(0, action + 1, deal, (state.total, state.card, draw))
        after = DealerState(total=total, card=card, overflow=state.overflow | tape.overflow)
        return after, card.astype(jnp.float32), total > 40

    def observe(self, state: DealerState, params: Params) -> Int[Array, "2"]:
        return jnp.stack([state.total, state.card])


class DuelState(Struct):
    """Points of the two players."""

    points: Int[Array, "2"]


@dataclasses.dataclass(frozen=True)
class Duel(Environment[DuelState, Params]):
    """Both name a number; the higher one scores, zero-sum; the first to 3 points wins."""

    num_players: int = 2

    def default_params(self) -> Params:
        return Params(max_steps=10)

    def observation_space(self, params: Params) -> Box:
        return Box(0, 3, (2,), jnp.int32)

    def action_space(self, params: Params) -> Discrete:
        return Discrete(4)

    def draw_step(self, rng: Rng, state: DuelState, params: Params) -> Int[Array, ""]:
        return rng.integers(0, 2)

    def init(self, draw: Any, params: Params) -> DuelState:
        return DuelState(points=jnp.zeros(2, jnp.int32))

    def transition(
        self, state: DuelState, action: Int[Array, "2"], draw: Int[Array, ""], params: Params
    ) -> tuple[DuelState, Float[Array, "2"], Bool[Array, ""]]:
        # The draw breaks ties.
        ahead = jnp.where(action[0] == action[1], draw == 0, action[0] > action[1])
        won = jnp.stack([ahead, ~ahead])
        points = state.points + won
        return DuelState(points=points), jnp.where(won, 1.0, -1.0).astype(jnp.float32), jnp.max(points) >= 3

    def observe(self, state: DuelState, params: Params) -> Int[Array, "2 2"]:
        return jnp.stack([state.points, state.points[::-1]])
