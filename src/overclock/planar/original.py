"""Access to MuJoCo itself and to Gymnasium's model files, with the remedy where they are missing."""

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from overclock.errors import MissingError

REMEDY = "Gymnasium's robots need MuJoCo, which is not installed: pip install 'overclock[physics]'."
OUTDATED = "is deprecated"  # of an attribute in Gymnasium's files, which no user of ours wrote


def mujoco() -> Any:
    """The package. What it warns of goes to stderr; by itself it would write a file wherever it was started."""
    try:
        found = importlib.import_module("mujoco")  # its names are those of a compiled library
    except ImportError as error:
        raise MissingError(REMEDY) from error
    found.set_mju_user_warning(_warn)
    return found


def file_of(name: str) -> Path:
    """Where Gymnasium keeps a model."""
    if importlib.util.find_spec("gymnasium") is None:
        raise MissingError(REMEDY)
    import gymnasium

    return Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / name


def _warn(message: str) -> None:
    if OUTDATED not in message:
        sys.stderr.write(f"{message}\n")
