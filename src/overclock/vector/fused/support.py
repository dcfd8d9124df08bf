"""Which kernels can be made here, for which environments, found out without compiling anything."""

import functools
import re
from typing import TYPE_CHECKING, Any

import jax

from overclock.backends import Backend, Kernel
from overclock.env.environment import Environment
from overclock.env.rng import Rng
from overclock.errors import MissingError, UsageError
from overclock.vector.fused.compilers import needed_c_compiler
from overclock.vector.fused.cuda_target import needed_cuda_compiler
from overclock.vector.fused.kernel_text import source
from overclock.vector.fused.scan import trace
from overclock.vector.fused.values import UnsupportedError
from overclock.vector.lane import Lane, lane_step, sample_action
from overclock.vector.resets import Fresh

if TYPE_CHECKING:
    from overclock.vector.vectorize import VectorEnv


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
    body = _written(env, kernel).rpartition(" lanes(")[2]
    return not re.search(r"\b(TAKE|LOOKUP|PUT)_|\ba[0-9]+\[", body)


def fastest_backend(venv: "VectorEnv") -> Backend:
    """What plays whole rollouts of a batch, where its `backend` is auto: the fastest that works here.

    Kernels win by an order of magnitude where a lane's state stays in registers; where it lies in arrays, they do not.
    """
    if venv.backend != "auto":
        return venv.backend
    kernel: Kernel = "c" if device().platform == "cpu" else "cuda"
    return kernel if kernel_is_fastest(venv, kernel) else "xla"


def kernel_is_fastest(venv: "VectorEnv", kernel: Kernel) -> bool:
    """Whether a kernel of the batch can be made here and keeps a lane's state in registers."""
    try:
        require_kernel(venv.env, kernel)
        return isinstance(venv.resets, Fresh) and stays_in_registers(venv.env, kernel)
    except (UnsupportedError, MissingError):
        return False


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
