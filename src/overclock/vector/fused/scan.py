"""`lane_scan`: `jax.vmap` of `jax.lax.scan`, compiled into one kernel that keeps a lane's state in registers.

    state, outputs = lane_scan(body, state, xs, length=1024, backend="c")

means the same as

    state, outputs = jax.vmap(lambda c, x: jax.lax.scan(body, c, x, 1024), in_axes=(0, 1), out_axes=(0, 1))(state, xs)

which is what `backend="xla"` runs. A scan of XLA starts at least one kernel per step and sends the state through
memory; here one kernel plays all steps of a lane.
"""

import functools
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr
from jax.extend.core import Literal as Constant

from overclock.backends import Backend, Kernel
from overclock.errors import UsageError
from overclock.vector.fused.c_compiler import c_library, threads
from overclock.vector.fused.compiled_files import loaded
from overclock.vector.fused.cuda_compiler import cuda_library
from overclock.vector.fused.kernel_text import Signature

Body = Callable[[Any, Any, Any, Any], tuple[Any, Any]]
"""`body(carry, x, constant, shared) -> (carry, y)` of one lane."""


def lane_scan(
    body: Body,
    carry: Any,
    xs: Any = None,
    length: int | None = None,
    *,
    constant: Any = (),
    shared: Any = (),
    window: int | None = None,
    into: Any = None,
    backend: Backend = "xla",
) -> tuple[Any, Any]:
    """T steps of `body(carry, x, constant, shared) -> (carry, y)` in every lane.

    `carry` and `constant` have the lanes first, `xs` time and lanes; `shared` is the same for all lanes. The outputs of
    the last `window` steps (all, unless told) come back as [window, lanes, ...], step t in row t % window. `into` gives
    arrays of that form to write to, so that a jitted function to which they are donated allocates nothing.
    """
    lanes, length = _lanes(carry, constant, xs), _length(xs, length)
    if window is not None and not 1 <= window <= length:
        raise UsageError(f"window must be 1 to {length} steps, got {window}.")
    kept = length if window is None else window
    if backend == "xla" or length == 0:
        return _by_xla(body, carry, xs, length, constant, shared, kept)
    program, signature, ys_tree = trace(body, carry, constant, shared, xs)
    operands = jax.tree.leaves((carry, constant, shared, xs))
    results = _call(program, signature, operands, lanes, length, kept, backend, jax.tree.leaves(into))
    count = len(signature.carry)
    carry = jax.tree.unflatten(jax.tree.structure(carry), results[:count])
    return carry, jax.tree.unflatten(ys_tree, results[count:])


def lane_map(function: Callable[..., Any], *inputs: Any, backend: Backend = "xla") -> Any:
    """The same as `jax.vmap(function)(*inputs)`, computed by one kernel."""
    if backend == "xla":
        return jax.vmap(function)(*inputs)

    def body(_: Any, __: Any, given: Any, ___: Any) -> tuple[Any, Any]:
        return (), function(*given)

    _, outputs = lane_scan(body, (), None, 1, constant=inputs, backend=backend)
    return jax.tree.map(lambda leaf: leaf[0], outputs)


def _by_xla(body: Body, carry: Any, xs: Any, length: int, constant: Any, shared: Any, kept: int) -> Any:
    def one(carry: Any, xs: Any, constant: Any) -> Any:
        return jax.lax.scan(lambda c, x: _step(body, c, x, constant, shared), carry, xs, length)

    final, ys = jax.vmap(one, in_axes=(0, 1, 0), out_axes=(0, 1))(carry, xs, constant)
    if kept == length:
        return final, ys
    rows = np.argsort(np.arange(length - kept, length) % kept)  # step t is in row t % kept
    return final, jax.tree.map(lambda y: y[length - kept :][rows], ys)


def trace(body: Body, carry: Any, constant: Any, shared: Any, xs: Any) -> tuple[ClosedJaxpr, Signature, Any]:
    """One lane's step as a jaxpr, the buffers it needs, and how its outputs are arranged."""

    def lane(leaf: Any, axes: int) -> jax.ShapeDtypeStruct:
        weak = bool(getattr(leaf, "weak_type", False)) and axes == 0
        return jax.ShapeDtypeStruct(jnp.shape(leaf)[axes:], jnp.result_type(leaf), weak_type=weak)

    abstract = [
        jax.tree.map(functools.partial(lane, axes=axes), tree)
        for tree, axes in ((carry, 1), (constant, 1), (shared, 0), (xs, 2))
    ]
    program, (_, ys) = jax.make_jaxpr(lambda c, k, s, x: _step(body, c, x, k, s), return_shape=True)(*abstract)
    leaves = [tuple(jax.tree.leaves(tree)) for tree in (*abstract, ys)]
    return program, Signature(*leaves), jax.tree.structure(ys)


def _step(body: Body, carry: Any, x: Any, constant: Any, shared: Any) -> tuple[Any, Any]:
    after, y = body(carry, x, constant, shared)
    keeps_its_form(carry, after, "The body of lane_scan")
    return after, y


def keeps_its_form(before: Any, after: Any, whose: str) -> None:
    """Refuse what a step makes of a state where it has another structure, other shapes or other types."""
    if jax.tree.structure(after) != jax.tree.structure(before):
        raise UsageError(f"{whose} must return what it got in the same structure.")
    for was, now in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
        forms = [(list(jnp.shape(leaf)), jnp.result_type(leaf)) for leaf in (was, now)]
        if forms[0] != forms[1]:
            raise UsageError(f"{whose} turns {' into '.join(f'{dtype}{shape}' for shape, dtype in forms)}.")


def depends(program: ClosedJaxpr, outputs: list[int], inputs: list[int]) -> bool:
    """Whether some of a program's outputs, or anything it does besides, depend on some of its inputs."""
    jaxpr = program.jaxpr
    needed = {jaxpr.outvars[i] for i in outputs if not isinstance(jaxpr.outvars[i], Constant)}
    for equation in reversed(jaxpr.eqns):
        if equation.effects or needed.intersection(equation.outvars):
            needed.update(var for var in equation.invars if not isinstance(var, Constant))
    return any(jaxpr.invars[i] in needed for i in inputs)


def _call(
    program: ClosedJaxpr, signature: Signature, operands: list[Any], lanes: int, length: int, window: int,
    backend: Kernel, into: list[Any],
) -> list[Any]:  # fmt: skip
    """The kernel as an operation of JAX."""
    shapes = [jax.ShapeDtypeStruct((lanes, *a.shape), a.dtype) for a in signature.carry]
    outputs = [jax.ShapeDtypeStruct((window, lanes, *a.shape), a.dtype) for a in signature.ys]
    if into:
        found = [(jnp.shape(leaf), jnp.result_type(leaf)) for leaf in into]
        if found != [(a.shape, a.dtype) for a in outputs]:
            wanted = ", ".join(f"{a.dtype}{list(a.shape)}" for a in outputs)
            raise UsageError(f"The arrays to write to must be {wanted}, got {[f'{d}{list(s)}' for s, d in found]}.")
    aliases = {len(operands) + i: len(shapes) + i for i in range(len(into))}
    numbers = {"lanes": lanes, "steps": length, "threads": threads() if backend == "c" else 0, "window": window}
    operation = jax.ffi.ffi_call(
        _registered(program, signature, backend), [*shapes, *outputs],
        vmap_method="sequential", input_output_aliases=aliases,
    )  # fmt: skip

    @jax.custom_jvp
    def called(*given: Any) -> list[Any]:
        return list(operation(*given, **{name: np.int64(number) for name, number in numbers.items()}))

    called.defjvp(_refuse_to_differentiate)
    return called(*operands, *into)


def _refuse_to_differentiate(primals: Any, tangents: Any) -> Any:
    raise UsageError("A kernel cannot be differentiated; use backend='xla'.")


def _registered(program: ClosedJaxpr, signature: Signature, backend: Kernel) -> str:
    """The name under which XLA finds the kernel."""
    if backend == "c":
        return _register(c_library(program, signature), "cpu")
    return _register(cuda_library(program, signature), "CUDA")


_names: set[str] = set()


@functools.cache
def _register(path: Path, platform: str) -> str:
    name = f"overclock_{platform.lower()}_{path.stem}"
    if name in _names:  # the same kernel, compiled once more into another folder
        name = f"{name}_{len(_names)}"
    _names.add(name)
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(loaded(path).overclock_handler), platform=platform)
    return name


def whole_steps(steps: Any, who: str) -> int:
    """A number of steps as Python's own, or an error in the name of whoever was asked."""
    try:
        found = operator.index(steps)
    except TypeError:  # a number that is traced is none yet
        found = -1
    if found < 0 or isinstance(steps, bool):
        raise UsageError(f"{who} takes a whole number of steps from 0 on, static under jit, got {steps!r}.")
    return found


def _lanes(carry: Any, constant: Any, xs: Any) -> int:
    sizes = {jnp.shape(leaf)[:1] for leaf in jax.tree.leaves((carry, constant))}
    sizes |= {jnp.shape(leaf)[1:2] for leaf in jax.tree.leaves(xs)}
    if len(sizes) != 1 or sizes == {()}:
        raise UsageError(f"The leaves of a state need the same number of lanes as first axis, got {sorted(sizes)}.")
    return sizes.pop()[0]


def _length(xs: Any, length: Any) -> int:
    sizes = {jnp.shape(leaf)[0] for leaf in jax.tree.leaves(xs)}
    found = sizes.copy() if length is None else {whole_steps(length, "lane_scan")} | sizes
    if len(found) != 1:
        raise UsageError(f"lane_scan needs one number of steps: length is {length}, xs have {sorted(sizes)}.")
    return found.pop()
