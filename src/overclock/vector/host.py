"""Batches seen from ordinary Python: NumPy in, NumPy out, state kept inside.

`HostVector` is the one interface that the Gymnasium, EnvPool and PufferLib adapters are written against. A JAX
environment gets it from `JaxHostVector`; a Rust environment implements it directly (`overclock_native`).
"""

import dataclasses
import inspect
import operator
from collections.abc import Sequence
from typing import Any, Literal, Protocol, Self, get_args

import jax
import jax.numpy as jnp
import numpy as np

from overclock.backends import HostBackend
from overclock.c_compiler import CompileError
from overclock.env import registry
from overclock.env.autoreset import Autoreset
from overclock.env.environment import Environment, Params
from overclock.env.options import checked_options
from overclock.env.rng import Rng
from overclock.env.spaces import Space
from overclock.errors import MissingError, UsageError
from overclock.vector.fused.support import fastest_host_backend
from overclock.vector.fused.values import UnsupportedError
from overclock.vector.resets import Fresh, Resets
from overclock.vector.vectorize import VectorEnv, vectorize

Randomness = Literal["overclock", "numpy"]  # whose numbers a batch draws


@dataclasses.dataclass
class HostStep:
    """What one step of a batch produced; arrays have the batch first and are valid until the next call."""

    obs: Any
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    final_obs: Any
    info: dict[str, Any]

    @classmethod
    def of(cls, outcome: tuple[Any, ...]) -> Self:
        """What `VectorEnv.step` returned beside its state, (obs, reward, terminated, truncated, info), in NumPy."""
        obs, reward, terminated, truncated, info = jax.tree.map(np.asarray, jax.device_get(outcome))
        return cls(obs, reward, terminated, truncated, info.pop("final_observation"), info)


class HostVector(Protocol):
    """A stateful batch of environments with NumPy at its border."""

    num_envs: int
    num_players: int
    autoreset: Autoreset
    observation_space: Space  # of one player of one member
    action_space: Space

    @property
    def max_steps(self) -> Any:
        """The time limit of an episode: a number, None where there is none, an array where lanes differ."""
        ...

    def reset(self, seeds: Sequence[int | None] | None = None, mask: np.ndarray | None = None) -> Any:
        """Restart the lanes in `mask` (all, if None) and return every lane's observation.

        A lane with a seed starts that seed's stream, so the same seed repeats the same episodes whatever the
        batch; a lane without one goes on with its own stream. Strategies that share episodes between lanes
        (`Pool`, crowded `Optimistic`) repeat them when the whole batch is reset with the same seeds.
        """
        ...

    def step(self, actions: Any) -> HostStep:
        """Step every lane under the declared auto-reset mode."""
        ...

    def action_mask(self) -> np.ndarray | None:
        """Which actions are legal now, or None where all always are."""
        ...

    def get_state(self) -> dict[str, np.ndarray]:
        """A copy of everything that decides the future, as named arrays."""
        ...

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Continue exactly from a state that `get_state` returned."""
        ...


class JaxHostVector:
    """A JAX environment's batch as a `HostVector`."""

    def __init__(self, venv: VectorEnv, params: Params | None = None, seed: int | None = None) -> None:
        self.venv = venv
        self.params = venv.default_params() if params is None else params
        self.num_envs, self.num_players = venv.num_envs, venv.env.num_players
        self.autoreset: Autoreset = venv.autoreset
        self.observation_space = venv.env.observation_space(self.params)
        self.action_space = venv.env.action_space(self.params)
        self._action_mask = jax.jit(venv.action_mask)
        entropy = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        _, self.state = venv.reset(Rng.of(entropy), self.params)

    @property
    def max_steps(self) -> Any:
        return self.params.max_steps

    def reset(
        self, seeds: Sequence[int | None] | None = None, mask: np.ndarray | None = None, params: Params | None = None
    ) -> Any:
        """As `HostVector.reset`; `params` holds for what this reset draws, and for nothing after it."""
        mask = checked_mask(mask, self.num_envs)
        streams = None if seeds is None else self._seeded(seeds)
        if seeds is not None and mask.all() and None not in seeds and not isinstance(self.venv.resets, Fresh):
            # Nothing of the past may be left, so what the strategy stores begins anew too; Fresh stores nothing.
            obs, self.state = self.venv.reset(streams, self.params)
            if params is None:
                return jax.tree.map(np.asarray, obs)
        params = self.params if params is None else params
        obs, self.state = self.venv.reset_lanes(self.state, jnp.asarray(mask), streams, params)
        return jax.tree.map(np.asarray, obs)

    def step(self, actions: Any) -> HostStep:
        obs, self.state, *outcome = self.venv.step(self.state, actions, self.params)
        return HostStep.of((obs, *outcome))

    def action_mask(self) -> np.ndarray | None:
        mask = self._action_mask(self.state, self.params)
        return None if mask is None else np.asarray(mask)

    def get_state(self) -> dict[str, np.ndarray]:
        return flatten_state(self.state)

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        self.state = unflatten_state(state, self.state)

    def _seeded(self, seeds: Sequence[int | None]) -> Rng:
        """One stream per lane: a seed's own, or the lane's present one."""
        whole = whole_seeds(seeds, self.num_envs)
        given = np.array([seed is not None for seed in seeds])
        # 64 bits with wrap-around, as `Rng.of` reads an integer.
        numbers = np.array([seed & 0xFFFFFFFFFFFFFFFF for seed in whole], np.uint64)
        words = np.stack([numbers & np.uint64(0xFFFFFFFF), numbers >> np.uint64(32)], axis=-1).astype(np.uint32)
        fresh, own = Rng.of(jnp.asarray(words)), self.state.rng
        return jax.tree.map(lambda a, b: jnp.where(given, a, b), fresh, own)


def checked_mask(mask: np.ndarray | None, num_envs: int) -> np.ndarray:
    """Which lanes are meant: all where nothing is said."""
    mask = np.ones(num_envs, np.bool_) if mask is None else np.asarray(mask, np.bool_)
    if mask.shape != (num_envs,):
        raise UsageError(f"The reset mask has shape {mask.shape}, expected ({num_envs},).")
    return mask


def whole_seeds(seeds: Sequence[int | None], num_envs: int) -> list[int]:
    """One whole number per lane; 0 stands for None."""
    if len(seeds) != num_envs:
        raise UsageError(f"Got {len(seeds)} seeds for {num_envs} environments.")
    try:
        return [0 if seed is None else operator.index(seed) for seed in seeds]
    except TypeError:
        raise UsageError(f"A seed must be a whole number or None, got {list(seeds)}.") from None


def host_vector(
    env: str | Environment[Any, Any],
    num_envs: int,
    autoreset: Autoreset = "same_step",
    resets: Resets | None = None,
    params: Params | None = None,
    seed: int | None = None,
    backend: HostBackend = "auto",
    rng: Randomness = "overclock",
    **static: Any,
) -> HostVector:
    """A `HostVector` of an environment given by id (with its static fields) or as an object.

    `backend="auto"` takes what steps the batch fastest: the Rust implementation of an id whose rules are in Rust (the
    Game Boy's), else the C kernel made from the rules where one can be made here and a lane's state stays in registers,
    else XLA. `"xla"`, `"c"`, `"cuda"` and `"native"` (Rust, with `overclock-native` installed) ask for one of them.
    `rng="numpy"` for the reference's own random numbers, where the order of the draws allows it (translated ones).
    """
    if rng not in ("overclock", "numpy"):
        raise UsageError(f"rng must be 'overclock' or 'numpy', got {rng!r}.")
    if rng == "numpy" and (backend not in ("auto", "xla") or resets is not None):
        raise UsageError("rng='numpy' goes with backend='xla' and without a reset strategy.")
    if backend not in get_args(HostBackend):
        raise UsageError(f"backend must be one of {', '.join(map(repr, get_args(HostBackend)))}, got {backend!r}.")
    if backend in ("auto", "xla") and lives_in_rust(env):
        backend = "native"
    if backend == "native":
        if not isinstance(env, str):
            raise UsageError(f"backend='native' takes an environment by its name, 'pong' for example, got {env!r}.")
        if registry.spec(env).native is None:
            raise UsageError(f"{env} has no Rust implementation; use backend='xla'.")
        if params is not None or resets is not None:
            raise UsageError("Rust environments take static options, not params or reset strategies.")
        cls = registry.load(registry.spec(env).native or "")
        known = [name for name in inspect.signature(cls).parameters if name not in ("num_envs", "autoreset", "seed")]
        static = checked_options(registry.full_id(env), cls, known, static)
        return cls(num_envs, autoreset=autoreset, seed=seed, **static)
    if isinstance(env, str):
        env, _ = registry.make(env, **static)
    elif static:
        raise UsageError(f"Options ({', '.join(static)}) go with an environment's id, not with an object.")
    if rng == "numpy":
        from overclock.vector.numpy_host import NumpyHostVector

        return NumpyHostVector(env, num_envs, autoreset, params, seed)
    venv = vectorize(env, num_envs, autoreset, resets, backend)
    venv = dataclasses.replace(venv, backend=fastest_host_backend(venv))
    if venv.backend == "c":
        from overclock.vector.kernel_host import KernelHostVector

        try:
            return KernelHostVector(venv, params, seed)
        except (CompileError, MissingError, UnsupportedError):
            if backend != "auto":
                raise
            venv = dataclasses.replace(venv, backend="xla")
    return JaxHostVector(venv, params, seed)


def lives_in_rust(env: Any) -> bool:
    """Whether this is the id of an environment whose rules are in Rust; JAX would only call them."""
    return isinstance(env, str) and registry.spec(env).rules_in_rust


def named_leaves(tree: Any) -> dict[str, Any]:
    """A pytree's leaves under readable names."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in leaves}


def flatten_state(tree: Any) -> dict[str, np.ndarray]:
    """A pytree's leaves as NumPy arrays under readable names."""
    return {name: np.array(leaf) for name, leaf in named_leaves(tree).items()}


def unflatten_state(arrays: dict[str, np.ndarray], like: Any) -> Any:
    """The inverse of `flatten_state`; `like` gives the structure, and names, shapes and dtypes must match it."""
    leaves, treedef = jax.tree_util.tree_flatten_with_path(like)
    names = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in leaves]
    if set(names) != set(arrays):
        odd = ", ".join(sorted(set(names) ^ set(arrays)))
        raise UsageError(f"The saved state does not fit this environment: it differs in {odd}.")
    for name, (_, leaf) in zip(names, leaves, strict=True):
        if arrays[name].shape != leaf.shape or arrays[name].dtype != leaf.dtype:
            raise UsageError(
                f"The saved state does not fit: {name} is {arrays[name].dtype}{list(arrays[name].shape)}, "
                f"expected {leaf.dtype}{list(leaf.shape)}."
            )
    return jax.tree.unflatten(treedef, [jnp.asarray(arrays[name]) for name in names])
