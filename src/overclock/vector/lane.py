"""One lane of a batch as a program of its own: what `VectorEnv.step` does to every lane, with real branches.

Under `vmap` a restart is computed for every lane and then selected. Here it is a branch that only ended lanes take,
which is what kernels that play one lane per thread want (`overclock.vector.fused`).
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from overclock.env.environment import Environment, EnvState, Obs
from overclock.env.rng import Rng, Section
from overclock.env.struct import Struct


class Lane(Struct):
    """A `VectorState` without its batch axis and its reset store."""

    lane: EnvState
    rng: Rng
    ended: Bool[Array, ""]


def sample_action(env: Environment[Any, Any], rng: Rng, mask: Any, params: Any) -> Any:
    """Uniform over the legal actions of one lane (and of each of its players)."""
    space, players = env.action_space(params), env.num_players
    if players == 1:
        return space.sample(rng, 0, mask)
    samples = [
        space.sample(rng, player * space.sites, None if mask is None else mask[player]) for player in range(players)
    ]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *samples)


def lane_step(
    env: Environment[Any, Any], autoreset: str, state: Lane, action: Any, params: Any
) -> tuple[Obs, Lane, Float[Array, "*players"], Bool[Array, ""], Bool[Array, ""], dict[str, Any]]:
    """As `VectorEnv.step` with fresh episodes, for one lane."""

    def outcome(lane: EnvState) -> tuple[Obs, dict[str, Any]]:
        return env.observe(lane.rules, params), env.info(lane.rules, params)

    def played() -> Any:
        draw = env.draw_step(state.rng.of_section(Section.STEP), state.lane.rules, params)
        lane, reward, terminated, truncated = env.advance(state.lane, action, draw, params)
        return lane, reward, jnp.asarray(terminated), jnp.asarray(truncated)

    ended = state.ended
    if autoreset == "next_step":
        like = jax.eval_shape(played)

        def restarted() -> Any:
            zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like[1:])
            return env.reset_state(state.rng, params), *zeros

        lane, reward, terminated, truncated = jax.lax.cond(state.ended, restarted, played)
        final_obs, info = outcome(lane)
        obs, ended = final_obs, terminated | truncated
    else:
        lane, reward, terminated, truncated = played()
        final_obs, info = outcome(lane)
        obs = final_obs
        if autoreset == "off":
            ended = ended | terminated | truncated
        else:

            def anew() -> tuple[EnvState, Obs]:
                fresh = env.reset_state(state.rng, params)
                return fresh, env.observe(fresh.rules, params)

            lane, obs = jax.lax.cond(terminated | truncated, anew, lambda: (lane, final_obs))
    state = Lane(lane=lane, rng=state.rng.advance(), ended=ended)
    return obs, state, reward, terminated, truncated, {**info, "final_observation": final_obs}
