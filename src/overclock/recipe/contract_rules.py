"""The rules of a candidate, one at a time and with named values: the performance side of a project's level 1.

Runs in the candidate's worker; loaded in the verifier and the reference's process as well, so JAX is imported inside.
"""

from typing import Any

import numpy as np

Values = dict[str, Any]


def spaces(env: Any, params: Any, inputs: Values) -> Values:
    """Bounds and sizes of both spaces, zero where one has none."""
    defaults = env.default_params()
    return {
        f"{name}_{part}": value
        for name, space in (("obs", env.observation_space(defaults)), ("action", env.action_space(defaults)))
        for part, value in described(space).items()
    }


def described(space: Any) -> Values:
    """The bounds of a box or the size of a discrete space."""
    low, high = space.bounds() if hasattr(space, "bounds") else (0, 0)
    return {"low": np.asarray(low), "high": np.asarray(high), "n": np.int64(getattr(space, "n", 0))}


def draw(env: Any, params: Any, inputs: Values) -> Values:
    """The draw of a reset from a seed."""
    from overclock.env import Rng, Section
    from overclock.vector.host import named_leaves

    return named_leaves(env.draw_reset(Rng.of(inputs["seed"][None]).of_section(Section.RESET), params))


def reset(env: Any, params: Any, inputs: Values) -> Values:
    """The first state from a draw."""
    from overclock.vector.host import named_leaves

    return named_leaves(env.init(_draw_of(env, params, inputs, reset=True), params))


def transition(env: Any, params: Any, inputs: Values) -> Values:
    """One step of the rules."""
    from overclock.vector.host import named_leaves

    state, drawn = _state_of(env, params, inputs), _draw_of(env, params, inputs, reset=False)
    after, reward, terminated = env.transition(state, inputs["action"], drawn, params)
    return {**named_leaves(after), "reward": reward, "terminated": terminated}


def observe(env: Any, params: Any, inputs: Values) -> Values:
    """The observation of a state."""
    return {"obs": env.observe(_state_of(env, params, inputs), params)}


def _state_of(env: Any, params: Any, inputs: Values) -> Any:
    import jax

    from overclock.verify.performance import unflatten

    like = jax.eval_shape(lambda: env.init(_zeros(_draw_like(env, params, reset=True)), params))
    return unflatten(inputs, like)


def _draw_of(env: Any, params: Any, inputs: Values, reset: bool) -> Any:
    from overclock.verify.performance import unflatten

    return unflatten(inputs, _draw_like(env, params, reset))


def _draw_like(env: Any, params: Any, reset: bool) -> Any:
    import jax

    from overclock.env import Rng, Section

    rng = Rng.of(0)
    if reset:
        return jax.eval_shape(lambda: env.draw_reset(rng.of_section(Section.RESET), params))
    state = jax.eval_shape(lambda: env.init(env.draw_reset(rng.of_section(Section.RESET), params), params))
    return jax.eval_shape(lambda state: env.draw_step(rng.of_section(Section.STEP), state, params), state)


def _zeros(like: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like)
