"""Vector states on disk: saved as safetensors, restored exactly, never half-written."""

import os
from pathlib import Path
from typing import TypeVar

import safetensors
import safetensors.numpy

from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.vector.host import flatten_state, unflatten_state

T = TypeVar("T")


def save_state(path: str | os.PathLike[str], state: object) -> None:
    """Write a state (or any pytree of arrays); the file appears only when it is complete."""
    write_whole(Path(path), safetensors.numpy.save(flatten_state(state)))


def load_state(path: str | os.PathLike[str], like: T) -> T:
    """Read a state back; `like` is any state of the same vector environment (from `reset`, say)."""
    try:
        arrays = safetensors.numpy.load_file(path)
    except OSError as error:
        raise UsageError(f"Cannot read a state from {path}: {error.strerror or error}.") from error
    except safetensors.SafetensorError as error:
        raise UsageError(f"{path} is not a saved state, or it is damaged ({error}).") from error
    return unflatten_state(arrays, like)
