"""Which kernels can be made here, for which environments, found out without compiling anything."""

import functools
import re
from typing import TYPE_CHECKING, Any

import jax

from overclock.backends import Backend, Kernel
from overclock.env.environment import Environment
from overclock.env.rng import Rng
from overclock.errors import MissingError, UsageError
from overclock.vector.fused.compiled_files import needed_c_compiler
from overclock.vector.fused.cuda_compiler import needed_cuda_compiler
from overclock.vector.fused.kernel_text import body_of, source
from overclock.vector.fused.scan import trace
from overclock.vector.fused.values import UnsupportedError
from overclock.vector.lane import Lane, lane_step, sample_action
from overclock.vector.resets import Fresh

if TYPE_CHECKING:
    from overclock.vector.vectorize import VectorEnv


# Up to how many lanes the C kernel steps a batch from Python faster than anything else (figures: docs/fused.md). XLA
# passed it between 64 and 1,024 lanes of MinAtar's Asterix, whose boards are arrays. An H200, which is waited for at
# every step, passed it between 1,024 and 4,096 lanes of HalfCheetah (5,222 statements), and not up to 262,144 lanes of
# CartPole and Pong (249 and 431), which spend their time on copies.
LANES_WITH_ARRAYS, LANES_BESIDE_GPU = 64, 1024
SHORT_RULES = 1000  # statements of a step


def require_kernel(env: Environment[Any, Any], kernel: Kernel) -> None:
    """Refuse an environment or a machine for which there is no kernel, with the reason."""
    if kernel == "cuda":
        needed_cuda_compiler()
    needed_c_compiler()  # the code around a CUDA kernel is C as well
    _written(env, kernel)


@functools.lru_cache(maxsize=128)
def _written(env: Environment[Any, Any], kernel: Kernel) -> str:
    """The kernel of one random step; raises UnsupportedError where something in the rules has no words in C."""
    params = env.default_params()

    def step(state: Lane, _: Any, __: Any, ___: Any) -> tuple[Lane, Any]:
        action = sample_action(env, state.rng, env.action_mask(state.lane.rules, params), params)
        obs, state, *rest = lane_step(env, "same_step", state, action, params)
        return state, (obs, *rest)

    def first() -> Lane:
        rng = Rng.of(0).lanes(1)
        lane = jax.vmap(env.reset_state, in_axes=(0, None))(rng, params)
        return Lane(lane=lane, rng=rng, ended=jax.numpy.zeros(1, bool))

    program, signature, _ = trace(step, jax.eval_shape(first), (), (), None)
    return source(program, signature, kernel, 1)[0]


def stays_in_registers(env: Environment[Any, Any], kernel: Kernel) -> bool:
    """Whether a kernel computes with variables alone, with no array that is read or written at a computed place."""
    return not re.search(r"\b(TAKE|LOOKUP|PUT)_|\ba[0-9]+\[", body_of(_written(env, kernel)))


def fastest_backend(venv: "VectorEnv") -> Backend:
    """What plays whole rollouts of a batch, where its `backend` is auto: the fastest that works here.

    Kernels win by an order of magnitude where a lane's state stays in registers; where it lies in arrays, they do not.
    """
    if venv.backend != "auto":
        return venv.backend
    kernel: Kernel = "c" if device().platform == "cpu" else "cuda"
    return kernel if has_kernel(venv, kernel) and stays_in_registers(venv.env, kernel) else "xla"


def fastest_host_backend(venv: "VectorEnv") -> Backend:
    """What steps a batch from Python fastest, where its `backend` is auto: the C kernel where it works, else XLA.

    A step from Python costs XLA a tenth of a millisecond, whatever the batch, and the kernel microseconds. What is
    beyond the limits above is left to the backend that plays rollouts fastest.
    """
    if venv.backend != "auto" or not has_kernel(venv, "c"):
        return fastest_backend(venv)
    if not stays_in_registers(venv.env, "c"):
        most = LANES_WITH_ARRAYS
    elif device().platform == "cpu" or body_of(_written(venv.env, "c")).count(";") <= SHORT_RULES:
        most = venv.num_envs
    else:
        most = LANES_BESIDE_GPU
    return "c" if venv.num_envs <= most else fastest_backend(venv)


def has_kernel(venv: "VectorEnv", kernel: Kernel) -> bool:
    """Whether a kernel of the batch can be made here."""
    try:
        require_kernel(venv.env, kernel)
    except (UnsupportedError, MissingError):
        return False
    return isinstance(venv.resets, Fresh)


def device() -> Any:
    """Where JAX computes now: a chosen default device comes before the best one there is."""
    chosen = jax.config.values["jax_default_device"]
    return jax.local_devices(backend=chosen)[0] if chosen is None or isinstance(chosen, str) else chosen


def refuse_strategies(venv: "VectorEnv") -> None:
    """Kernels compute a restart where a lane ends and nowhere else, so that no other strategy is needed."""
    if not isinstance(venv.resets, Fresh):
        raise UsageError(
            f"backend='{venv.backend}' restarts only lanes that ended, so it takes resets=Fresh(), not {venv.resets}."
        )
