"""CartPole and Gymnasium's CartPole-v1 as a twin: what is compared and how closely."""

from typing import Any

import numpy as np

from overclock.envs.cartpole.env import CartPoleParams
from overclock.envs.cartpole.plants import PLANTS
from overclock.verify.contract import Contract, Field, Twin
from overclock.verify.sides.subject import Arrays, SubjectSpec

STATE = ("x", "x_dot", "theta", "theta_dot")  # each starts from the reset's draw of the same name

# Random play ends within about 100 steps; the upright pole is unstable (errors grow by a factor e**0.08 per step),
# so 4e-16 after one step is up to 1e-12 after 100 and anything after 500, for any two correct programs.
HORIZON = 100
GROWN = "errors grow by e**0.08 per step, a thousand times in 90 steps; most random episodes end after some 20"
UNSTABLE = "the upright pole is an unstable equilibrium: an error grows by e**0.08 per step"


def twin() -> Twin:
    """The two sides and the contract for each precision."""
    return Twin(
        name="cartpole-v1",
        reference=SubjectSpec("overclock.envs.cartpole.reference:reference"),
        performance=SubjectSpec(
            "overclock.verify.sides.jax_subject:JaxSubject", (("env_id", "cartpole-v1"),), kernels=True
        ),
        contracts={"float64": _contract_float64(), "float32": _contract_float32()},
        plants=PLANTS,
        scenarios="overclock.envs.cartpole.scenarios",
        modules="overclock.envs.cartpole.modules:MODULES",
        transfer="overclock.envs.cartpole.transfer:PLAN",
        traced=True,
        players=("overclock.envs.cartpole.players:balancing", "overclock.envs.cartpole.players:leaving"),
    )


def _contract_float64() -> Contract:
    ulps = "XLA's sin and cos and its fused multiply-adds round differently from NumPy's by 1-2 ulp"
    cast = "the float32 cast of a state that differs by an ulp of float64 may land on the neighbouring float32"
    return Contract(
        fields=(
            *_state(per_step=1e-15, free_running=1e-12, reason=f"{ulps}; {UNSTABLE}", wide=GROWN),
            Field(
                "obs",
                1e-15,
                1e-12,
                f"{ulps}; {cast}",
                per_step_relative=2.0**-23,
                free_running_relative=2.0**-23,
                wide="a cast that lands on the neighbour is an error bound: few steps use it",
            ),
            Field("reward"),
            Field("terminated"),
            Field("truncated"),
            Field("state.steps"),
        ),
        free_running_steps=HORIZON,
        free_running_reason=UNSTABLE,
    )


def _contract_float32() -> Contract:
    single = "state and arithmetic are float32 here and float64 in Gymnasium; an ulp near 4 is 4.8e-7"
    return Contract(
        fields=(
            *_state(per_step=1e-6, free_running=1e-3, reason=f"{single}; {UNSTABLE}", wide=GROWN),
            Field("obs", per_step=1e-6, free_running=1e-3, reason=f"{single}; {UNSTABLE}", wide=GROWN),
            Field("reward"),
            Field("terminated"),
            Field("truncated"),
            Field("state.steps"),
        ),
        distance_to_limit=distance_to_limit,
        limit_margin=1e-6,
        limit_reason="a state that one step in float32 moves by up to 1e-6 may land on the other side of a threshold",
        free_running_steps=HORIZON,
        free_running_reason=UNSTABLE,
    )


def _state(**closeness: Any) -> tuple[Field, ...]:
    return tuple(Field(f"state.{name}", draws=(name,), **closeness) for name in STATE)


def distance_to_limit(state: Arrays) -> np.ndarray:
    """How far each lane is from the nearest threshold of `terminated`."""
    params = CartPoleParams()
    return np.minimum(
        np.abs(np.abs(state["x"]) - params.x_threshold), np.abs(np.abs(state["theta"]) - params.theta_threshold_radians)
    )
