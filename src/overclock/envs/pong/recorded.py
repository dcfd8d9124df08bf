"""Cases of level 1 from recorded calls of PufferLib's Pong, and boundary states to record further calls from.

The reference's half of `modules.py`.
"""

from typing import Any

import numpy as np

from overclock.envs.pong.library import COUNTS, SCENE, SEEN, STATE
from overclock.verify.property.calls import Call
from overclock.verify.property.module import Case
from overclock.verify.sides.subject import Arrays

SEEDS = 2048
BOUNDARY = 4096  # situations, each with an action

# Around the places where the rules compare: walls, edges of the field, a ball that is nearly level.
BALL_X = (-12.0, -2.0, 0.0, 8.0, 9.99, 10.0, 10.01, 100.0, 240.0, 457.99, 458.0, 458.01, 468.0, 470.0, 478.0)
BALL_Y = (-13.0, -1.0, 0.0, 0.5, 1.0, 12.0, 13.0, 37.25, 304.0, 595.0, 596.0, 607.0, 607.5, 608.0, 609.0, 620.0)
BALL_VX = (-10.0, 10.0)
BALL_VY = (*(float(speed) for speed in range(-13, 14)), -0.01, 0.005, 0.01, 0.011, 2.99, 2.995, 3.01, -3.01, 11.5)
PADDLES = (-35.0, -27.0, -26.5, 285.0, 597.0, 597.5, 605.0)
BESIDE = (-70.0, 32.0)  # from the ball's lower edge to a paddle that it just touches
NEARLY = (-21.0, -16.0, -9.0, -8.0, -7.5, -1.0, 0.0, 0.25, 1.0, 7.5, 8.0, 9.0, 16.0, 21.0)
SCORES = (0, 7, 19, 20)  # of games that are not over; level 1 varies them further in steps
COUNTED = (*range(48), 254, 255, 256, 32_767, 65_535, 2**24, 2**30)  # level 1 varies them further

# What pong.h compares with: sums with the ball's speed (10, 13), heights and widths. Level 1 puts numbers beside them.
COMPARED = (0.0, 0.01, 3.0, 10.0, 13.0, 35.0, 458.0, 468.0, 478.0, 595.0, 597.0, 605.0, 608.0)
DIRECTIONS = (-3.0, -1.0, -0.9983, -0.5, -1e-3, 0.0, 0.1, 1 / 3, 0.7, 1.0, 1.5)

# ---- calls as named values ----


def constants_case(call: Call) -> Case:
    """The defaults of PufferLib's class; the paddles' width matters to its drawing only."""
    return Case({}, {name: np.float32(value) for name, value in call.result.items() if name != "paddle_width"})


def spaces_case(call: Call) -> Case:
    """The sizes of the observation and action spaces."""
    return Case({}, {name: np.int32(value) for name, value in call.result.items()})


def draw_case(call: Call) -> Case:
    """The first serve bits of the C library's generator."""
    reset, step = call.result
    return Case({"seed": np.uint32(call.arguments["seed"])}, {"reset": reset, "step": step})


def reset_case(call: Call) -> Case:
    """The first state of a game, from its serve bit."""
    return Case({"serve": np.int32(call.arguments["serve"])}, _named(call.after, STATE))


def serve_case(call: Call) -> Case:
    """A new round in the middle of a game."""
    inputs = {**_named(call.before, STATE), "serve": np.int32(call.arguments["serve"])}
    return Case(inputs, _named(call.after, STATE))


def direction_case(call: Call) -> Case:
    """Where an action moves the paddle."""
    return Case({"action": _action(call)}, _named(call.after, ("paddle_dir",)))


def frame_case(call: Call) -> Case | None:
    """One frame. If a ball was served after it, the state before the serve cannot be read."""
    if call.before["frameskip"] != 1:
        return None
    before, after = call.before, call.after
    point = any(after[name] != before[name] for name in ("score_l", "score_r"))
    shown = (*SCENE, "n_bounces")
    hidden = point and not after["terminal"]
    scene = {name: np.zeros_like(after[name]) if hidden else after[name] for name in shown}
    inputs = {**_named(before, STATE), "action": _action(call)}
    return Case(inputs, {**scene, **_named(after, ("score_l", "score_r", "reward")), "point": np.bool_(point)})


def step_case(call: Call) -> Case:
    """One whole step of an environment: state before, action, and what came of it."""
    inputs = {**_named(call.before, STATE), "action": _action(call), "serve": np.int32(call.arguments["serve"])}
    expected = {**_named(call.after, (*STATE, "reward")), "terminated": np.bool_(call.after["terminal"] != 0)}
    return Case(inputs, expected)


def observe_case(call: Call) -> Case:
    """The observation, from what it was computed from."""
    return Case(_named(call.after, SEEN), _named(call.after, ("obs",)))


def _named(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _action(call: Call) -> np.ndarray:
    action = call.arguments["action"]
    return np.array([action], np.float32) if call.before["continuous"] else np.array(action, np.int32)


def time_limit_case(call: Call) -> Case:
    """Whether the first of the episodes asked about is cut after so many steps: never."""
    steps, truncated = (np.ravel(values)[0] for values in (call.arguments["steps"], call.result))
    return Case({"steps": steps}, {"steps": steps + np.int32(1), "truncated": truncated})


# ---- environments put into a given situation ----


def apply_seed(instance: Any, inputs: Arrays) -> None:
    """Serves as PufferLib draws them."""
    from overclock.envs.pong import library

    library.first_serves(int(inputs["seed"]))


def apply_reset(instance: Any, inputs: Arrays) -> None:
    """The start of a game."""
    instance.c_reset(int(inputs["serve"]))


def apply_serve(instance: Any, inputs: Arrays) -> None:
    """A serve in the middle of a game."""
    instance.write({name: inputs[name] for name in STATE})
    instance.reset_round(int(inputs["serve"]))


def apply_observe(instance: Any, inputs: Arrays) -> None:
    """The observation of a given situation."""
    instance.write({name: inputs[name] for name in STATE})
    instance.compute_observations()


def apply_step(instance: Any, inputs: Arrays) -> None:
    """One step from a situation."""
    instance.write({name: inputs[name] for name in STATE})
    discrete = 0 if inputs["direction"] == 0 else 1 if inputs["direction"] > 0 else 2
    limited = float(np.clip(inputs["direction"], -1, 1))  # as PufferLib's Python class does before its rules
    instance.c_step(limited if instance.lanes.continuous else discrete, int(inputs["serve"]))


def apply_frame(instance: Any, inputs: Arrays) -> None:
    """One step of a single frame from a situation."""
    frameskip = instance.lanes.frameskip
    instance.lanes.set_frameskip(1)
    try:
        apply_step(instance, inputs)
    finally:
        instance.lanes.set_frameskip(frameskip)


def apply_steps(instance: Any, inputs: Arrays) -> None:
    """The question whether an episode is cut after so many steps."""
    from overclock.envs.pong import reference

    reference.cut(inputs["steps"])


# ---- boundary values ----


def boundary_seeds() -> Arrays:
    """Enough seeds to compare distributions."""
    return {"seed": np.arange(SEEDS, dtype=np.uint32)}


def boundary_serves() -> Arrays:
    """Cases for both directions of the serve."""
    return {"serve": np.array([0, 1], np.int32)}


def boundary_steps() -> Arrays:
    """Step counts; level 1 varies them further."""
    return {"steps": np.arange(2, dtype=np.int32)}


def boundary_states() -> Arrays:
    """Random mixtures of special values; paddles at their limits or just touching the ball as it will be."""
    generator = np.random.default_rng(0)

    def some(values: tuple[Any, ...], dtype: Any = np.float32) -> np.ndarray:
        return generator.choice(np.array(values, dtype), BOUNDARY)

    ball = {"ball_x": some(BALL_X), "ball_y": some(BALL_Y), "ball_vx": some(BALL_VX), "ball_vy": some(BALL_VY)}
    reached = ball["ball_y"] + ball["ball_vy"]
    paddles = {
        name: np.where(generator.random(BOUNDARY) < 0.3, some(PADDLES), reached + some(BESIDE) + some(NEARLY))
        for name in ("paddle_yl", "paddle_yr")
    }
    paddles = {name: np.clip(values, PADDLES[0], PADDLES[-1]).astype(np.float32) for name, values in paddles.items()}
    counts = {name: some(SCORES if name.startswith("score") else COUNTED, np.int32) for name in COUNTS}
    # Anything may have been seen before; a permutation of the situations is as good as any.
    scene = {**paddles, **ball}
    order = generator.permutation(BOUNDARY)
    seen = {new: scene[name][order] for new, name in zip(SEEN, SCENE, strict=True)}
    return {**scene, **counts, **seen, "direction": some(DIRECTIONS), "serve": some((0, 1), np.int32)}
