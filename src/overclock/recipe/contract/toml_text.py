"""TOML that we write: lines of a new file, and a file written anew without losing a person's comments and layout."""

import itertools
import re
import tomllib
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, Table

from overclock.files import write_whole

HEADER = re.compile(r"\s*(\[{1,2})([^\[\]]+)\]{1,2}\s*(#.*)?$")
Section = tuple[str, ...]
"""The name of a table, or of an array and its row; empty for what stands above the first header."""


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

    Rows of an array of tables are the same row where their `name` is. Comments right above a header belong to it.
    """
    kept, wanted = _sections(old), _sections(new)
    written = {key: _merged_section(kept[key], text) if key in kept else text for key, text in wanted.items()}
    order = [key for key in kept if key in wanted]
    for before, key in itertools.pairwise(wanted):
        if key not in kept:
            order.insert(order.index(before) + 1, key)
    for keys in (order, list(wanted)):
        text = _joined([written[key] for key in keys])
        if _values(text) == _values(new):
            return text
    return new


def _sections(text: str) -> dict[Section, str]:
    """What stands above the first header, then each header with the comments right above it and what it holds."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for number, line in enumerate(lines):
        if HEADER.match(line) and _values("".join(lines[:number])) is not None:
            comments = itertools.takewhile(lambda above: above.startswith("#"), reversed(lines[starts[-1] : number]))
            starts.append(number - len(list(comments)))
    parts = ["".join(lines[first:end]) for first, end in itertools.pairwise([*starts, len(lines)])]
    found: dict[Section, str] = {(): parts[0]}
    row: Section = ()
    for part in parts[1:]:
        header = next(match for line in part.splitlines() if (match := HEADER.match(line)))
        array, name = len(header[1]) > 1, header[2].strip()
        if array:
            value: Any = tomllib.loads(part)
            while isinstance(value, dict):
                value = next(iter(value.values()))
            row = (name, str(value[0].get("name")))
        key = row if array else (*row, name) if row and name.startswith(f"{row[0]}.") else (name,)
        while key in found:
            key = (*key, "again")
        found[key] = part
    return found


def _merged_section(old: str, new: str) -> str:
    """A section with the values of another one; blank lines at its end stay there."""
    if _values(old) == _values(new):
        return old
    document = tomlkit.parse(old.rstrip() + "\n")
    _merge(document, tomlkit.parse(new))
    return document.as_string().rstrip() + "\n" + old[len(old.rstrip()) :].removeprefix("\n")


def _joined(sections: list[str]) -> str:
    """Sections one after the other, with a blank line before each that has a header."""
    text = ""
    for section in sections:
        text += "\n" if text and not text.endswith("\n\n") and section.lstrip() else ""
        text += section
    return text


def _values(text: str) -> dict[str, Any] | None:
    """What a TOML text says; None where it is not whole."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


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
            _merge(before[0], value[0])  # a section has one row
        else:
            old[name] = value
