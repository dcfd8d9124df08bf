"""One lane of a batch as a program of its own: what `VectorEnv.step` does to every lane, with real branches.

Under `vmap` a restart is computed for every lane and then selected. Here it is a branch that only ended lanes take,
which is what kernels that play one lane per thread want (`overclock.vector.fused`).
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from overclock.env.autoreset import Autoreset, step_with_autoreset
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
    env: Environment[Any, Any], autoreset: Autoreset, state: Lane, action: Any, params: Any
) -> tuple[Obs, Lane, Float[Array, "*players"], Bool[Array, ""], Bool[Array, ""], dict[str, Any]]:
    """As `VectorEnv.step` with fresh episodes, for one lane."""

    def play(lane: EnvState) -> Any:
        draw = env.draw_step(state.rng.of_section(Section.STEP), lane.rules, params)
        lane, reward, terminated, truncated = env.advance(lane, action, draw, params)
        return lane, reward, jnp.asarray(terminated), jnp.asarray(truncated)

    obs, lane, ended, reward, terminated, truncated, info = step_with_autoreset(
        autoreset, state.lane, state.ended, branch=True,
        play=play,
        restart=lambda _, __: env.reset_state(state.rng, params),
        observe=lambda lane: env.observe(lane.rules, params),
        info=lambda lane: env.facts(lane.rules, params),
    )  # fmt: skip
    return obs, Lane(lane=lane, rng=state.rng.advance(), ended=ended), reward, terminated, truncated, info
