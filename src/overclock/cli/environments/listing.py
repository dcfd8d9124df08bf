"""`overclock list`: the registered environments. Only `--long` loads their code (and with it JAX).

Not `list.py`: a submodule of that name would shadow the builtin `list` inside the package.
"""

import dataclasses
import sys
from collections.abc import Sequence
from typing import Any

from overclock.cli import output
from overclock.env.registry import Spec, list_envs
from overclock.results import extended

SCHEMA = "overclock.list/1"


@dataclasses.dataclass
class List:
    """Show the environments that can be made by id.

    Examples:
      overclock list
      overclock list --long
      overclock list --json | jq -r '.environments[].id'
    """

    long: bool = False
    """Also load each environment and show its spaces, players and time limit."""
    json: bool = False
    """Print one JSON object (schema overclock.list/1) instead of a table."""

    def run(self) -> int:
        """Print the environments as a table or as JSON."""
        entries = list_envs(complain=lambda sentence: print(f"left out: {sentence}", file=sys.stderr))
        if self.long:
            from overclock.env.registry import make

            loaded = [make(entry.id) for entry in entries]
            listed = [describe_loaded(entry, *made) for entry, made in zip(entries, loaded, strict=True)]
        else:
            loaded, listed = [], [describe(entry) for entry in entries]
        if self.json:
            output.emit(EnvironmentList(SCHEMA, listed))
            return 0
        columns = ["id", "reference", "summary"]
        rows = [[one.id, one.reference or "-", one.summary] for one in listed]
        if self.long:
            columns[2:2] = ["observation", "action", "players", "max steps"]
            for row, (env, params) in zip(rows, loaded, strict=True):
                spaces = [text(env.observation_space(params)), text(env.action_space(params))]
                row[2:2] = [*spaces, str(env.num_players), str(params.max_steps or "-")]
        output.table(columns, rows)
        return 0


@dataclasses.dataclass(frozen=True)
class Listed:
    """An environment, as far as the registry alone knows it."""

    id: str
    name: str
    version: int
    reference: str | None
    summary: str
    playable: bool
    recordable: bool
    verifiable: bool
    native: bool


@dataclasses.dataclass(frozen=True)
class ListedLong(Listed):
    """The same with what only the environment itself knows; a space by its kind and the fields that kind has."""

    observation_space: dict[str, Any]
    action_space: dict[str, Any]
    num_players: int
    max_steps: int | None


@dataclasses.dataclass(frozen=True)
class EnvironmentList:
    """The report of `overclock list`."""

    schema: str
    environments: Sequence[Listed | ListedLong]


def describe(entry: Spec) -> Listed:
    """Read an environment's row off the registry, without loading its code."""
    return Listed(
        entry.id, entry.name, entry.version, entry.reference, entry.summary,
        playable=bool(entry.renderer and entry.keys), recordable=entry.renderer is not None,
        verifiable=entry.twin is not None, native=entry.native is not None,
    )  # fmt: skip


def describe_loaded(entry: Spec, env: Any, params: Any) -> ListedLong:
    """Describe an environment that was made, too."""
    return extended(
        ListedLong, describe(entry), observation_space=describe_space(env.observation_space(params)),
        action_space=describe_space(env.action_space(params)), num_players=env.num_players, max_steps=params.max_steps,
    )  # fmt: skip


def describe_space(space: Any) -> dict[str, Any]:
    """A space by its kind and the fields that kind has."""
    fields = {field.name: getattr(space, field.name) for field in dataclasses.fields(space)}
    if "spaces" in fields:
        return {"kind": "Dict", "spaces": {name: describe_space(inner) for name, inner in space.spaces}}
    return {"kind": type(space).__name__, **fields, "shape": space.shape, "dtype": space.dtype.name}


def text(space: Any) -> str:
    """A space in a few characters, for the table."""
    match describe_space(space):
        case {"kind": "Dict"}:
            return "{" + ", ".join(f"{name}: {text(inner)}" for name, inner in space.spaces) + "}"
        case {"kind": "Discrete"}:
            return f"Discrete({space.n})"
    return f"{space.dtype.name}{list(space.shape)}"
