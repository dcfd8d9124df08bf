"""Cases of level 1 from recorded calls of Gymnasium's robots, and from MuJoCo in the same states.

The reference's half of `modules.py`.
"""

from typing import Any

import numpy as np

from overclock.planar.oracle import constants_of, oracle
from overclock.verify.property.calls import Call
from overclock.verify.property.module import Case
from overclock.verify.property.variations import counts, together
from overclock.verify.sides.subject import Arrays

SEEDS = 1024
STATES = 1024
HIGH = 10.0  # metres in the air
DISTANCES = (100.0, 255.0, 256.0, 1_000.0, 1_024.0, 4_096.0, 10_000.0, 65_536.0, 100_000.0)
TURNS = (0.5, 0.75, 1.0, 1.25, 2.0, 3.0, 4.5, 10.0, 100.0)  # halves of a turn


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


def apply_look(instance: Any, inputs: Arrays) -> None:
    """What a robot is rewarded for, and what is observed, in a given state; no step moves it away."""
    from overclock.planar.reference import write_state

    write_state(instance, {"steps": np.array(0), **inputs})
    robot = instance.unwrapped
    robot._get_obs()
    getattr(robot, "healthy_reward", None)


def boundary_looks(xml: str) -> Arrays:
    """A robot that stands at rest, and some others; level 1 puts their numbers on, and beside, every threshold."""
    model = oracle(xml).model
    qpos = np.repeat(model.qpos0[None], 2, axis=0)
    qpos[1] += 0.0625  # within all thresholds, and nothing is zero
    qvel = np.repeat(np.array([0.0, 0.5])[:, None], model.nv, axis=1)
    return {"qpos": qpos, "qvel": qvel}


def boundary_states(xml: str) -> Arrays:
    """States that play rarely sees: lying on the floor, beyond the limits, upside down, fast, far away; any control.

    Some stand upright at a speed of about 100, which a hopper may not have. A fifth of the controls lies beyond its
    range. In some a joint is at a limit exactly and moves. Steps are all numbers at which counters fail, and those
    around the time limit.
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
    for row, (joint, end) in zip(np.flatnonzero(~upright), _joint_limits(model), strict=False):
        qpos[row, joint] = end
    steps = np.resize(np.array([*counts(), 998, 999, 1000, 1001], np.int32), STATES)
    return {"qpos": qpos, "qvel": qvel, "action": action, "steps": steps}


def boundary_journeys(xml: str) -> Arrays:
    """The same states, and robots in the air that ran far or turned over often.

    Nothing touches them: far away MuJoCo's own rounding would decide when they meet the floor.
    """
    model = oracle(xml).model
    places = [(0, sign * far) for far in DISTANCES for sign in (-1.0, 1.0)]
    places += [(2, sign * turns * np.pi) for turns in TURNS for sign in (-1.0, 1.0)]
    qpos = np.repeat(model.qpos0[None], len(places), axis=0)
    qpos[:, 1] += HIGH
    for row, (dof, by) in zip(qpos, places, strict=True):
        row[dof] += by
    still = {"qpos": qpos, "qvel": np.full(qpos.shape, 0.25), "action": np.zeros((len(places), model.nu), np.float32)}
    return together(boundary_states(xml), {**still, "steps": np.zeros(len(places), np.int32)})


def _joint_limits(model: Any) -> list[tuple[int, float]]:
    """Every joint at each end of its range, a few times: by chance it moves into the limit in some of them."""
    joints = np.flatnonzero(model.jnt_limited)
    return [(int(joint), end) for joint in joints for end in model.jnt_range[joint].tolist() for _ in range(4)]
