"""Real results against their JSON Schemas, and through JSON and back."""

import dataclasses
import json
from typing import Any

import jsonschema

from overclock import schemas
from overclock.files import finite
from overclock.results import decode, encode


def as_json(result: Any) -> Any:
    """A result as its reader finds it; what is read back must be the same once more."""
    written = json.loads(json.dumps(finite(encode(result)), allow_nan=False))
    if dataclasses.is_dataclass(result):
        read = decode(type(result), written)
        assert json.loads(json.dumps(finite(encode(read)), allow_nan=False)) == written
    return written


def require_valid(data: Any, name: str, part: str | None = None, strict: bool = True) -> None:
    """Raise where data is not as the schema of this name (or the definition `part` in it) says."""
    schema = schemas.json_schema(name, strict)
    if part is not None:
        schema = {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(data)


def require_valid_part(result: Any, name: str = "overclock.verify/1") -> None:
    """Raise where a part of a report is not as its schema says, or does not come back from JSON as it was."""
    require_valid(as_json(result), name, type(result).__name__)
