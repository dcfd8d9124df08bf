"""Names of environments. Importing this module touches neither JAX nor any environment's code.

Other packages bring environments by entry points of the group `overclock.environments`, `"id-v0" = "package:SPEC"`.
These are looked for only when a name is not known here, by their metadata alone, and only the one that was asked for
is imported: a broken package breaks nothing but its own environments.
"""

import dataclasses
import difflib
import json
import re
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from overclock import compile_cache
from overclock.entry_point import EntryPoint
from overclock.env.options import checked_options
from overclock.errors import UnknownEnvironmentError, UsageError

if TYPE_CHECKING:
    from importlib import metadata

    from overclock.env.environment import Environment, Params

GROUP = "overclock.environments"
ID_PATTERN = re.compile(r"(?P<name>[a-z][a-z0-9_-]*?)(-v(?P<version>0|[1-9][0-9]*))?")


@dataclasses.dataclass(frozen=True)
class Spec:
    """One registered environment: where its class lives and what it is compared with."""

    id: str
    entry_point: str  # "package.module:Class", or a function make() -> (env, params); imported on first use
    reference: str | None = None  # e.g. "gymnasium:CartPole-v1"
    twin: str | None = None  # "package.module:function" that builds the verify Twin
    renderer: str | None = None  # "package.module:function", (env, state, params) -> RGB array
    renderers: tuple[tuple[str, str], ...] = ()  # (name, the same) pairs of others, for `overclock record --renderer`
    controller: str | None = None  # "package.module:function", obs -> action: a scripted player for recordings
    keys: tuple[tuple[str, int], ...] = ()  # (key name, action) pairs for `overclock play`
    fps: float = 50.0  # steps per second that a person can follow, in `overclock play` and in recordings
    native: str | None = None  # "package.module:Class": a Rust HostVector of the same environment
    rules_in_rust: bool = False  # JAX calls the Rust side: a HostVector is that side itself, unless told otherwise
    summary: str = ""

    @property
    def name(self) -> str:
        """The id without its version."""
        return _split(self.id)[0]

    @property
    def version(self) -> int:
        """The number after `-v` in the id."""
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
    found = full_id(env_id)
    return _registry[found] if found in _registry else _brought(_installed()[found])


def full_id(env_id: str) -> str:
    """The id with its version; nothing is imported to find it."""
    name, version = _split(env_id)
    versions = _versions(name, _registry) or _versions(name, _installed())
    if version in versions:
        return versions[version]
    if version is None and versions:
        return versions[max(versions)]
    if versions:
        known = ", ".join(f"'{versions[v]}'" for v in sorted(versions))
        raise UnknownEnvironmentError(f"'{name}' has no version {version}; registered: {known}.")
    raise UnknownEnvironmentError(f"No environment is called '{env_id}'; {_hint(name)}")


def _versions(name: str, ids: Iterable[str]) -> dict[int, str]:
    parts = [(_split(env_id), env_id) for env_id in ids]
    return {version: env_id for (other, version), env_id in parts if other == name and version is not None}


def _hint(written: str) -> str:
    names = [name for env_id in known_ids() for name in (_split(env_id)[0], env_id)]
    close = difflib.get_close_matches(written.lower(), names, 1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else "`overclock list` shows every environment."


def known_ids() -> list[str]:
    """Every id that can be asked for, sorted; nothing is imported to find them."""
    return sorted({*_registry, *_installed()})


def list_envs(complain: Callable[[str], object] = warnings.warn) -> list[Spec]:
    """Every environment, sorted by id; one whose package cannot be loaded is left out, and `complain` hears why."""
    found, installed = [], _installed()
    for env_id in sorted({*_registry, *installed}):
        try:
            found.append(_registry[env_id] if env_id in _registry else _brought(installed[env_id]))
        except UsageError as error:
            complain(str(error))
    return found


def _installed() -> "dict[str, metadata.EntryPoint]":
    """What other packages bring, by id; a name that is registered here is nobody else's."""
    from importlib.metadata import entry_points  # most commands never ask

    ours = {entry.name for entry in _registry.values()}
    found: dict[str, metadata.EntryPoint] = {}
    for point in entry_points(group=GROUP):
        match = ID_PATTERN.fullmatch(point.name)
        if match is not None and match["version"] is not None and match["name"] not in ours:
            found.setdefault(point.name, point)
    return found


def _brought(point: "metadata.EntryPoint") -> Spec:
    try:
        found = point.load()
    except Exception as error:  # whatever somebody else's code does when it is imported
        raise _unusable(point.name, point.value, error) from error
    if not isinstance(found, Spec) or found.id != point.name:
        raise _unusable(point.name, point.value, TypeError("it is no overclock.Spec of that id"))
    return found


def _unusable(env_id: str, place: str, error: Exception) -> UsageError:
    return UsageError(
        f"'{env_id}' comes with another package, whose '{place}' cannot be loaded ({type(error).__name__}: {error}); "
        f"install '{place.partition(':')[0].partition('.')[0]}' again, or remove it."
    )


def load(entry_point: EntryPoint | str) -> Any:
    """The object of an entry point, or of its text 'package.module:name' (see `EntryPoint.load`)."""
    return EntryPoint.of(entry_point).load()


def parse_options(options: Iterable[str]) -> dict[str, Any]:
    """Static options as a command line gives them, `frameskip=8`: whole numbers, numbers, true and false, and words."""
    found: dict[str, Any] = {}
    for option in options:
        name, sign, text = option.partition("=")
        if not (name.isidentifier() and sign and text):
            raise UsageError(f"--options takes name=value, frameskip=8 for example, got '{option}'.")
        try:
            found[name] = json.loads(text.lower() if text in ("True", "False") else text)
        except ValueError:
            found[name] = text
    return found


def make(env_id: str, **static: Any) -> "tuple[Environment[Any, Any], Params]":
    """An environment and its default parameters; keyword arguments are the environment's static fields."""
    entry = spec(env_id)
    compile_cache.enable()
    try:
        cls = load(entry.entry_point)
    except Exception as error:
        if entry.id in _registry:
            raise
        raise _unusable(entry.id, entry.entry_point, error) from error
    made_by_class = isinstance(cls, type)
    known = [field.name for field in dataclasses.fields(cls)] if made_by_class else []
    static = checked_options(entry.id, cls, known, static, lambda: _parameters(cls))
    if not made_by_class:
        return cls()
    env = cls(**static)
    return env, env.default_params()


def _parameters(maker: Callable[[], Any]) -> list[str]:
    """The names of an environment's parameters, where it can be made without options."""
    try:
        made = maker()
        params = made.default_params() if isinstance(maker, type) else made[1]
        return [field.name for field in dataclasses.fields(params)]
    except Exception:  # whatever an environment does that cannot be made like this; its options are told then
        return []
