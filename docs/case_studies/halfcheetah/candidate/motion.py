"""A control step, and what an action costs."""

import jax.numpy as jnp
from dynamics import mass_matrix
from jax import lax
from jaxtyping import Array, Float
from kinematics import Number, Numbers
from model import DAMPING, TIMESTEP
from solver import acceleration
from tree import factor, solve

FRAMES = 5
CONTROL_WEIGHT = 0.1


def frame(qpos: tuple, qvel: tuple, guess: tuple, ctrl: Numbers) -> tuple[tuple, tuple, tuple]:
    """One time step; joint damping as of the end of it, which takes (M + h D) a = M qacc."""
    found = acceleration(qpos, qvel, ctrl, guess)
    damped = mass_matrix(qpos)
    for dof, damping in enumerate(DAMPING):
        damped[dof][dof] = damped[dof][dof] + TIMESTEP * damping
    less = solve(factor(damped), [TIMESTEP * damping * a for damping, a in zip(DAMPING, found, strict=True)])
    qvel = tuple(v + TIMESTEP * (a - b) for v, a, b in zip(qvel, found, less, strict=True))
    return tuple(q + TIMESTEP * v for q, v in zip(qpos, qvel, strict=True)), qvel, tuple(found)


def simulate(qpos: Numbers, qvel: Numbers, ctrl: Numbers) -> tuple[list[Number], list[Number]]:
    """Five time steps, each of which seeks its accelerations from those of the one before.

    The physics is the same everywhere along x, so it begins at 0: far from there float32 has few digits.
    """
    here = tuple(jnp.zeros_like(q) if dof == 0 else q for dof, q in enumerate(qpos))
    begin = (here, tuple(qvel), tuple(jnp.zeros_like(v) for v in qvel))
    after, moving, _ = lax.fori_loop(0, FRAMES, lambda _, state: frame(*state, ctrl), begin)
    return [qpos[0] + after[0], *after[1:]], list(moving)


def control_cost(action: Float[Array, "6"]) -> Float[Array, ""]:
    """Of the action as it was given; the reference rounds every square and every sum to float32.

    XLA would add a square before it is rounded. In float64 it is exact, and rounded by the cast.
    """
    squares = jnp.square(action.astype(float)).astype(jnp.float32)
    total = squares[0]
    for one in range(1, len(squares)):
        total = total + squares[one]
    return CONTROL_WEIGHT * total
