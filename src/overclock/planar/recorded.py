"""Cases of level 1 from recorded calls of Gymnasium's robots, and from MuJoCo in the same states.

The reference's half of `modules.py`.
"""

from typing import Any

import numpy as np

from overclock.planar.oracle import constants_of, oracle
from overclock.verify.property.calls import Call
from overclock.verify.property.module import Case
from overclock.verify.sides.subject import Arrays

SEEDS = 1024
STATES = 1024


# ---- calls as named values ----


def state_of(values: dict[str, Any]) -> Arrays:
    """Positions and velocities among what was recorded of an instance."""
    return {name: values[name] for name in ("qpos", "qvel")}


def spaces_case(call: Call) -> Case:
    """The spaces a robot is built with."""
    spaces = {name: call.after[f"{name}_space"] for name in ("observation", "action")}
    return Case({}, {f"{name}_{end}": spaces[name][end] for name in spaces for end in ("low", "high")})


def parameters_case(call: Call, names: tuple[str, ...]) -> Case:
    """The arguments that Gymnasium takes where none are given."""
    return Case({}, {name: np.asarray(call.after[f"_{name}"], np.float64) for name in names})


def constants_case(call: Call) -> Case:
    """The numbers of MuJoCo's compiled model of a robot's file."""
    return Case({}, constants_of(oracle(call.after["fullpath"]).model))


def draw_case(call: Call) -> Case:
    """A seed, and the noise that it leads to."""
    return Case({"seed": np.uint32(call.arguments["seed"])}, _noise(call))


def reset_case(call: Call) -> Case:
    """The first state, from the noise drawn for it."""
    return Case(_noise(call), state_of(call.after))


def _noise(call: Call) -> Arrays:
    qpos, qvel = (draw.value for draw in call.draws)
    return {"qpos": qpos, "qvel": qvel}


def matrix_case(call: Call, xml: str) -> Case:
    """MuJoCo's mass matrix for the recorded state."""
    return Case({"qpos": call.before["qpos"]}, {"matrix": oracle(xml).matrix(state_of(call.before))})


def bias_case(call: Call, xml: str) -> Case:
    """The bias forces: Coriolis, centrifugal, gravity."""
    state = state_of(call.before)
    return Case(state, {"bias": oracle(xml).forward(state, 0.0).qfrc_bias.copy()})


def contacts_case(call: Call, xml: str) -> Case:
    """MuJoCo's contacts with the floor for the recorded state."""
    state = state_of(call.before)
    depth, place = oracle(xml).depths(state)
    return Case(state, {"depth": depth, "place": place})


def accelerations_case(call: Call, xml: str) -> Case:
    """The accelerations of all dofs under a control."""
    state, ctrl = state_of(call.before), np.asarray(call.arguments["ctrl"], np.float32)
    return Case({**state, "ctrl": ctrl}, {"qacc": oracle(xml).forward(state, ctrl).qacc.copy()})


def step_case(call: Call, xml: str, frames: int) -> Case:
    """A control step: MuJoCo's physics, Gymnasium's reward and end."""
    state, action = state_of(call.before), np.asarray(call.arguments["action"], np.float32)
    _, reward, terminated, *_ = call.result
    after = oracle(xml).stepped(state, action, frames)
    return Case({**state, "action": action}, {**after, "reward": np.float64(reward), "terminated": bool(terminated)})


def cost_case(call: Call) -> Case:
    """The control cost that Gymnasium reported for an action."""
    return Case({"action": np.asarray(call.arguments["action"], np.float32)}, {"cost": np.float64(call.result)})


def standing_case(call: Call) -> Case:
    """The reward for standing, 0 if the robot has fallen."""
    return Case(state_of(call.after), {"bonus": np.float64(call.result), "fallen": not call.result})


def observe_case(call: Call) -> Case:
    """The observation, from the state it shows."""
    return Case(state_of(call.after), {"obs": call.result})


def info_case(call: Call) -> Case:
    """Gymnasium's `info`, as far as it follows from the state."""
    told = call.result[4]
    shown = {name: np.float64(told[name]) for name in ("x_position", "z_distance_from_origin") if name in told}
    return Case(state_of(call.after), shown)


def time_limit_case(call: Call) -> Case:
    """One counted step of the time limit."""
    steps, after = (np.int32(values["_elapsed_steps"]) for values in (call.before, call.after))
    return Case({"steps": steps}, {"steps": after, "truncated": call.result[3]})


# ---- instances put into a given situation ----


def apply_seed(instance: Any, inputs: Arrays) -> None:
    """A reset from a given seed."""
    instance.reset(seed=int(inputs["seed"]))


def apply_step(instance: Any, inputs: Arrays) -> None:
    """A step from a given state."""
    from overclock.planar.reference import write_state

    write_state(instance, {"steps": np.array(0), **inputs})
    instance.step(inputs["action"])


# ---- boundary values ----


def boundary_seeds() -> Arrays:
    """Neighbouring seeds, enough of them to compare distributions."""
    return {"seed": np.arange(SEEDS, dtype=np.uint32)}


def boundary_states(xml: str) -> Arrays:
    """States that play rarely sees: lying on the floor, beyond the limits, upside down, fast, far away; any control.

    Some stand upright at a speed of about 100, which a hopper may not have. A fifth of the controls lies beyond its
    range, and some steps are the last one of an episode.
    """
    model, generator = oracle(xml).model, np.random.default_rng(0)
    n, m = model.nv, model.nu
    shape = (STATES, n)
    qpos = model.qpos0 + generator.normal(0.0, generator.choice([0.01, 0.3, 1.0], (STATES, 1)), shape)
    qpos[:, 0] *= generator.choice([1.0, 100.0], STATES)
    qvel = generator.normal(0.0, generator.choice([0.1, 1.0, 8.0], (STATES, 1)), shape)
    upright = generator.random(STATES) < 0.0625
    qpos[upright] = model.qpos0 + generator.normal(0.0, 0.01, (upright.sum(), n))
    qvel[upright] = generator.normal(0.0, 0.1, (upright.sum(), n))
    qvel[upright, 0] = generator.choice([-1.0, 1.0], upright.sum()) * generator.uniform(95.0, 105.0, upright.sum())
    action = generator.uniform(-1.25, 1.25, (STATES, m)).astype(np.float32)
    steps = generator.choice(np.array([0, 998, 999, 1000, 2**20], np.int32), STATES)
    return {"qpos": qpos, "qvel": qvel, "action": action, "steps": steps}
