"""TOML that we write: lines of a new file, and a file written anew without losing a person's comments and layout."""

import tomllib
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, Table

from overclock.files import write_whole


def toml_pairs(values: Mapping[str, Any]) -> list[str]:
    """Lines `name = value` of TOML, one for each entry that is not None."""
    return [f"{name} = {toml_value(value)}" for name, value in values.items() if value is not None]


def toml_value(value: Any) -> str:
    """A value on one line; a mapping becomes an inline table."""
    if not isinstance(value, Mapping):
        return tomlkit.item(value).as_string()
    table = tomlkit.inline_table()
    table.update(value)
    return table.as_string()


def rewrite(path: Path, text: str) -> None:
    """Give a file the values of another text; where a value stays the same, its comments and layout stay as well."""
    write_whole(path, merged(path.read_text(encoding="utf-8"), text).encode())


def merged(old: str, new: str) -> str:
    """The values of `new` in the comments, the order and the layout of `old`.

    Rows of an array of tables are the same row where their `name` is; a comment above a row belongs to the row before.
    """
    document, values = tomlkit.parse(old), tomlkit.parse(new)
    _merge(document, values)
    text = document.as_string()
    return text if tomllib.loads(text) == tomllib.loads(new) else new


def _merge(old: MutableMapping[str, Any], new: Mapping[str, Any]) -> None:
    for name in [name for name in old if name not in new]:
        del old[name]
    for name, value in new.items():
        before = old.get(name)
        if before == value:
            continue
        if isinstance(before, Table) and isinstance(value, Table):
            _merge(before, value)
        elif isinstance(before, AoT) and isinstance(value, AoT):
            known = {row.get("name"): row for row in before}
            rows = [known.get(row.get("name"), row) for row in value]
            for row, values in zip(rows, value, strict=True):
                _merge(row, values)
            if rows != list(before):
                old[name] = tomlkit.aot()
                old[name].extend(rows)
        else:
            old[name] = value
