"""A coding agent's command line as a TOML file, so that any program can be an agent without code of ours.

The files beside this one in `profiles/` are complete examples. Texts may contain `{model}`, `{base_url}`, `{api_key}`,
`{session}`, `{folder}` (the work tree) and `{home}` (the run's private home); an argument that is just `{options}`
stands for the list `options` of `[endpoint]` or `[direct]`, whichever applies.
"""

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from overclock.errors import UsageError
from overclock.recipe.agents.outputs import DIALECTS

Scope = Literal["invocation", "session"]
BUILT_IN = Path(__file__).with_name("profiles")
PLACEHOLDER = re.compile(r"\{(model|base_url|api_key|session|folder|home)\}")
OPTIONS = "{options}"
CHOICES = {"dialect": tuple(DIALECTS), "usage_scope": get_args(Scope), "dollars_scope": get_args(Scope)}
TEXT = (str, str, "a text")
# type of a field -> (type in TOML, type of its entries, its name in messages)
KINDS: Mapping[Any, tuple[type, type, str]] = {
    tuple[str, ...]: (list, str, "a list of texts"),
    tuple[int, ...]: (list, int, "a list of whole numbers"),
    Mapping[str, str]: (dict, str, "a table of texts"),
}


@dataclasses.dataclass(frozen=True)
class Route:
    """Settings that differ between calls through our gateway and calls to the provider directly."""

    model: str = ""  # the default where it is written differently on this route
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    keep: tuple[str, ...] = ()  # variables of the user's own environment that are passed on, such as a key
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)  # path below the home -> content


@dataclasses.dataclass(frozen=True)
class Profile:
    """How a coding agent is called without a person, and how its answer is read."""

    name: str
    program: str
    install: str  # the command that installs it
    argv: tuple[str, ...]
    install_note: str = ""  # what to know about that command
    resume: tuple[str, ...] = ()  # the same for a call that continues a session; empty = it cannot
    model: str = ""
    dialect: str = "text"  # of its standard output
    usage_scope: Scope = "invocation"  # whether its token counts are of the call or of the whole session
    dollars_scope: Scope = "invocation"
    version_argv: tuple[str, ...] = ("--version",)
    version_pattern: str = r"(\d+\.\d+\.\d+)"
    minimum_version: str = ""
    capped_exit_codes: tuple[int, ...] = ()  # it stopped at a limit of its own
    refused_exit_codes: tuple[int, ...] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    endpoint: Route = Route()
    direct: Route = Route()

    @property
    def remedy(self) -> str:
        """How to install the program, as the end of a sentence."""
        return f"install it with `{self.install}`{f' ({self.install_note})' if self.install_note else ''}"


def built_in() -> list[str]:
    """The names of the profiles that come with Overclock."""
    return sorted(path.stem for path in BUILT_IN.glob("*.toml"))


def load_profile(path: Path) -> Profile:
    """A profile from its file; UsageError says what is wrong with it."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The agent profile '{path}' cannot be read: {error.strerror}.") from error
    except ValueError as error:  # not TOML, or not text
        raise UsageError(f"The agent profile '{path}' is not TOML: {error}.") from error
    try:
        routes = {name: _record(Route, content.pop(name, {}), f"{name}.") for name in ("endpoint", "direct")}
        profile = _record(Profile, {"name": path.stem, **content}, "", **routes)
    except UsageError as error:
        raise UsageError(f"The agent profile '{path}': {error}") from error
    return profile


def fill(text: str, values: Mapping[str, str]) -> str:
    """A text of a profile with its placeholders replaced; other braces stay, because JSON is full of them."""
    return PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _record(cls: type[Any], given: Any, where: str, **more: Any) -> Any:
    """An instance of a dataclass from a TOML table; UsageError if an entry is wrong, unknown or missing."""
    if not isinstance(given, dict):
        raise UsageError(f"'{where.rstrip('.')}' is a table.")
    fields = {field.name: field for field in dataclasses.fields(cls) if field.name not in more}
    for name in given:
        if name not in fields:
            raise UsageError(f"there is no entry '{where}{name}'; known: {', '.join(fields)}.")
    for field in fields.values():
        if field.name not in given and _required(field):
            raise UsageError(f"the entry '{where}{field.name}' is missing.")
    return cls(**{name: _value(fields[name], value, where) for name, value in given.items()}, **more)


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _value(field: dataclasses.Field[Any], value: Any, where: str) -> Any:
    name = f"{where}{field.name}"
    if (choices := CHOICES.get(field.name)) is not None and value not in choices:
        raise UsageError(f"'{name}' is one of {', '.join(choices)}, not {value!r}.")
    container, entry, words = KINDS.get(field.type, TEXT)
    fits = isinstance(value, container) and all(
        isinstance(one, entry) for one in (value.values() if container is dict else value)
    )
    if not fits or (container is str and _required(field) and not value):
        raise UsageError(f"'{name}' is {words}.")
    if field.name == "version_pattern":
        try:
            if re.compile(value).groups != 1:
                raise UsageError(f"'{name}' needs one group, the version.")
        except re.error as error:
            raise UsageError(f"'{name}' is not a regular expression: {error}.") from error
    return tuple(value) if container is list else value
