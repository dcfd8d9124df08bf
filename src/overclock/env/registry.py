"""Names of environments. Importing this module touches neither JAX nor any environment's code."""

import dataclasses
import difflib
import importlib
import re
from typing import TYPE_CHECKING, Any

from overclock import compile_cache
from overclock.errors import UnknownEnvironmentError, UsageError

if TYPE_CHECKING:
    from overclock.env.kernel import Environment, Params

ID_PATTERN = re.compile(r"(?P<name>[a-z][a-z0-9_-]*?)(-v(?P<version>0|[1-9][0-9]*))?")


@dataclasses.dataclass(frozen=True)
class Spec:
    """One registered environment: where its class lives and what it is compared with."""

    id: str
    entry_point: str  # "package.module:Class", imported on first use
    reference: str | None = None  # e.g. "gymnasium:CartPole-v1"
    twin: str | None = None  # "package.module:function" that builds the verify Twin
    renderer: str | None = None  # "package.module:function", (env, state, params) -> RGB array
    controller: str | None = None  # "package.module:function", obs -> action: a scripted player for recordings
    keys: tuple[tuple[str, int], ...] = ()  # (key name, action) pairs for `overclock play`
    native: str | None = None  # "package.module:Class": a Rust HostVector of the same environment
    summary: str = ""

    @property
    def name(self) -> str:
        """The id without its version."""
        return _split(self.id)[0]

    @property
    def version(self) -> int:
        """The number after `-v`."""
        version = _split(self.id)[1]
        assert version is not None
        return version


_registry: dict[str, Spec] = {}


def _split(env_id: str) -> tuple[str, int | None]:
    match = ID_PATTERN.fullmatch(env_id)
    if match is None:
        raise UnknownEnvironmentError(f"'{env_id}' is not an environment id; {_hint(env_id)}")
    version = match["version"]
    return match["name"], None if version is None else int(version)


def register(spec: Spec) -> None:
    """Add an environment; its id must carry a version and be new."""
    match = ID_PATTERN.fullmatch(spec.id)
    if match is None or match["version"] is None:
        raise UsageError(f"An environment cannot be called '{spec.id}'; it needs an id like 'cartpole-v1'.")
    if spec.id in _registry:
        raise UsageError(f"'{spec.id}' is registered already.")
    _registry[spec.id] = spec


def spec(env_id: str) -> Spec:
    """The entry of an id; a bare name means its newest version."""
    name, version = _split(env_id)
    versions = {s.version: s for s in _registry.values() if s.name == name}
    if version in versions:
        return versions[version]
    if version is None and versions:
        return versions[max(versions)]
    if versions:
        known = ", ".join(f"'{versions[v].id}'" for v in sorted(versions))
        raise UnknownEnvironmentError(f"'{name}' has no version {version}; registered: {known}.")
    raise UnknownEnvironmentError(f"No environment is called '{env_id}'; {_hint(name)}")


def _hint(written: str) -> str:
    close = difflib.get_close_matches(written.lower(), [n for s in list_envs() for n in (s.name, s.id)], 1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else "`overclock list` shows every environment."


def list_envs() -> list[Spec]:
    """Every registered environment, sorted by id."""
    return [_registry[env_id] for env_id in sorted(_registry)]


def load(entry_point: str) -> Any:
    """The object behind 'package.module:name'; what name(argument) returns for 'package.module:name|argument'."""
    place, _, argument = entry_point.partition("|")
    module, _, name = place.partition(":")
    found = getattr(importlib.import_module(module), name)
    return found(argument) if argument else found


def make(env_id: str, **static: Any) -> "tuple[Environment[Any, Any], Params]":
    """An environment and its default parameters; keyword arguments are the environment's static fields."""
    entry = spec(env_id)
    compile_cache.enable()
    cls = load(entry.entry_point)
    known = [field.name for field in dataclasses.fields(cls)]
    for name in static:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean '{close[0]}'" if close else f"it has {', '.join(known) or 'none'}"
            raise UsageError(f"{entry.id} has no option '{name}' ({hint}).")
    env = cls(**static)
    return env, env.default_params()
