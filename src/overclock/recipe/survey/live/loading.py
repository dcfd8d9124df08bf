"""A reference that was resolved -> a running instance of it. From here on its code runs."""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overclock.errors import MissingError, OverclockError, UsageError
from overclock.recipe.references.gymnasium_spec import spec_of
from overclock.recipe.survey.static.source import Source

try:
    import gymnasium
    from gymnasium.utils import seeding
    from gymnasium.wrappers import TimeLimit
except ImportError as error:
    raise MissingError("A Python reference is run with Gymnasium: pip install 'overclock[gymnasium]'.") from error

__all__ = ["gymnasium", "load_class", "make", "playing", "require_from", "seeding"]


def load_class(source: Source) -> type:
    """Import the class of a reference; UsageError or MissingError where that fails."""
    if source.module is None or source.class_name is None:
        raise UsageError(f"'{source.text}' is no Python class, so it cannot be run in this process.")
    if source.folder is not None and sys.path[:1] != [str(source.folder)]:
        sys.path.insert(0, str(source.folder))  # before the current folder, which may have a module of the same name
    try:
        found: Any = importlib.import_module(source.module)
        if source.folder is not None:
            require_from(found, source.folder, source.text)
        for part in source.class_name.split("."):
            found = getattr(found, part)
    except UsageError:
        raise
    except (ImportError, gymnasium.error.DependencyNotInstalled) as error:
        raise MissingError(f"'{source.text}' cannot be imported: {error}; install what it needs.") from error
    except Exception as error:
        raise UsageError(f"'{source.text}' cannot be imported: {type(error).__name__}: {error}.") from error
    return found


def require_from(module: Any, folder: Path, text: str) -> None:
    """Refuse a module that Python has imported by that name from another folder before."""
    place = Path(module.__file__ or "").resolve()
    if folder not in place.parents:
        raise UsageError(
            f"'{text}' cannot be imported: Python already means '{place}' by the module '{module.__name__}'; "
            "rename the file."
        )


@contextlib.contextmanager
def playing(source: Source) -> Iterator[None]:
    """Around calls of a reference: whatever it raises becomes a UsageError of one sentence."""
    try:
        yield
    except OverclockError:
        raise
    except Exception as error:
        raise UsageError(f"'{source.text}' failed while it played: {type(error).__name__}: {error}.") from error


def make(source: Source) -> Any:
    """One instance of a reference, with its time limit around it."""
    cls = load_class(source)
    try:
        if source.kind == "gymnasium":
            assert source.env_id is not None
            spec = spec_of(source.env_id, source.arguments, source.max_steps)
            return gymnasium.make(spec, disable_env_checker=True)
        env = cls(**source.arguments)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"'{source.text}' cannot be made: {type(error).__name__}: {error}.") from error
    if source.max_steps is None:
        return env
    if not isinstance(env, gymnasium.Env):
        raise UsageError(f"'{source.text}' is no gymnasium.Env, so a time limit cannot be put around it.")
    return TimeLimit(env, source.max_steps)
