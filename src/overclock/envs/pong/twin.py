"""Pong and PufferLib's C Pong as a twin: everything is compared, and everything must be equal bit for bit.

The registered twin plays one frame per step with three actions; the others are reached by their entry points,
`overclock verify overclock.envs.pong.twin:frameskip_8` for example.
"""

from overclock.envs.pong.library import STATE
from overclock.verify.contract import Contract, Field, Twin
from overclock.verify.patched import Patch
from overclock.verify.subject import SubjectSpec

RULES = "overclock.envs.pong.env"
PLANTS = {
    # What one writes without having seen that the reference returns before it computes an observation.
    "fresh-observation": Patch(RULES, "select(point, after, after.shown())", "after.shown()"),
    "touching-is-hitting": Patch(RULES, "(y + params.ball_height > paddle)", "(y + params.ball_height >= paddle)"),
    # The reference's serves go down or level, never up, which looks like a mistake.
    "serves-up-and-down": Patch(RULES, "(draw.serve - 1)", "(2 * draw.serve - 1)"),
    "opponent-aims-at-the-middle": Patch(
        RULES, "aim = state.ball_y - (", "aim = state.ball_y + params.ball_height / 2 - ("
    ),
    "level-ball-stays-level": Patch(RULES, "jnp.abs(turned) <= HORIZONTAL", "jnp.abs(turned) < 0"),
    # It lets many more balls pass: what a comparison of returns must see, of weak players too.
    "opponent-too-slow": Patch(RULES, "clip(aim, -params.paddle_speed, params.paddle_speed)", "clip(aim, -1.0, 1.0)"),
}


def twin() -> Twin:
    """As PufferLib's class is by default: one frame per step, three actions."""
    return _twin("pong-v1", 1, continuous=False, scenarios="frameskip_1", plan="FRAMESKIP_1")


def frameskip_8() -> Twin:
    """As PufferLib trains it: eight frames per step."""
    return _twin("pong-v1, frameskip 8", 8, continuous=False, scenarios="frameskip_8", plan="FRAMESKIP_8")


def continuous() -> Twin:
    """The action is the paddle's direction."""
    return _twin("pong-v1, continuous", 1, continuous=True, scenarios="continuous", plan="CONTINUOUS")


def continuous_8() -> Twin:
    """The same with eight frames per step."""
    return _twin("pong-v1, continuous, frameskip 8", 8, continuous=True, scenarios="continuous_8", plan="CONTINUOUS_8")


def _twin(name: str, frameskip: int, continuous: bool, scenarios: str, plan: str) -> Twin:
    static = {"frameskip": frameskip, "continuous": continuous}
    return Twin(
        name=name,
        reference=SubjectSpec("overclock.envs.pong.reference:PongReference", tuple(static.items())),
        performance=SubjectSpec("overclock.verify.performance:JaxSubject", (("env_id", "pong-v1"), ("static", static))),
        contracts={"float32": _contract()},
        plants=PLANTS,
        scenarios=f"overclock.envs.pong.scenarios.{scenarios}",
        modules="overclock.envs.pong.modules:MODULES",
        transfer=f"overclock.envs.pong.transfer:{plan}",
        lanes=1024,
        prepare="overclock.envs.pong.library:prepare",
    )


def _contract() -> Contract:
    """No tolerance anywhere. Whole-number actions keep every number whole; fractions take the same operations."""
    state = tuple(Field(f"state.{name}", draws=("serve",) if name == "ball_vy" else ()) for name in STATE)
    outputs = tuple(Field(name) for name in ("obs", "reward", "terminated", "truncated"))
    return Contract(fields=(*state, *outputs, Field("state.steps")))
