"""A table of a TOML file that is read entry by entry; every mistake is one sentence that says where it is."""

from collections.abc import Iterator, Sequence
from typing import Any

from overclock.errors import UsageError

_MISSING: Any = object()


class Table:
    """A table; `done` raises UsageError for entries that were never read."""

    def __init__(self, content: Any, source: str, path: str) -> None:
        self.source, self.path, self.used = source, path, set()
        if not isinstance(content, dict):
            raise self.wrong("is not a table.")
        self.content: dict[str, Any] = content

    def wrong(self, what: str) -> UsageError:
        """An error about this table, to be raised."""
        return UsageError(f"{self.source}: {f'[{self.path}]' if self.path else 'the file'} {what}")

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def anything(self, key: str, kind: type | None = None, default: Any = _MISSING) -> Any:
        """An entry, of a given type if `kind` is given."""
        self.used.add(key)
        if key not in self.content:
            if default is _MISSING:
                raise self.wrong(f"lacks {key!r}.")
            return default
        value = self.content[key]
        if kind is not None and not isinstance(value, kind):
            raise self.wrong(f"has {key} = {value!r}, which is not a {kind.__name__}.")
        return value

    def text(self, key: str, default: Any = _MISSING) -> Any:
        return self.anything(key, str, default)

    def whole(self, key: str, default: Any = _MISSING) -> Any:
        value = self.anything(key, None, default)
        if value is not default and (isinstance(value, bool) or not isinstance(value, int)):
            raise self.wrong(f"has {key} = {value!r}, which is not a whole number.")
        return value

    def count(self, key: str, default: Any = _MISSING) -> Any:
        """An integer that is not negative."""
        value = self.whole(key, default)
        if value is not None and value < 0:
            raise self.wrong(f"has {key} = {value}, which is negative.")
        return value

    def number(self, key: str) -> float:
        value = self.anything(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(f"has {key} = {value!r}, which is not a number.")
        return float(value)

    def choice(self, key: str, choices: Sequence[str], default: str | None) -> str:
        """One of several words; without a default it must be there."""
        value = self.text(key, _MISSING if default is None else default)
        if value not in choices:
            raise self.wrong(f"has {key} = {value!r}; it is one of {', '.join(choices)}.")
        return value

    def table(self, key: str, optional: bool = False) -> "Table":
        return Table(self.anything(key, None, {} if optional else _MISSING), self.source, self._inner(key))

    def tables(self, key: str) -> Iterator[tuple[str, "Table"]]:
        """The tables of a table, by name."""
        for name, content in self.anything(key, dict, {}).items():
            yield name, Table(content, self.source, f"{self._inner(key)}.{name}")

    def listed(self, key: str) -> Iterator["Table"]:
        """The tables of a list."""
        for number, content in enumerate(self.anything(key, list, []), start=1):
            yield Table(content, self.source, f"{self._inner(key)} {number}")

    def done(self) -> None:
        """Complain about the first entry that was never asked for."""
        unknown = [key for key in self.content if key not in self.used]
        if unknown:
            raise self.wrong(f"has an entry {unknown[0]!r} that means nothing here.")

    def _inner(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key
