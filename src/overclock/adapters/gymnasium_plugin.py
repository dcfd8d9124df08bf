"""Overclock's environments in Gymnasium's registry: `gymnasium.make("overclock/cartpole-v1")`, and `make_vec` likewise.

Nothing here imports JAX or an environment's rules; an id's code loads when the id is made. How Gymnasium gets to know:

- `import overclock` registers them, before or after `import gymnasium`;
- `gymnasium.make("overclock:overclock/cartpole-v1")` needs no import at all.

Gymnasium 1.0 removed its loader of `gymnasium.envs` entry points, so an installed package cannot register itself there.
"""

import importlib.util
import sys
from types import ModuleType
from typing import Any

from overclock.env.registry import full_id, known_ids
from overclock.errors import MissingError

NAMESPACE = "overclock"
ENTRY_POINT = "overclock.adapters.gymnasium:UnlimitedGymnasiumEnv"
VECTOR_ENTRY_POINT = "overclock.adapters.gymnasium:make_vec"
REGISTRY_PACKAGE = "gymnasium.envs"  # complete as soon as this package is, early in `import gymnasium`


def register_all() -> None:
    """Put every environment into Gymnasium's registry; call it again after `overclock.register` to add new ones."""
    try:
        from gymnasium.envs.registration import registry
    except ImportError as error:
        raise MissingError("Gymnasium is not installed; run: pip install 'overclock[gymnasium]'.") from error
    for env_id in known_ids():
        registry.setdefault(f"{NAMESPACE}/{env_id}", gymnasium_spec(env_id))


def gymnasium_spec(env_id: str, **options: Any) -> Any:
    """Gymnasium's `EnvSpec` of an id, with its options as keyword arguments.

    Its `max_episode_steps` is the environment's own limit. Gymnasium gives it (or the caller's) to `TimeLimit` in
    `make`, which is why the environment made there has none, and to our batch in `make_vec`: one limit, one place.
    """
    from overclock.adapters.gymnasium_spec import OWN_LIMIT, OverclockSpec

    found = full_id(env_id)
    given = {name: value for name, value in options.items() if value is not None}
    return OverclockSpec(
        id=f"{NAMESPACE}/{found}",
        entry_point=ENTRY_POINT,
        vector_entry_point=VECTOR_ENTRY_POINT,
        max_episode_steps=OWN_LIMIT,  # pyright: ignore[reportArgumentType]
        kwargs={"env": found, **given},
    )


def register_when_imported() -> None:
    """Register now if Gymnasium is there already, otherwise right after something imports it."""
    if hasattr(sys.modules.get(f"{REGISTRY_PACKAGE}.registration"), "registry"):
        register_all()
    elif not any(isinstance(finder, _AfterGymnasium) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterGymnasium())


class _AfterGymnasium:
    """An import finder: waits for Gymnasium's registry, lets it load as usual, then registers. It serves once."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:
        if fullname != REGISTRY_PACKAGE:
            return None
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(fullname)
        if found is not None and found.loader is not None:
            load = found.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                register_all()

            found.loader.exec_module = load_and_register
        return found
