"""A batch stepped from Python by its C kernel, straight on NumPy arrays: no dispatch of JAX, no copies.

A step of a small batch costs microseconds instead of the tenths of a millisecond that a call of a compiled JAX function
takes. Resets, masks and saved states, which are rare, go the usual way (`JaxHostVector`).
"""

import copy
import ctypes
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.environment import Params
from overclock.env.spaces import structure
from overclock.errors import UsageError
from overclock.vector.fused.batch import lane_program
from overclock.vector.fused.c_compiler import c_library, threads
from overclock.vector.fused.compiled_files import loaded
from overclock.vector.fused.scan import trace
from overclock.vector.host import HostStep, JaxHostVector
from overclock.vector.lane import Lane
from overclock.vector.vectorize import VectorEnv, VectorState


class KernelHostVector(JaxHostVector):
    """As `JaxHostVector`; the arrays that `step` returns are overwritten by the step after the next one.

    The kernel is made for one set of parameters, so `params` cannot be exchanged later.
    """

    def __init__(self, venv: VectorEnv, params: Params | None = None, seed: int | None = None) -> None:
        self._arrays: list[np.ndarray] = []  # of the state, while it lies in memory of ours
        super().__init__(venv, params, seed)
        actions = jax.tree.map(
            lambda leaf: np.zeros((1, *leaf.shape), leaf.dtype), structure(self.action_space, self._leading())
        )
        step, lanes, split = lane_program(venv, self._state, self.params)

        def body(lane: Lane, action: Any, own: Any, shared: Any) -> tuple[Lane, Any]:
            after, outcome = step(lane, action, own, shared)
            return after, (*outcome, venv.env.action_mask(after.lane.rules, split.join(own, shared)))

        program, signature, self._outputs_tree = trace(body, lanes, split.own, split.shared, actions)
        self._run: Any = loaded(c_library(program, signature)).overclock_run
        self._run.restype = ctypes.c_char_p
        self._actions = [leaf[0] for leaf in jax.tree.leaves(actions)]
        self._fixed = [np.ascontiguousarray(leaf) for leaf in (*split.own, *split.shared)]
        self._outputs = [[np.zeros((self.num_envs, *leaf.shape), leaf.dtype) for leaf in signature.ys] for _ in "ab"]
        self._numbers = [ctypes.c_long(number) for number in (self.num_envs, 1, 1, threads())]
        self._turn = 0

    def _leading(self) -> tuple[int, ...]:
        return (self.num_envs,) if self.num_players == 1 else (self.num_envs, self.num_players)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "params" and "_run" in vars(self):
            raise UsageError(
                "A batch stepped by a kernel keeps its parameters; make another one, or use backend='xla'."
            )
        super().__setattr__(name, value)

    @property
    def state(self) -> VectorState:
        """The batch's state as JAX arrays."""
        if self._arrays:
            leaves = iter(jnp.array(array) for array in self._arrays)
            running = (self._state.lanes, self._state.rng, self._state.ended)
            lanes, rng, ended = jax.tree.map(lambda _: next(leaves), running)
            self._state, self._arrays = self._state.replace(lanes=lanes, rng=rng, ended=ended), []
        return self._state

    @state.setter
    def state(self, state: VectorState) -> None:
        self._state, self._arrays = state, []

    def step(self, actions: Any) -> HostStep:
        leaves = [actions] if isinstance(actions, np.ndarray) else jax.tree.leaves(actions)
        shapes = [like.shape for like in self._actions]
        if [np.shape(leaf) for leaf in leaves] != shapes:
            wanted, got = (found[0] if len(found) == 1 else found for found in (shapes, [*map(np.shape, leaves)]))
            every = f"one entry for each of {self.num_envs} lanes"
            raise UsageError(f"Actions need the shape {wanted}, got {got}: {every}.")
        given = [np.ascontiguousarray(leaf, like.dtype) for leaf, like in zip(leaves, self._actions, strict=True)]
        if not self._arrays:
            self._take_over()
        self._turn = 1 - self._turn
        for place, action in enumerate(given, len(self._arrays) + len(self._fixed)):
            self._inputs[place] = action.ctypes.data
        if wrong := self._run(self._inputs, self._targets[self._turn], *self._numbers):
            raise MemoryError(wrong.decode())
        *outcome, info, self._mask = jax.tree.unflatten(self._outputs_tree, self._outputs[self._turn])
        obs, reward, terminated, truncated = outcome
        return HostStep(obs, reward, terminated, truncated, info.pop("final_observation"), info)

    def action_mask(self) -> np.ndarray | None:
        """As `HostVector.action_mask`; the kernel writes it with every step."""
        return self._mask if self._arrays else super().action_mask()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A batch that goes on from the same state, with the same kernel and arrays of its own."""
        twin = copy.copy(self)
        twin.state, twin._outputs = self.state, copy.deepcopy(self._outputs)
        return twin

    def _take_over(self) -> None:
        """Copy the state into memory of ours, which the kernel then changes in place."""
        running = (self._state.lanes, self._state.rng, self._state.ended)
        self._arrays = [np.array(leaf) for leaf in jax.tree.leaves(running)]
        self._inputs = _pointers([*self._arrays, *self._fixed, *self._actions])
        self._targets = [_pointers([*self._arrays, *outputs]) for outputs in self._outputs]


def _pointers(arrays: list[np.ndarray]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
