"""Pong's twins: everything is compared, and everything must be equal bit for bit.

The registered twin is PufferLib's C and JAX, one frame per step and three actions; the others are reached by their
entry points, `overclock verify overclock.envs.pong.twin:frameskip_8` for example. Those called `rust` are C and Rust,
those called `jax_rust` close the triangle.
"""

import dataclasses

from overclock.envs.pong import library
from overclock.envs.pong.library import STATE
from overclock.envs.pong.plants import PLANTS
from overclock.vector.native import extension
from overclock.verify.contract import Contract, Field, Twin
from overclock.verify.sides.native_subject import native_spec
from overclock.verify.sides.patched import Patch
from overclock.verify.sides.subject import SubjectSpec

BINDING, BORDER = "overclock.envs.pong.native", "overclock.vector.native"


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


def rust() -> Twin:
    """C and Rust, one frame per step, three actions."""
    return _rust(twin(), "RUST")


def rust_8() -> Twin:
    """The same with eight frames per step."""
    return _rust(frameskip_8(), "RUST_8")


def rust_continuous() -> Twin:
    """C and Rust, the action is the paddle's direction."""
    return _rust(continuous(), "RUST_CONTINUOUS")


def rust_continuous_8() -> Twin:
    """The same with eight frames per step."""
    return _rust(continuous_8(), "RUST_CONTINUOUS_8")


def jax_rust() -> Twin:
    """JAX in the reference's place and Rust, one frame per step, three actions; for levels 3 and 4."""
    return _jax_rust(twin(), "JAX_RUST")


def jax_rust_8() -> Twin:
    """The same with eight frames per step."""
    return _jax_rust(frameskip_8(), "JAX_RUST_8")


def prepare_rust() -> None:
    """As `library.prepare`, and the Rust extension must have been built."""
    extension()
    library.prepare()


def _rust(in_jax: Twin, plan: str) -> Twin:
    static = dict(in_jax.reference.options)
    return dataclasses.replace(
        in_jax,
        name=f"{in_jax.name}, Rust",
        performance=native_spec("overclock.envs.pong.native:NativePong", static, draws=("serve",)),
        plants=_rust_plants(static["continuous"]),
        modules="overclock.envs.pong.native_modules:MODULES",
        transfer=f"overclock.envs.pong.transfer:{plan}",
        prepare="overclock.envs.pong.twin:prepare_rust",
    )


def _jax_rust(in_jax: Twin, plan: str) -> Twin:
    """A twin without scenarios and modules, which are recorded from C with its random numbers."""
    return dataclasses.replace(
        _rust(in_jax, plan),
        name=f"{in_jax.name}, JAX and Rust",
        reference=in_jax.performance.with_environment(JAX_PLATFORMS="cpu"),
        scenarios=None,
        modules=None,
        prepare="overclock.vector.native:extension",
        reference_in_c=False,
    )


def _rust_plants(continuous: bool) -> dict[str, Patch]:
    """Mistakes that occur in bindings: the compiled code gets other values than it should."""
    mirrored = "-actions" if continuous else "-actions % 3"
    return {
        "up-is-down": Patch(BORDER, "_batch.step(actions,", f"_batch.step({mirrored},"),
        "one-frame-too-many": Patch(BINDING, "frameskip=frameskip,", "frameskip=frameskip + 1,"),
        # CartPole's time limit, copied; players of single frames are too weak for returns to show which way they moved.
        "ends-after-500-steps": Patch(BINDING, "max_steps=max_steps,", "max_steps=500,"),
        # Each of them is a possible serve: only who knows what was drawn can tell.
        "serves-always-down": Patch(
            BORDER, "draws, step_draws)", "draws, None if step_draws is None else 0 * step_draws)"
        ),
    }


def _twin(name: str, frameskip: int, continuous: bool, scenarios: str, plan: str) -> Twin:
    static = {"frameskip": frameskip, "continuous": continuous}
    return Twin(
        name=name,
        reference=SubjectSpec("overclock.envs.pong.reference:PongReference", tuple(static.items())),
        performance=SubjectSpec(
            "overclock.verify.sides.jax_subject:JaxSubject", (("env_id", "pong-v1"), ("static", static)), kernels=True
        ),
        contracts={"float32": _contract()},
        plants=PLANTS,
        scenarios=f"overclock.envs.pong.scenarios.{scenarios}",
        modules="overclock.envs.pong.modules:MODULES",
        transfer=f"overclock.envs.pong.transfer:{plan}",
        lanes=1024,
        players=("overclock.envs.pong.players:patient", "overclock.envs.pong.players:spinning"),
        uncut=40_000,
        prepare="overclock.envs.pong.library:prepare",
        reference_in_c=True,
    )


def _contract() -> Contract:
    """No tolerance anywhere. Whole-number actions keep every number whole; fractions take the same operations."""
    state = tuple(Field(f"state.{name}", draws=("serve",) if name == "ball_vy" else ()) for name in STATE)
    outputs = tuple(Field(name) for name in ("obs", "reward", "terminated", "truncated"))
    return Contract(fields=(*state, *outputs, Field("state.steps")))
