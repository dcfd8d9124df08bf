"""The rules of a candidate, one at a time and with named values: the performance side of a project's level 1.

Runs in the candidate's worker; loaded in the verifier and the reference's process as well, so JAX is imported inside.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recipe.contract.sample_statistics import SampleStatistics

Values = dict[str, Any]
SEED = "@seed"  # an input that no field of a state is called like
LATER = "@later"  # whether numbers are events of one stream, rather than streams
NO_LIMIT = -1  # steps
BLOCK_EVENTS, BLOCK_NUMBERS = 1024, 1 << 16  # most events drawn at once, and most numbers in their draws


def spaces(env: Any, params: Any, inputs: Values) -> Values:
    """Bounds and sizes of both spaces, zero where one has none."""
    defaults = env.default_params()
    return {
        f"{name}_{part}": value
        for name, space in (("obs", env.observation_space(defaults)), ("action", env.action_space(defaults)))
        for part, value in described(space).items()
    }


def described(space: Any) -> Values:
    """The bounds of a box or of several choices, or the size of a discrete space."""
    low, high = space.bounds() if hasattr(space, "bounds") else (0, 0)
    if hasattr(space, "nvec"):
        low, high = np.zeros_like(space.nvec), np.subtract(space.nvec, 1)
    return {"low": np.asarray(low), "high": np.asarray(high), "n": np.int64(getattr(space, "n", 0))}


def draw(later: bool, env: Any, params: Any, inputs: Values) -> Values:
    """The draw of a reset from a seed; `later`: of a later event of one stream, as every reset but the first is."""
    return _drawn(env, params, inputs["seed"], later)


def draw_step(later: bool, env: Any, params: Any, inputs: Values) -> Values:
    """The draw of a step in a state; `later` as for `draw`."""
    return _drawn(env, params, inputs[SEED], later, _state_of(env, params, inputs))


def known_reset(statistics: SampleStatistics, env: Any, params: Any, inputs: Values) -> Values:
    """The statistics of the draws of very many resets."""
    import jax.numpy as jnp

    drawn = _sampled(statistics, lambda number: _drawn(env, params, number, inputs[LATER]), 0, statistics.events)
    return statistics.of(jnp, drawn)


def known_step(statistics: SampleStatistics, env: Any, params: Any, inputs: Values) -> Values:
    """The statistics of the draws of very many steps, equally many from each of some states."""
    import jax
    import jax.numpy as jnp

    states = {name: values for name, values in inputs.items() if name != LATER}
    count = len(next(iter(states.values())))
    each = -(-statistics.events // count)

    def of_state(numbered: tuple[Any, Values]) -> Values:
        place, state = numbered
        rules = _state_of(env, params, state)
        return _sampled(
            statistics, lambda number: _drawn(env, params, number, inputs[LATER], rules), place * each, each
        )

    drawn = jax.lax.map(of_state, (jnp.arange(count, dtype=jnp.uint32), states))
    events = {
        name: values.reshape(count * each, *values.shape[2:])[: statistics.events] for name, values in drawn.items()
    }
    return statistics.of(jnp, events)


def _sampled(statistics: SampleStatistics, draw: Callable[[Any], Values], first: Any, count: int) -> Values:
    """What statistics need of `count` events from number `first` on, drawn in blocks to bound the memory."""
    import jax
    import jax.numpy as jnp

    numbers = sum(leaf.size for leaf in jax.eval_shape(draw, jnp.uint32(0)).values())
    block = min(max(BLOCK_NUMBERS // max(numbers, 1), 1), BLOCK_EVENTS, count)
    blocks = -(-count // block)
    events = jnp.uint32(first) + jnp.arange(blocks * block, dtype=jnp.uint32).reshape(blocks, block)
    drawn = jax.lax.map(jax.vmap(lambda number: statistics.looked_at(draw(number))), events)
    return {name: values.reshape(blocks * block, -1)[:count] for name, values in drawn.items()}


def time_limit(env: Any, params: Any, inputs: Values) -> Values:
    """The number of steps after one more, and what it decides; which state that is does not matter."""
    import jax.numpy as jnp

    from overclock.env import EnvState, Rng, Section

    rng = Rng.of(0)
    state = env.init(env.draw_reset(rng.of_section(Section.RESET), params), params)
    drawn = env.draw_step(rng.of_section(Section.STEP), state, params)
    after, _, _, truncated = env.advance(EnvState(state, inputs["steps"]), inputs["action"], drawn, params)
    limits = {"max_steps": params.max_steps, "default_max_steps": env.default_params().max_steps}
    told = {name: jnp.int32(NO_LIMIT if limit is None else limit) for name, limit in limits.items()}
    return {**told, "steps": after.steps, "truncated": truncated}


def reset(env: Any, params: Any, inputs: Values) -> Values:
    """The first state of an episode from its draw."""
    return _named(env.init(_draw_of(env, params, inputs, reset=True), params))


def transition(env: Any, params: Any, inputs: Values) -> Values:
    """The state after one step, with its reward and its end."""
    state, drawn = _state_of(env, params, inputs), _draw_of(env, params, inputs, reset=False)
    after, reward, terminated = env.transition(state, inputs["action"], drawn, params)
    return {**_named(after), "reward": reward, "terminated": terminated}


def observe(env: Any, params: Any, inputs: Values) -> Values:
    """The observation of a state."""
    return {"obs": env.observe(_state_of(env, params, inputs), params)}


def _named(value: Any) -> Values:
    from overclock.vector.host import named_leaves

    return named_leaves(value)


def _drawn(env: Any, params: Any, number: Any, later: Any, state: Any = None) -> Values:
    """The draw of a step in a state, without one of a reset."""
    from overclock.env import Section

    stream = _stream(number, later)
    if state is None:
        return _named(env.draw_reset(stream.of_section(Section.RESET), params))
    return _named(env.draw_step(stream.of_section(Section.STEP), state, params))


def _stream(number: Any, later: Any) -> Any:
    """The first event of the stream with a number, or (`later`) the event with this number of one stream."""
    import jax.numpy as jnp

    from overclock.env import Rng

    seed, counter = jnp.where(later, jnp.uint32(0), number), jnp.where(later, number, jnp.uint32(0))
    return Rng.of(seed[None]).replace(counter=counter)


def _state_of(env: Any, params: Any, inputs: Values) -> Any:
    import jax
    import jax.numpy as jnp

    from overclock.verify.sides.jax_subject import unflatten

    draw = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), _draw_like(env, params, reset=True))
    return unflatten(inputs, jax.eval_shape(lambda: env.init(draw, params)))


def _draw_of(env: Any, params: Any, inputs: Values, reset: bool) -> Any:
    from overclock.verify.sides.jax_subject import unflatten

    return unflatten(inputs, _draw_like(env, params, reset))


def _draw_like(env: Any, params: Any, reset: bool) -> Any:
    import jax

    from overclock.env import Rng, Section

    rng = Rng.of(0)
    if reset:
        return jax.eval_shape(lambda: env.draw_reset(rng.of_section(Section.RESET), params))
    state = jax.eval_shape(lambda: env.init(env.draw_reset(rng.of_section(Section.RESET), params), params))
    return jax.eval_shape(lambda state: env.draw_step(rng.of_section(Section.STEP), state, params), state)
