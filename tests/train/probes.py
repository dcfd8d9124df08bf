"""Environments so small that the right value and policy are known: each isolates one thing PPO must get right.

| probe | what learning it proves |
|---|---|
| `ConstantReward` | the value function learns a constant |
| `ObservationReward` | values depend on the observation |
| `TwoSteps` | rewards are discounted backwards in time |
| `ActionReward` | the policy gradient has the right sign |
| `ActionForObservation` | policy and value depend on the observation together |
| `Endless` | a truncated episode bootstraps, from its own last observation: its value is that of the endless task |
| `Forbidden` | illegal actions, however tempting, are never taken |
| `Recall` | the GRU carries an observation through an episode, and not into the next |
| `Aim` | continuous actions move to where the reward is, from either side |
| `Combination` | every choice of a MultiDiscrete action is learned |

The first five are Andy Jones' (Debugging RL, Without the Agonizing Pain), as in rejax.
"""

import dataclasses
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.env import Box, Discrete, Environment, MultiDiscrete, Params, Rng, Struct


class ProbeState(Struct):
    """A coin thrown at reset, -1 or 1, and the steps since."""

    coin: Float[Array, ""]
    time: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class ConstantReward(Environment[ProbeState, Params]):
    """One step, one action, reward 1. The base of the other probes."""

    last_step = 0  # the step that terminates

    def default_params(self) -> Params:
        return Params()

    def observation_space(self, params: Params) -> Box:
        return Box(-1.0, 1.0, (1,))

    def action_space(self, params: Params) -> Any:
        return Discrete(1)

    def draw_reset(self, rng: Rng, params: Params) -> Any:
        return rng.integers(0, 2)

    def init(self, draw: Any, params: Params) -> ProbeState:
        return ProbeState(coin=(2 * draw - 1).astype(jnp.float32), time=jnp.int32(0))

    def transition(
        self, state: ProbeState, action: Any, draw: Any, params: Params
    ) -> tuple[ProbeState, Float[Array, ""], Bool[Array, ""]]:
        reward = jnp.asarray(self.reward(state, action), jnp.float32)
        return state.replace(time=state.time + 1), reward, state.time >= self.last_step

    def observe(self, state: ProbeState, params: Params) -> Float[Array, "1"]:
        return jnp.asarray(self.seen(state), jnp.float32).reshape(1)

    def reward(self, state: ProbeState, action: Any) -> Any:
        return 1.0

    def seen(self, state: ProbeState) -> Any:
        return 0.0


class ObservationReward(ConstantReward):
    """The reward is what is seen, -1 or 1."""

    def reward(self, state: ProbeState, action: Any) -> Any:
        return state.coin

    def seen(self, state: ProbeState) -> Any:
        return state.coin


class TwoSteps(ConstantReward):
    """Sees the time, 0 then 1; only the second step earns 1."""

    last_step = 1

    def reward(self, state: ProbeState, action: Any) -> Any:
        return state.time

    def seen(self, state: ProbeState) -> Any:
        return jnp.minimum(state.time, 1)


class ActionReward(ConstantReward):
    """Action 1 earns 1, action 0 earns -1."""

    def action_space(self, params: Params) -> Any:
        return Discrete(2)

    def reward(self, state: ProbeState, action: Any) -> Any:
        return jnp.where(action == 1, 1.0, -1.0)


class ActionForObservation(ActionReward):
    """The action that matches the coin earns 1, the other -1."""

    def reward(self, state: ProbeState, action: Any) -> Any:
        return jnp.where(action == (state.coin > 0), 1.0, -1.0)

    def seen(self, state: ProbeState) -> Any:
        return state.coin


class Endless(ConstantReward):
    """Sees the time up to 2, and from then on earns 1 at every step; never terminates, cut off after five."""

    def default_params(self) -> Params:
        return Params(max_steps=5)

    def reward(self, state: ProbeState, action: Any) -> Any:
        return jnp.where(state.time >= 2, 1.0, 0.0)

    def seen(self, state: ProbeState) -> Any:
        return jnp.minimum(state.time, 2) / 2

    def transition(self, state: ProbeState, action: Any, draw: Any, params: Params) -> Any:
        state, reward, _ = super().transition(state, action, draw, params)
        return state, reward, jnp.bool_(False)


class Forbidden(ConstantReward):
    """Action 0 earns 100 and is illegal; of the legal ones, 1 earns 1 and 2 earns -1."""

    def action_space(self, params: Params) -> Any:
        return Discrete(3)

    def action_mask(self, state: ProbeState, params: Params) -> Bool[Array, "3"]:
        return jnp.arange(3) > 0

    def reward(self, state: ProbeState, action: Any) -> Any:
        return jnp.asarray([100.0, 1.0, -1.0])[action]


class Recall(ActionReward):
    """Sees the coin only at the first of four steps; the last step's action must match it."""

    last_step = 3

    def reward(self, state: ProbeState, action: Any) -> Any:
        return jnp.where(state.time == 3, jnp.where(action == (state.coin > 0), 1.0, -1.0), 0.0)

    def seen(self, state: ProbeState) -> Any:
        return jnp.where(state.time == 0, state.coin, 0.0)


class Aim(ConstantReward):
    """The reward falls with the square of the distance to half the coin; the action is one number in [-1, 1]."""

    def action_space(self, params: Params) -> Any:
        return Box(-1.0, 1.0, (1,))

    def reward(self, state: ProbeState, action: Any) -> Any:
        return -jnp.square(action[0] - 0.5 * state.coin)

    def seen(self, state: ProbeState) -> Any:
        return state.coin


class Combination(ConstantReward):
    """A lock of two digits: 1 for the second of two, 1 for the first of three."""

    def action_space(self, params: Params) -> Any:
        return MultiDiscrete((2, 3))

    def reward(self, state: ProbeState, action: Any) -> Any:
        return jnp.where(action[0] == 1, 1.0, 0.0) + jnp.where(action[1] == 0, 1.0, 0.0)
