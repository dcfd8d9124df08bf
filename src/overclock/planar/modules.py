"""The modules of level 1 for a robot: the calls of Gymnasium that they are compared with, and the tolerances.

Loaded by both sides, so neither is imported at the top.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from overclock.planar import functions, recorded
from overclock.planar.twin import COST, JUMP, ROUNDING, SINGLE, SOLVER, Robot
from overclock.verify.contract import Precision
from overclock.verify.error_bounds import sum_of_squares
from overclock.verify.property.distribution import REASON as CHANCE
from overclock.verify.property.module import Module, Output, exact
from overclock.verify.sides.subject import Arrays

MUJOCO = "gymnasium.envs.mujoco.mujoco_env:MujocoEnv"
TIME_LIMIT = "gymnasium.wrappers.common:TimeLimit"
ENGINE, RULES = "overclock.planar", "overclock.planar.environment:PlanarEnvironment"
CONSTANTS = (
    "timestep", "gravity", "qpos0", "stiffness", "spring_reference", "damping", "armature", "limits", "limit_weights",
    "masses", "inertias", "radii", "lengths", "gears", "controls",
)  # fmt: skip
PARAMETERS = ("forward_reward_weight", "ctrl_cost_weight", "reset_noise_scale")
HEALTHY = ("healthy_reward", "healthy_z_range", "healthy_angle_range")
HALF_ULP = 2.0**-24  # of float32, relative
ROUNDED = "a float64 number rounded to float32: half an ulp, 2**-24"
STOPPED = "Gymnasium's own reward, for which MuJoCo's solver stops within 1e-8 of its minimum"
RARE_SHARE = 0.005  # of recorded and boundary states: of HalfCheetah's steps one in a thousand, and these are odd ones
WEIGHTS = "MuJoCo's own weights go through the factors of its mass matrix, whose condition differs between robots"
SUMMED = "a sum of float32 squares in any order, fused or not: 2 gamma(motors + 1), see error_bounds.py"
NEAR = "in float32 a state next to a threshold may be rounded to its other side"

Distance = Callable[[Arrays], np.ndarray]
Outputs = Mapping[Precision, tuple[Output, ...]]


def modules(
    robot: Robot,
    xml: str,
    frames: int,
    motors: int,
    distance: Distance | None = None,
    more_parameters: tuple[str, ...] = (),
) -> tuple[Module, ...]:
    """The modules of one robot; one that can fall has a `distance` to its thresholds and further parameters."""
    states = {"boundary": functools.partial(recorded.boundary_states, xml), "apply": recorded.apply_step}
    looks = {"boundary": functools.partial(recorded.boundary_looks, xml), "apply": recorded.apply_look}
    looks |= {"compared": ("qpos", "qvel")}
    shared = (
        *_built(robot, (*PARAMETERS, *more_parameters)),
        *_resets(),
        *_physics(xml, states),
        *_rules(robot, xml, frames, motors, states, looks, distance),
    )
    return shared if distance is None else (*shared, _standing(robot, looks, distance))


def _built(robot: Robot, parameters: tuple[str, ...]) -> tuple[Module, ...]:
    kept = ("observation_space", "action_space", "fullpath", *(f"_{name}" for name in parameters))
    return (
        Module(
            "spaces", (f"{robot.rules}.__init__",), recorded.spaces_case, functions.spaces,
            (f"{RULES}.observation_space", f"{RULES}.action_space"),
            _alike(exact("observation_low", "observation_high", "action_low", "action_high")),
            depth=1, attributes=kept,  # the spaces are objects
        ),
        Module(
            "parameters", (f"{robot.rules}.__init__",),
            functools.partial(recorded.parameters_case, names=parameters), functions.parameters,
            (f"{robot.package}.env:{robot.original.partition('-')[0]}.default_params",),
            {"float64": exact(*parameters), "float32": _values(parameters, (0.0, HALF_ULP), ROUNDED)},
            attributes=kept,
        ),
        Module(
            "constants", (f"{robot.rules}.__init__",), recorded.constants_case, functions.constants,
            (f"{RULES}.model",), _constants(), attributes=kept,
        ),
    )  # fmt: skip


def _resets() -> tuple[Module, ...]:
    seeds = {"boundary": recorded.boundary_seeds, "apply": recorded.apply_seed}
    return (
        Module(
            "draw", (f"{MUJOCO}.reset",), recorded.draw_case, functions.draw, (),
            _alike(tuple(Output(name, distribution=True, reason=CHANCE) for name in ("qpos", "qvel"))), **seeds,
        ),
        Module(
            "reset", (f"{MUJOCO}.reset",), recorded.reset_case, functions.reset, (f"{RULES}.init",),
            {"float64": exact("qpos", "qvel"), "float32": _values(("qpos", "qvel"), (1e-8, 2**-23), ROUNDED)},
            **seeds,
        ),
    )  # fmt: skip


def _physics(xml: str, states: Mapping[str, Any]) -> tuple[Module, ...]:
    def module(name: str, run: Any, case: Any, exercises: tuple[str, ...], outputs: Outputs) -> Module:
        simulation, of_file = (f"{MUJOCO}.do_simulation",), functools.partial(case, xml=xml)
        return Module(name, simulation, of_file, run, exercises, outputs, **states)

    return (
        module(
            "mass_matrix", functions.matrix, recorded.matrix_case,
            tuple(f"{ENGINE}.engine.{name}" for name in ("inertia:mass_matrix", "inertia:joined", "kinematics:place")),
            _numbers(("matrix",), (1e-11, 1e-12), (1e-5, 1e-5)),
        ),
        module(
            "bias", functions.bias, recorded.bias_case,
            (f"{ENGINE}.engine.inertia:bias", f"{ENGINE}.engine.kinematics:forces"),
            _numbers(("bias",), (1e-9, 1e-12), (1e-2, 1e-5)),
        ),
        module(
            "contacts", functions.contacts, recorded.contacts_case,
            (f"{ENGINE}.engine.contacts:touches", f"{ENGINE}.engine.contacts:impedance"),
            {
                "float64": (
                    *_values(("depth",), (2e-14, 2e-14), ROUNDING),
                    *_values(("place",), (1e-12, 1e-12), ROUNDING),
                ),
                "float32": _values(("depth", "place"), (1e-5, 1e-5), SINGLE),
            },
        ),
        module(
            "accelerations", functions.accelerations, recorded.accelerations_case,
            tuple(
                f"{ENGINE}.engine.{name}"
                for name in ("integrate:accelerate", "solver:newton_step", "contacts:limits", "factor:solve")
            ),
            {
                "float64": (_rare("qacc", 2e-8, 2e-11, 1e-2, f"{ROUNDING}; {SOLVER}"),),
                "float32": (_rare("qacc", 0.2, 2e-4, 100.0, f"{SINGLE}; {JUMP}"),),
            },
        ),
    )  # fmt: skip


def _rules(
    robot: Robot,
    xml: str,
    frames: int,
    motors: int,
    states: Mapping[str, Any],
    looks: Mapping[str, Any],
    distance: Distance | None,
) -> tuple[Module, ...]:
    flags = {"float64": exact("terminated"), "float32": (_near("terminated", _after(distance), 1e-3),)}
    moved = {
        "float64": (
            _rare("qpos", 2e-13, 2e-13, 1e-6, f"{ROUNDING}; {SOLVER}"),
            _rare("qvel", 1e-11, 1e-11, 1e-4, f"{ROUNDING}; {SOLVER}"),
        ),
        "float32": (
            _rare("qpos", 5e-5, 5e-6, 1e-1, f"{SINGLE}; {JUMP}"),
            _rare("qvel", 6.5e-4, 6.5e-5, 5.0, f"{SINGLE}; {JUMP}"),
        ),
    }
    return (
        Module(
            "step", (f"{robot.rules}.step",), functools.partial(recorded.step_case, xml=xml, frames=frames),
            functions.step, (f"{RULES}.transition", f"{RULES}.simulate", f"{ENGINE}.engine.integrate:advance"),
            {
                "float64": (*moved["float64"], Output("reward", 1e-6, 2**-22, STOPPED, rare=1e-4), *flags["float64"]),
                "float32": (*moved["float32"], _near("reward", _after(distance), 1e-3, 3e-4, 0.1), *flags["float32"]),
            },
            boundary=functools.partial(recorded.boundary_journeys, xml), apply=recorded.apply_step,
        ),
        Module(
            "cost", (f"{robot.rules}.control_cost",), recorded.cost_case, functions.cost,
            (f"{RULES}.control_cost",),
            _alike((Output("cost", relative=sum_of_squares(motors), reason=f"{COST}; {SUMMED}"),)), **states,
        ),
        Module(
            "observe", (f"{robot.rules}._get_obs",), recorded.observe_case, functions.observe,
            (f"{RULES}.observe",),
            {"float64": exact("obs"), "float32": _values(("obs",), (0.0, HALF_ULP), ROUNDED)}, **looks,
        ),
        Module(
            "info", (f"{robot.rules}.step",), recorded.info_case, functions.info, (),
            _numbers(_told(distance), (0.0, 0.0), (1e-7, 2**-22)), **states,
        ),
        Module(
            "time_limit", (f"{TIME_LIMIT}.step",), recorded.time_limit_case, functions.time_limit,
            ("overclock.env.environment:Environment.advance",), _alike(exact("steps", "truncated")),
            attributes=("_elapsed_steps",), **states,
        ),
    )  # fmt: skip


def _standing(robot: Robot, looks: Mapping[str, Any], distance: Distance) -> Module:
    def given(inputs: Arrays, expected: Arrays) -> np.ndarray:
        return distance(inputs)

    return Module(
        name="standing",
        reference=(f"{robot.rules}.healthy_reward",),
        case=recorded.standing_case,
        performance=functions.standing,
        exercises=("overclock.planar.environment:HealthyEnvironment.bonus",),
        outputs={
            "float64": exact("bonus", "fallen"),
            "float32": (_near("bonus", given, 1e-5), _near("fallen", given, 1e-5)),
        },
        **looks,
    )


def _after(distance: Distance | None) -> Callable[[Arrays, Arrays], np.ndarray] | None:
    return None if distance is None else lambda inputs, expected: distance(expected)


def _told(distance: Distance | None) -> tuple[str, ...]:
    return ("x_position",) if distance is None else ("x_position", "z_distance_from_origin")


def _near(name: str, distance: Any, margin: float, absolute: float = 0.0, rare: float = 0.0) -> Output:
    """An output that may differ near a threshold; without a threshold a plain output."""
    why = f"{SINGLE}; {JUMP}" if absolute else ""
    if distance is None:
        return Output(name, absolute, reason=why, rare=rare)
    reason = f"{NEAR}; {why}" if why else NEAR
    return Output(name, absolute, reason=reason, distance=distance, margin=margin, rare=rare)


def _rare(name: str, absolute: float, relative: float, rare: float, reason: str) -> Output:
    return Output(name, absolute, relative, reason, rare=rare, rare_share=RARE_SHARE)


def _constants() -> Outputs:
    """The model's numbers: some roundings off, weights by more; in float32 rounded once."""
    exact_ones = tuple(name for name in CONSTANTS if name != "limit_weights")
    weights = Output("limit_weights", relative=1e-12, reason=ROUNDING, wide=WEIGHTS)
    return {
        "float64": (*_values(exact_ones, (0.0, 2e-14), ROUNDING), weights),
        "float32": _values(CONSTANTS, (0.0, HALF_ULP), ROUNDED),
    }


def _alike(outputs: tuple[Output, ...]) -> Outputs:
    return {"float64": outputs, "float32": outputs}


def _values(names: tuple[str, ...], closeness: tuple[float, float], reason: str) -> tuple[Output, ...]:
    return tuple(Output(name, *closeness, reason=reason) for name in names)


def _numbers(
    names: tuple[str, ...], double: tuple[float, float], single: tuple[float, float], why: str = SINGLE
) -> Outputs:
    """Outputs with (absolute, relative) tolerances in both precisions."""
    return {"float64": _values(names, double, ROUNDING), "float32": _values(names, single, why)}
