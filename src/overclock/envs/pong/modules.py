"""Pong's functions one by one, for level 1: each against calls recorded from PufferLib's C functions.

Loaded by both sides, so neither is imported at the top.
"""

from typing import Any

from overclock.envs.pong import recorded
from overclock.envs.pong.library import COUNTS, SCENE, STATE
from overclock.verify.contract import Precision
from overclock.verify.property.distribution import REASON as CHANCE
from overclock.verify.property.module import Module, Output, exact

REFERENCE = "overclock.envs.pong.reference:CPong"
LIBRARY = "overclock.envs.pong.library"
RULES = "overclock.envs.pong.env:Pong"
STATE_CLASS = "overclock.envs.pong.env:PongState"
CONSTANTS = (
    "width", "height", "paddle_height", "ball_width", "ball_height", "paddle_speed", "ball_initial_speed_x",
    "ball_initial_speed_y", "ball_max_speed_y", "ball_speed_y_increment", "max_score",
)  # fmt: skip


def everywhere(*outputs: Output) -> dict[Precision, tuple[Output, ...]]:
    """The same in both precisions: Pong computes in float32 whatever JAX does."""
    return {"float64": outputs, "float32": outputs}


def rules_state(values: dict[str, Any]) -> Any:
    """Named values as a state of the rules."""
    from overclock.envs.pong.env import PongState

    return PongState(**{name: values[name] for name in STATE})


def fields_of(state: Any, names: tuple[str, ...] = STATE) -> dict[str, Any]:
    """A state of the rules as named values."""
    return {name: getattr(state, name) for name in names}


def draw_of(inputs: dict[str, Any]) -> Any:
    """The draw with a case's serve bit."""
    from overclock.envs.pong.env import PongDraw

    return PongDraw(serve=inputs["serve"])


def constants(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The constants of the default parameters."""
    import jax.numpy as jnp

    return {name: jnp.float32(getattr(env.default_params(), name)) for name in CONSTANTS}


def spaces(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Size of an observation, and the number of actions or numbers in one."""
    import jax.numpy as jnp

    actions = env.action_space(params)
    found = {
        "obs": env.observation_space(params).shape[0],
        "actions": actions.shape[0] if env.continuous else actions.n,
    }
    return {name: jnp.int32(value) for name, value in found.items()}


def draw(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The serve bits of a reset and of a step from a seed."""
    from overclock.env import Rng, Section

    rng = Rng.of(inputs["seed"][None])
    reset = env.draw_reset(rng.of_section(Section.RESET), params)
    return {"reset": reset.serve, "step": env.draw_step(rng.of_section(Section.STEP), None, params).serve}


def reset(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The first state from a draw."""
    return fields_of(env.init(draw_of(inputs), params))


def serve(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The state at the start of a new round."""
    return fields_of(env.serve(rules_state(inputs), draw_of(inputs), params))


def direction(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Where an action moves the paddle."""
    return {"paddle_dir": env.direction(inputs["action"])}


def frame(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """One frame, hidden where the reference hides it: after a point that did not end the game."""
    import jax.numpy as jnp

    after, gained, point = env.frame(rules_state(inputs), env.direction(inputs["action"]), params)
    ended = (after.score_l == params.max_score) | (after.score_r == params.max_score)
    scene = fields_of(after, (*SCENE, "n_bounces"))
    hidden = {name: jnp.where(point & ~ended, jnp.zeros_like(value), value) for name, value in scene.items()}
    return {**hidden, **fields_of(after, ("score_l", "score_r")), "reward": gained, "point": point}


def step(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """One whole step of the rules."""
    after, reward, terminated = env.transition(rules_state(inputs), inputs["action"], draw_of(inputs), params)
    return {**fields_of(after), "reward": reward, "terminated": terminated}


def observe(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The observation of what was seen; nothing else of the state matters to it."""
    import jax.numpy as jnp

    unseen = {name: jnp.float32(-1) for name in SCENE} | {name: jnp.int32(-1) for name in COUNTS}
    return {"obs": env.observe(rules_state({**unseen, **inputs}), params)}


def time_limit(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The step counter and `truncated`, which do not depend on the game."""
    import jax.numpy as jnp

    from overclock.env import EnvState
    from overclock.envs.pong.env import PongDraw

    serve, action = PongDraw(serve=jnp.int32(0)), jnp.zeros(1) if env.continuous else jnp.int32(0)
    after, _, _, truncated = env.advance(EnvState(env.init(serve, params), inputs["steps"]), action, serve, params)
    return {"steps": after.steps, "truncated": truncated}


def _module(
    name: str, reference: str, case: Any, performance: Any, exercises: tuple[str, ...], *outputs: Output, **more: Any
) -> Module:
    return Module(name, tuple(reference.split()), case, performance, exercises, everywhere(*outputs), **more)


SEEDS = {"boundary": recorded.boundary_seeds, "apply": recorded.apply_seed}
STATES = {"boundary": recorded.boundary_states}  # each with the function that brings an environment there
VARIED = {**STATES, "counters": COUNTS, "compared": SCENE, "constants": recorded.COMPARED}
BY_CHANCE = tuple(Output(name, distribution=True, reason=CHANCE) for name in ("reset", "step"))
MODULES = (
    _module(
        "constants", f"{LIBRARY}:constants", recorded.constants_case, constants, (f"{RULES}.default_params",),
        *exact(*CONSTANTS),
    ),
    _module(
        "spaces", f"{LIBRARY}:space_sizes", recorded.spaces_case, spaces,
        (f"{RULES}.observation_space", f"{RULES}.action_space"), *exact("obs", "actions"),
    ),
    _module(
        "draw", f"{LIBRARY}:first_serves", recorded.draw_case, draw, (f"{RULES}.draw_reset", f"{RULES}.draw_step"),
        *BY_CHANCE, **SEEDS,
    ),
    _module(
        "reset", f"{REFERENCE}.c_reset", recorded.reset_case, reset,
        (f"{RULES}.init", f"{RULES}.serve", f"{STATE_CLASS}.shown"), *exact(*STATE),
        boundary=recorded.boundary_serves, apply=recorded.apply_reset,
    ),
    _module(
        "serve", f"{REFERENCE}.reset_round", recorded.serve_case, serve, (f"{RULES}.serve",), *exact(*STATE),
        **STATES, apply=recorded.apply_serve,
    ),
    _module(
        "direction", f"{REFERENCE}.c_step", recorded.direction_case, direction, (f"{RULES}.direction",),
        *exact("paddle_dir"), **STATES, apply=recorded.apply_step,
    ),
    _module(
        "frame", f"{REFERENCE}.c_step", recorded.frame_case, frame,
        tuple(f"{RULES}.{name}" for name in ("frame", "move_paddles", "meets", "spin")),
        *exact(*SCENE, "n_bounces", "score_l", "score_r", "reward", "point"), **VARIED, apply=recorded.apply_frame,
    ),
    _module(
        "step", f"{REFERENCE}.c_step", recorded.step_case, step, (f"{RULES}.transition",),
        *exact(*STATE, "reward", "terminated"), **VARIED, apply=recorded.apply_step,
    ),
    _module(
        "time_limit", "overclock.envs.pong.reference:cut", recorded.time_limit_case, time_limit,
        ("overclock.env.environment:Environment.advance",), *exact("steps", "truncated"),
        boundary=recorded.boundary_steps, apply=recorded.apply_steps, counters=("steps",),
    ),
    _module(
        "observe", f"{REFERENCE}.compute_observations {REFERENCE}.c_step", recorded.observe_case, observe,
        (f"{RULES}.observe", "overclock.envs.pong.env:ratio"), *exact("obs"), **STATES, apply=recorded.apply_observe,
    ),
)  # fmt: skip
