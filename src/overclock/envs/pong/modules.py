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
    """Of the default parameters."""
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
    """A new round."""
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


MODULES = (
    Module(
        name="constants",
        reference=(f"{LIBRARY}:constants",),
        case=recorded.constants_case,
        performance=constants,
        exercises=(f"{RULES}.default_params",),
        outputs=everywhere(*exact(*CONSTANTS)),
    ),
    Module(
        name="spaces",
        reference=(f"{LIBRARY}:space_sizes",),
        case=recorded.spaces_case,
        performance=spaces,
        exercises=(f"{RULES}.observation_space", f"{RULES}.action_space"),
        outputs=everywhere(*exact("obs", "actions")),
    ),
    Module(
        name="draw",
        reference=(f"{LIBRARY}:first_serves",),
        case=recorded.draw_case,
        performance=draw,
        exercises=(f"{RULES}.draw_reset", f"{RULES}.draw_step"),
        outputs=everywhere(*(Output(name, distribution=True, reason=CHANCE) for name in ("reset", "step"))),
        boundary=recorded.boundary_seeds,
        apply=recorded.apply_seed,
    ),
    Module(
        name="reset",
        reference=(f"{REFERENCE}.c_reset",),
        case=recorded.reset_case,
        performance=reset,
        exercises=(f"{RULES}.init", f"{RULES}.serve", f"{STATE_CLASS}.shown"),
        outputs=everywhere(*exact(*STATE)),
        boundary=recorded.boundary_serves,
        apply=recorded.apply_reset,
    ),
    Module(
        name="serve",
        reference=(f"{REFERENCE}.reset_round",),
        case=recorded.serve_case,
        performance=serve,
        exercises=(f"{RULES}.serve",),
        outputs=everywhere(*exact(*STATE)),
        boundary=recorded.boundary_states,
        apply=recorded.apply_serve,
    ),
    Module(
        name="direction",
        reference=(f"{REFERENCE}.c_step",),
        case=recorded.direction_case,
        performance=direction,
        exercises=(f"{RULES}.direction",),
        outputs=everywhere(*exact("paddle_dir")),
        boundary=recorded.boundary_states,
        apply=recorded.apply_step,
    ),
    Module(
        name="frame",
        reference=(f"{REFERENCE}.c_step",),
        case=recorded.frame_case,
        performance=frame,
        exercises=tuple(f"{RULES}.{name}" for name in ("frame", "move_paddles", "meets", "spin")),
        outputs=everywhere(*exact(*SCENE, "n_bounces", "score_l", "score_r", "reward", "point")),
        boundary=recorded.boundary_states,
        apply=recorded.apply_frame,
    ),
    Module(
        name="step",
        reference=(f"{REFERENCE}.c_step",),
        case=recorded.step_case,
        performance=step,
        exercises=(f"{RULES}.transition",),
        outputs=everywhere(*exact(*STATE, "reward", "terminated")),
        boundary=recorded.boundary_states,
        apply=recorded.apply_step,
    ),
    Module(
        name="observe",
        reference=(f"{REFERENCE}.compute_observations", f"{REFERENCE}.c_step"),
        case=recorded.observe_case,
        performance=observe,
        exercises=(f"{RULES}.observe", "overclock.envs.pong.env:ratio"),
        outputs=everywhere(*exact("obs")),
        boundary=recorded.boundary_states,
        apply=recorded.apply_observe,
    ),
)
