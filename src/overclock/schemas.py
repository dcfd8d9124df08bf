"""JSON Schema (draft 2020-12) of what commands print and write, made from the dataclasses of their results.

`python -m overclock.schemas docs/schemas` writes a file for each; a test fails where one is out of date.
"""

import dataclasses
import json
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from overclock.env.registry import load
from overclock.results import hints_of, is_absent, key_of, required

SCHEMAS: Mapping[str, tuple[str, ...]] = {  # what a result calls its schema -> the dataclasses it may be of
    "overclock.verify/1": ("overclock.verify.result:VerifyReport", "overclock.verify.result:NoVerdict"),
    "overclock.mutate/1": ("overclock.verify.mutation.result:MutationReport",),
    "overclock.mutants/1": ("overclock.verify.mutation.result:MutantList",),
    "overclock.localise/1": ("overclock.recipe.studies.localise_result:LocaliseReport",),
    "overclock.redteam/1": ("overclock.recipe.redteam.result:RedteamReport",),
    "overclock.replay/1": ("overclock.verify.repro.replay:ReplayReport",),
    "overclock.report/1": ("overclock.report.page:PageReport",),
    "overclock.bench/1": ("overclock.bench.results:Throughput",),
    "overclock.bench.resets/1": ("overclock.bench.results:ResetComparison",),
    "overclock.bench.breakdown/1": ("overclock.bench.results:Breakdown",),
    "overclock.bench.training/1": ("overclock.bench.results:TrainingSpeed",),
    "overclock.train/1": ("overclock.train.command:TrainingReport",),
    "overclock.doctor/1": ("overclock.doctor:DoctorReport",),
    "overclock.record/1": ("overclock.record:RecordReport",),
}
TYPES = {str: "string", int: "integer", bool: "boolean", type(None): "null"}


def json_schema(name: str, strict: bool = False) -> dict[str, Any]:
    """The schema of this name; a `strict` one allows no keys that the dataclasses do not have.

    Fields may be added within a version, so the published schemas are not strict.
    """
    definitions: dict[str, Any] = {}
    kinds = [_schema(load(place), definitions, strict) for place in SCHEMAS[name]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        **(kinds[0] if len(kinds) == 1 else {"anyOf": kinds}),
        "$defs": dict(sorted(definitions.items())),
    }


def file_name(name: str) -> str:
    """The name of a schema's file: `verify-1.json` for overclock.verify/1."""
    return f"{name.removeprefix('overclock.').replace('/', '-')}.json"


def content(name: str) -> str:
    """The content of a schema's file."""
    return json.dumps(json_schema(name), indent=1) + "\n"


def _schema(kind: Any, definitions: dict[str, Any], strict: bool) -> dict[str, Any]:
    """The schema of a type; those of dataclasses are added to `definitions` and referred to."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in (Any, object):
        return {}
    if kind is float:
        return {"type": ["number", "null"]}  # null where it is infinite or not a number
    if kind in TYPES:
        return {"type": TYPES[kind]}
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    inner = [_schema(one, definitions, strict) for one in arguments if one is not ...]
    if origin in (Union, types.UnionType):
        return {"anyOf": inner}
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        return {"type": "array", "items": inner[0]}
    if origin is tuple:
        return {"type": "array", "prefixItems": inner, "items": False, "minItems": len(inner)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": inner[1]}
    if not dataclasses.is_dataclass(kind):
        raise TypeError(f"{kind} has no place in the JSON of a result.")
    return _reference(kind, definitions, strict)


def _reference(kind: Any, definitions: dict[str, Any], strict: bool) -> dict[str, Any]:
    name = kind.__name__
    if name not in definitions:
        definitions[name] = None  # a dataclass may hold others of its own kind
        absent = {field.name for field in dataclasses.fields(kind) if is_absent(field)}
        hints = {one: _present(hint) if one in absent else hint for one, hint in hints_of(kind).items()}
        definitions[name] = {
            "description": " ".join((kind.__doc__ or "").split("\n\n")[0].split()),
            "type": "object",
            "properties": {key_of(one): _schema(hint, definitions, strict) for one, hint in hints.items()},
            "required": list(required(kind)),
            **({"additionalProperties": False} if strict else {}),
        }
    return {"$ref": f"#/$defs/{name}"}


def _present(hint: Any) -> Any:
    """The type of a field made by `absent()` where its key is there: never null."""
    return Union[tuple(one for one in get_args(hint) if one is not type(None))]  # noqa: UP007 - made of a tuple


def main(folder: str) -> None:
    """Write the file of every schema into a folder."""
    for name in SCHEMAS:
        Path(folder, file_name(name)).write_text(content(name), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
