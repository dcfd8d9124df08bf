"""Vector states on disk: saved as safetensors, restored exactly, never half-written."""

import os
import tempfile
from pathlib import Path
from typing import TypeVar

import safetensors.numpy

from overclock.vector.host import flatten_state, unflatten_state

T = TypeVar("T")


def save_state(path: str | os.PathLike[str], state: object) -> None:
    """Write a state (or any pytree of arrays); the file appears only when it is complete."""
    path = Path(path)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as unfinished:
        try:
            unfinished.write(safetensors.numpy.save(flatten_state(state)))
            unfinished.flush()
            os.replace(unfinished.name, path)
        except BaseException:
            os.unlink(unfinished.name)
            raise


def load_state(path: str | os.PathLike[str], like: T) -> T:
    """Read a state back; `like` is any state of the same vector environment (from `reset`, say)."""
    return unflatten_state(safetensors.numpy.load_file(path), like)
