"""One training run on several hosts: each runs this same program, JAX joins their devices, and the first one writes.

Hosts have to do the same at the same moment, or all of them wait for ever. So what only one of them can know (its
clock, Ctrl-C, its disk) is agreed upon here; for a host that is alone every function is trivial.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from overclock.errors import OverclockError, UsageError
from overclock.train.distributed.rendezvous import meet

T = TypeVar("T")
SENTENCE_BYTES = 2048  # of an error that the first host tells the others


def connect(coordinator: str, hosts: int, host: int, seconds: float) -> None:
    """Join the devices of `hosts` hosts: this is number `host`, the first one listens at `coordinator` (name:port).

    To be called before JAX touches a device. Whoever can reach the port can join, so it belongs into a trusted network.
    """
    meet(coordinator, hosts, host, seconds)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")  # CPUs only; the other choice needs MPI
    jax.distributed.initialize(coordinator, hosts, host, coordinator_bind_address=coordinator)


@contextlib.contextmanager
def clean_stdout() -> Iterator[None]:
    """Send to stderr what is written to stdout meanwhile: libraries announce there that they have found the others."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def first() -> bool:
    """Whether this is the host that writes and reports."""
    return jax.process_index() == 0


def on_first(action: Callable[[], T]) -> T | None:
    """What the first host does; None on the others. If it cannot, all of them raise its sentence."""
    if jax.process_count() == 1:
        return action()
    result, failure = None, None
    if first():
        try:
            result = action()
        except (OverclockError, OSError) as error:
            failure = error
    told = np.zeros(SENTENCE_BYTES, np.uint8)
    sentence = str(failure).encode()[:SENTENCE_BYTES] if failure else b""
    told[: len(sentence)] = np.frombuffer(sentence, np.uint8)
    heard = bytes(from_first(told)).rstrip(b"\0")
    if failure:
        raise failure
    if heard:
        raise UsageError(heard.decode(errors="replace"))
    return result


def from_first(tree: T) -> T:
    """The first host's arrays, everywhere; the others give arrays of the same shapes."""
    return tree if jax.process_count() == 1 else multihost_utils.broadcast_one_to_all(tree)


def agree(chunk: int, stop: bool) -> tuple[int, bool]:
    """(how many updates to do next by the first host's clock, whether any host was told to stop)."""
    if jax.process_count() == 1:
        return chunk, stop
    said = np.asarray(multihost_utils.process_allgather(np.array([chunk, stop], np.int32)))
    return int(said[0, 0]), bool(said[:, 1].any())


def fetch(tree: Any, mesh: Mesh | None) -> Any:
    """A tree whose lanes lie on several hosts as NumPy arrays, on every one of them; other trees as they are."""
    if jax.process_count() == 1 or mesh is None:
        return tree
    gathered = jax.jit(lambda tree: tree, out_shardings=NamedSharding(mesh, PartitionSpec()))(tree)
    return jax.tree.map(np.asarray, gathered)
