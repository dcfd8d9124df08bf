"""Time integration as in `mj_step`: Euler's method with implicit damping, or the fourth-order Runge-Kutta method."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from overclock.planar.engine.contacts import limits, pairs, touches
from overclock.planar.engine.factor import factor, solve
from overclock.planar.engine.inertia import Matrix, bias, mass_matrix
from overclock.planar.engine.kinematics import Scalar, motions, place
from overclock.planar.engine.solver import Problem, accelerations
from overclock.planar.model import PlanarModel

STAGES = 4  # of Runge and Kutta's method
State = tuple[tuple[Scalar, ...], ...]
"""Positions, velocities, the last accelerations (a guess of the next), and what an integrator keeps beside them."""


def advance(
    model: PlanarModel, qpos: Float[Array, " n"], qvel: Float[Array, " n"], ctrl: Float[Array, " m"], substeps: int
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Position and velocity after so many time steps under one control."""
    actuation = torques(model, [jnp.asarray(ctrl[i], qpos.dtype) for i in range(len(model.motors))])
    stages = 1 if model.integrator == "Euler" else STAGES

    def once(i: Any, state: State) -> State:
        return euler(model, state, actuation) if stages == 1 else runge_kutta(model, i % stages, state, actuation)

    position, velocity = tuple(qpos[i] for i in range(model.dofs)), tuple(qvel[i] for i in range(model.dofs))
    still = (jnp.zeros((), qpos.dtype),) * model.dofs
    state: State = (position, velocity, still, *((position, velocity) * 2 if stages > 1 else ()))
    position, velocity, *_ = jax.lax.fori_loop(0, substeps * stages, once, state)
    return jnp.stack(position), jnp.stack(velocity)


def torques(model: PlanarModel, ctrl: Sequence[Scalar]) -> list[Scalar]:
    """The torques of the motors by dof. If one control is NaN, all count as zero, as in MuJoCo."""
    found: list[Scalar] = [0.0] * model.dofs
    usable = ~functools.reduce(jnp.logical_or, map(jnp.isnan, ctrl))
    for motor, control in zip(model.motors, ctrl, strict=True):
        taken = jnp.clip(jnp.where(usable, control, 0.0), motor.low, motor.high)
        found[motor.dof] = found[motor.dof] + motor.gear * taken
    return found


def accelerate(
    model: PlanarModel, qpos: Sequence[Scalar], qvel: Sequence[Scalar], actuation: list[Scalar], guess: Sequence[Scalar]
) -> tuple[Matrix, list[Scalar]]:
    """The mass matrix, and MuJoCo's qacc by Newton's method from a first guess."""
    placed = place(model, qpos)
    matrix, held = mass_matrix(model, placed), bias(model, placed, qvel)
    smooth = []
    for dof, joint in enumerate(model.joints):
        force = actuation[dof] - held[dof]
        if joint.stiffness:
            force = force - joint.stiffness * (qpos[dof] - joint.spring_reference)
        smooth.append(force - joint.damping * qvel[dof] if joint.damping else force)
    rows = [*limits(model, qpos, qvel), *pairs(model, placed, qvel)]
    touching = touches(model, placed, motions(model, placed, qvel))
    return matrix, accelerations(Problem(model, placed, matrix, smooth, touching, rows), guess)


def euler(model: PlanarModel, state: State, actuation: list[Scalar]) -> State:
    """One step of Euler's method. Joint damping is implicit: (M + h D) a = M qacc."""
    qpos, qvel, guess = state
    h, dampings = model.timestep, [joint.damping for joint in model.joints]
    matrix, qacc = accelerate(model, qpos, qvel, actuation, guess)
    found = tuple(qacc)
    if any(dampings):
        damped = dict(matrix)
        for dof, damping in enumerate(dampings):
            if damping:
                damped[dof, dof] = damped[dof, dof] + h * damping
        taken = [h * damping * a for damping, a in zip(dampings, qacc, strict=True)]
        less = solve(model, factor(model, damped), taken)
        qacc = [a - b for a, b in zip(qacc, less, strict=True)]
    after = tuple(v + h * a for v, a in zip(qvel, qacc, strict=True))
    return tuple(q + h * v for q, v in zip(qpos, after, strict=True)), after, found


def runge_kutta(model: PlanarModel, stage: Scalar, state: State, actuation: list[Scalar]) -> State:
    """One stage of the Runge-Kutta method, on the present state, the first state and the weighted sum so far.

    One stage at a time, so that the physics is compiled once and not four times.
    """
    at, moving, guess, began, began_moving, sum_q, sum_v = state
    h = model.timestep
    qacc = accelerate(model, at, moving, actuation, guess)[1]
    dtype = at[0].dtype
    share = jnp.where((stage == 0) | (stage == 3), h / 6, h / 3).astype(dtype)
    ahead = jnp.where(stage == 2, h, h / 2).astype(dtype)
    last = stage == 3
    sum_q = tuple(total + share * v for total, v in zip(sum_q, moving, strict=True))
    sum_v = tuple(total + share * a for total, a in zip(sum_v, qacc, strict=True))
    after = tuple(jnp.where(last, total, q + ahead * v) for total, q, v in zip(sum_q, began, moving, strict=True))
    after_moving = tuple(
        jnp.where(last, total, v + ahead * a) for total, v, a in zip(sum_v, began_moving, qacc, strict=True)
    )
    began = tuple(jnp.where(last, total, q) for total, q in zip(sum_q, began, strict=True))
    began_moving = tuple(jnp.where(last, total, v) for total, v in zip(sum_v, began_moving, strict=True))
    return after, after_moving, tuple(qacc), began, began_moving, sum_q, sum_v
