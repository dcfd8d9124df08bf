"""`overclock list`: the registered environments. Only `--long` loads their code (and with it JAX).

Not `list.py`: a submodule of that name would shadow the builtin `list` inside the package.
"""

import dataclasses
import sys
from typing import Any

from overclock.cli import output
from overclock.env.registry import Spec, list_envs

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
        """Print them."""
        entries = list_envs(complain=lambda sentence: print(f"left out: {sentence}", file=sys.stderr))
        environments = [describe(entry) | (describe_loaded(entry) if self.long else {}) for entry in entries]
        if self.json:
            output.emit({"schema": SCHEMA, "environments": environments})
            return 0
        columns = ["id", "reference", "summary"]
        rows = [[e["id"], e["reference"] or "-", e["summary"]] for e in environments]
        if self.long:
            columns[2:2] = ["observation", "action", "players", "max steps"]
            for row, e in zip(rows, environments, strict=True):
                spaces = [text(e["observation_space"]), text(e["action_space"])]
                row[2:2] = [*spaces, str(e["num_players"]), str(e["max_steps"] or "-")]
        output.table(columns, rows)
        return 0


def describe(entry: Spec) -> dict[str, Any]:
    """What the registry alone knows."""
    return {
        "id": entry.id,
        "name": entry.name,
        "version": entry.version,
        "reference": entry.reference,
        "summary": entry.summary,
        "playable": bool(entry.renderer and entry.keys),
        "recordable": entry.renderer is not None,
        "verifiable": entry.twin is not None,
        "native": entry.native is not None,
    }


def describe_loaded(entry: Spec) -> dict[str, Any]:
    """What only the environment itself knows."""
    from overclock.env.registry import make

    env, params = make(entry.id)
    return {
        "observation_space": describe_space(env.observation_space(params)),
        "action_space": describe_space(env.action_space(params)),
        "num_players": env.num_players,
        "max_steps": params.max_steps,
    }


def describe_space(space: Any) -> dict[str, Any]:
    """A space by its kind and the fields that kind has."""
    fields = {field.name: getattr(space, field.name) for field in dataclasses.fields(space)}
    if "spaces" in fields:
        return {"kind": "Dict", "spaces": {name: describe_space(inner) for name, inner in space.spaces}}
    return {"kind": type(space).__name__, **fields, "shape": space.shape, "dtype": space.dtype.name}


def text(space: dict[str, Any]) -> str:
    """A space in a few characters, for the table."""
    if space["kind"] == "Dict":
        return "{" + ", ".join(f"{name}: {text(inner)}" for name, inner in space["spaces"].items()) + "}"
    if space["kind"] == "Discrete":
        return f"Discrete({space['n']})"
    return f"{space['dtype']}{list(space['shape'])}"
