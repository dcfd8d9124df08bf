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
    """Of the default parameters."""
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
    """What the draws of very many seeds are like, between the limits of the case."""
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
    """The step counter and what it decides; where the pole stands does not matter."""
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

MODULES = (
    Module(
        name="constants",
        reference=(f"{REFERENCE}.__init__",),
        case=recorded.constants_case,
        performance=constants,
        exercises=(f"{RULES}.default_params",),
        outputs={"float64": exact(*CONSTANTS), "float32": rounded(*CONSTANTS)},
    ),
    Module(
        name="spaces",
        reference=(f"{REFERENCE}.__init__",),
        case=recorded.spaces_case,
        performance=spaces,
        exercises=(f"{RULES}.observation_space", f"{RULES}.action_space"),
        outputs=dict.fromkeys(("float64", "float32"), exact("low", "high", "actions")),
        depth=1,  # the spaces are objects
    ),
    Module(
        name="draw",
        reference=(f"{REFERENCE}.reset",),
        case=recorded.draw_case,
        performance=draw,
        exercises=(f"{RULES}.draw_reset",),
        outputs={
            "float64": (
                *exact("low", "high", "inside"),
                *(Output(n, distribution=True, reason=CHANCE) for n in FIELDS),
            ),
            "float32": (
                *rounded("low", "high"),
                *exact("inside"),
                *(Output(n, distribution=True, reason=CHANCE) for n in FIELDS),
            ),
        },
        boundary=recorded.boundary_seeds,
        apply=recorded.apply_seed,
    ),
    Module(
        name="reset",
        reference=(f"{REFERENCE}.reset",),
        case=recorded.reset_case,
        performance=reset,
        exercises=(f"{RULES}.init",),
        outputs={"float64": exact(*FIELDS), "float32": rounded(*FIELDS)},
        boundary=recorded.boundary_seeds,
        apply=recorded.apply_seed,
    ),
    Module(
        name="dynamics",
        reference=(f"{REFERENCE}.step",),
        case=recorded.dynamics_case,
        performance=dynamics,
        exercises=(f"{RULES}.transition", f"{RULES}.accelerations"),
        outputs={
            "float64": (
                *(Output(name, absolute=1e-15, relative=2.0**-51, reason=ULPS) for name in FIELDS),
                *exact("reward", "terminated"),
            ),
            "float32": (
                *(Output(name, absolute=5e-7, relative=2.0**-22, reason=SINGLE) for name in FIELDS),
                near_threshold("reward", _before_or_after, MOVED_LIMIT),
                near_threshold("terminated", _after, MOVED_LIMIT),
            ),
        },
        boundary=recorded.boundary_states,
        apply=recorded.apply_step,
    ),
    Module(
        name="termination",
        reference=(f"{REFERENCE}.step",),
        case=recorded.termination_case,
        performance=termination,
        exercises=(f"{RULES}.fallen",),
        outputs={"float64": exact("terminated"), "float32": (near_threshold("terminated", _given, ROUNDED_LIMIT),)},
        boundary=recorded.boundary_states,
        apply=recorded.apply_step,
    ),
    Module(
        name="reward",
        reference=(f"{REFERENCE}.step",),
        case=recorded.reward_case,
        performance=reward,
        exercises=(f"{RULES}.reward",),
        outputs={"float64": exact("reward"), "float32": (near_threshold("reward", _given, ROUNDED_LIMIT),)},
        boundary=recorded.boundary_rewards,
        apply=recorded.apply_step,
    ),
    Module(
        name="observe",
        reference=(f"{REFERENCE}.reset", f"{REFERENCE}.step"),
        case=recorded.observe_case,
        performance=observe,
        exercises=(f"{RULES}.observe",),
        outputs={"float64": (Output("obs", absolute=TINY, reason=SUBNORMAL),), "float32": exact("obs")},
        boundary=recorded.boundary_states,
        apply=recorded.apply_step,
    ),
    Module(
        name="time_limit",
        reference=(f"{TIME_LIMIT}.step",),
        case=recorded.time_limit_case,
        performance=time_limit,
        exercises=("overclock.env.environment:Environment.advance",),
        outputs=dict.fromkeys(("float64", "float32"), exact("steps", "truncated")),
        boundary=recorded.boundary_steps,
        apply=recorded.apply_step,
    ),
    # Last, because it is slow beside the others and rarely the first to see a mistake.
    Module(
        name="distribution",
        reference=(f"{REFERENCE}.reset",),
        case=recorded.distribution_case,
        performance=distribution,
        exercises=(f"{RULES}.draw_reset",),
        outputs=dict.fromkeys(
            ("float64", "float32"),
            (
                *(Output(name, absolute=KNOWN_LIMIT, reason=KNOWN_REASON) for name in FIELDS),
                Output("dependence", absolute=KNOWN_DEPENDENCE_LIMIT, reason=KNOWN_REASON),
            ),
        ),
    ),
)
