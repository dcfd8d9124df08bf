"""CartPole's functions one by one, for level 1: each against calls recorded from Gymnasium's CartPole-v1.

Loaded by both sides, so neither is imported at the top.
"""

import dataclasses
from typing import Any

import numpy as np

from overclock.envs.cartpole import recorded
from overclock.envs.cartpole.recorded import CONSTANTS, FIELDS, LIMITS, distance_to_limit
from overclock.verify.property.distribution import (
    KNOWN_DEPENDENCE_LIMIT,
    KNOWN_LIMIT,
    KNOWN_REASON,
    KNOWN_SAMPLE,
    uniform_facts,
)
from overclock.verify.property.distribution import REASON as CHANCE
from overclock.verify.property.module import Module, Output, exact
from overclock.verify.sides.subject import Arrays

REFERENCE = "gymnasium.envs.classic_control.cartpole:CartPoleEnv"
TIME_LIMIT = "gymnasium.wrappers.common:TimeLimit"
RULES = "overclock.envs.cartpole.env:CartPole"

HALF_ULP = 2.0**-24  # of float32, relative
ROUNDED = "a float64 number rounded to float32: half an ulp, 2**-24"
ULPS = "XLA's sin and cos and its fused multiply-adds round differently from NumPy's by 1-2 ulp of the summands"
SINGLE = "state and arithmetic are float32 here and float64 in Gymnasium: a few ulp of the summands"
TINY = float(np.finfo(np.float32).tiny)
SUBNORMAL = "XLA rounds what is too small for a normal float32 number to zero"
NEAR = "in float32 a state next to a threshold may be rounded to its other side"


def rules_state(values: dict[str, Any]) -> Any:
    """Named values as a state of the rules."""
    from overclock.envs.cartpole.env import CartPoleState

    return CartPoleState(**{name: values[name] for name in FIELDS})


def fields_of(state: Any) -> dict[str, Any]:
    """A state of the rules as named values."""
    return {name: getattr(state, name) for name in FIELDS}


def constants(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The physical constants of the default parameters."""
    chosen = env.default_params()
    return {name: getattr(chosen, name) for name in CONSTANTS}


def spaces(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Bounds of the observations and number of actions."""
    low, high = env.observation_space(params).bounds()
    return {"low": low, "high": high, "actions": env.action_space(params).n}


def draw(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The draw of a reset from a seed."""
    from overclock.env import Rng, Section

    rng = Rng.of(inputs["seed"][None]).of_section(Section.RESET)
    values = fields_of(env.draw_reset(rng, params))
    low, high = params.reset_low, params.reset_high
    inside = True
    for value in values.values():
        inside = inside & (low <= value) & (value < high)
    return {**values, "low": low, "high": high, "inside": inside}


def distribution(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Facts about the draws of very many seeds, between the limits of the case."""
    import jax
    import jax.numpy as jnp

    from overclock.env import Rng, Section

    def one(seed: Any) -> dict[str, Any]:
        return fields_of(env.draw_reset(Rng.of(seed[None]).of_section(Section.RESET), params))

    sample = jax.vmap(one)(jnp.arange(KNOWN_SAMPLE, dtype=jnp.uint32))
    return uniform_facts(sample, inputs["low"], inputs["high"])


def reset(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The first state from a draw."""
    return fields_of(env.init(rules_state(inputs), params))


def dynamics(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """One step of the rules."""
    after, reward, terminated = env.transition(rules_state(inputs), inputs["action"], (), params)
    return {**fields_of(after), "reward": reward, "terminated": terminated}


def termination(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Whether a state ends the episode."""
    return {"terminated": env.fallen(rules_state(inputs), params)}


def reward(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The reward under the scheme that the case asks for; the scheme is a static choice, so both are computed."""
    import jax.numpy as jnp

    before, terminated = rules_state(inputs), inputs["terminated"]
    plain, sutton_barto = (
        dataclasses.replace(env, sutton_barto_reward=scheme).reward(before, terminated, params)
        for scheme in (False, True)
    )
    return {"reward": jnp.where(inputs["sutton_barto"], sutton_barto, plain)}


def observe(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The observation of a state."""
    return {"obs": env.observe(rules_state(inputs), params)}


def time_limit(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The step counter and `truncated`, which do not depend on the pole."""
    import jax.numpy as jnp

    from overclock.env import EnvState

    upright = rules_state(dict.fromkeys(FIELDS, jnp.zeros(())))
    after, _, _, truncated = env.advance(EnvState(upright, inputs["steps"]), jnp.int32(0), (), params)
    return {"steps": after.steps, "truncated": truncated}


# ---- how closely ----


def _given(inputs: Arrays, expected: Arrays) -> np.ndarray:
    return distance_to_limit(inputs)


def _after(inputs: Arrays, expected: Arrays) -> np.ndarray:
    return distance_to_limit(expected)


def _before_or_after(inputs: Arrays, expected: Arrays) -> np.ndarray:
    return np.minimum(distance_to_limit(inputs), distance_to_limit(expected))


def rounded(*names: str) -> tuple[Output, ...]:
    """Outputs that are the reference's own numbers, rounded to float32."""
    return tuple(Output(name, relative=HALF_ULP, reason=ROUNDED) for name in names)


def near_threshold(name: str, of_case: Any, margin: float) -> Output:
    """A flag, or a reward that follows from one, decided by rounded numbers."""
    return Output(name, reason=NEAR, distance=of_case, margin=margin)


ROUNDED_LIMIT = 2 * HALF_ULP * LIMITS["x"]  # value and threshold are off by half an ulp each
MOVED_LIMIT = 1e-6  # the same after a step in float32


def _module(
    name: str,
    reference: str,
    case: Any,
    performance: Any,
    rules: str,
    double: tuple[Output, ...],
    single: tuple[Output, ...],
    **more: Any,
) -> Module:
    """`reference` and `rules` name methods of Gymnasium's class and of ours; outputs are those of either precision."""
    recorded_in = tuple(f"{REFERENCE}.{method}" for method in reference.split())
    exercises = tuple(f"{RULES}.{method}" for method in rules.split())
    return Module(name, recorded_in, case, performance, exercises, {"float64": double, "float32": single}, **more)


SEEDS = {"boundary": recorded.boundary_seeds, "apply": recorded.apply_seed}
STATES = {"boundary": recorded.boundary_states, "apply": recorded.apply_step, "compared": FIELDS}
BY_CHANCE = tuple(Output(name, distribution=True, reason=CHANCE) for name in FIELDS)
KNOWN = (
    *(Output(name, absolute=KNOWN_LIMIT, reason=KNOWN_REASON) for name in FIELDS),
    Output("dependence", absolute=KNOWN_DEPENDENCE_LIMIT, reason=KNOWN_REASON),
)
STEPPED = (
    (
        *(Output(name, absolute=1e-15, relative=2.0**-51, reason=ULPS) for name in FIELDS),
        *exact("reward", "terminated"),
    ),
    (
        *(Output(name, absolute=5e-7, relative=2.0**-22, reason=SINGLE) for name in FIELDS),
        near_threshold("reward", _before_or_after, MOVED_LIMIT),
        near_threshold("terminated", _after, MOVED_LIMIT),
    ),
)

MODULES = (
    _module(
        "constants", "__init__", recorded.constants_case, constants, "default_params", exact(*CONSTANTS),
        rounded(*CONSTANTS),
    ),
    _module(
        "spaces", "__init__", recorded.spaces_case, spaces, "observation_space action_space",
        exact("low", "high", "actions"), exact("low", "high", "actions"), depth=1,  # the spaces are objects
    ),
    _module(
        "draw", "reset", recorded.draw_case, draw, "draw_reset", (*exact("low", "high", "inside"), *BY_CHANCE),
        (*rounded("low", "high"), *exact("inside"), *BY_CHANCE), **SEEDS,
    ),
    _module("reset", "reset", recorded.reset_case, reset, "init", exact(*FIELDS), rounded(*FIELDS), **SEEDS),
    _module(
        "dynamics", "step", recorded.dynamics_case, dynamics, "transition accelerations", *STEPPED, **STATES,
    ),
    _module(
        "termination", "step", recorded.termination_case, termination, "fallen", exact("terminated"),
        (near_threshold("terminated", _given, ROUNDED_LIMIT),), **STATES,
    ),
    _module(
        "reward", "step", recorded.reward_case, reward, "reward", exact("reward"),
        (near_threshold("reward", _given, ROUNDED_LIMIT),),
        boundary=recorded.boundary_rewards, apply=recorded.apply_step,
    ),
    _module(
        "observe", "reset step", recorded.observe_case, observe, "observe",
        (Output("obs", absolute=TINY, reason=SUBNORMAL),), exact("obs"), **STATES,
    ),
    Module(
        "time_limit", (f"{TIME_LIMIT}.step",), recorded.time_limit_case, time_limit,
        ("overclock.env.environment:Environment.advance",),
        dict.fromkeys(("float64", "float32"), exact("steps", "truncated")),
        boundary=recorded.boundary_steps, apply=recorded.apply_step, counters=("steps",),
    ),
    # Last, because it is slow beside the others and rarely the first to see a mistake.
    _module("distribution", "reset", recorded.distribution_case, distribution, "draw_reset", KNOWN, KNOWN),
)  # fmt: skip
