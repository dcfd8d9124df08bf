"""What is simpler than a number, and how to put it in its place: zeros, round numbers, fewer digits."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

Path = tuple[str | int, ...]

MOST_DIGITS = 17  # any float64 is one of these decimal numbers


def simpler(value: Any) -> list[Any]:
    """Strictly simpler values of the same type, the simplest first; none for zero, False and what is not finite.

    They are never further from zero than the value itself: a rounded-up angle may lie beyond a limit of the rules.
    """
    if isinstance(value, bool):
        return [False] if value else []
    if value != value or value in (float("inf"), float("-inf")):
        return []
    kind, exact = type(value), abs(Decimal(repr(value)))
    sizes = {Decimal(0), exact, *(exact - exact % _unit(exact, digits) for digits in range(1, MOST_DIGITS))}
    sizes |= {simple for simple in (Decimal(int(exact)), Decimal(1), Decimal("0.1")) if simple < exact}
    if kind is int:
        sizes |= {Decimal(abs(value) // 2), Decimal(abs(value) - 1)}
    found = {kind(sign * size) for size in sizes for sign in ((1, -1) if value < 0 else (1,))}
    return sorted((candidate for candidate in found if complexity(candidate) < complexity(value)), key=complexity)


def complexity(value: float) -> tuple[int, int, bool, float]:
    """Orders numbers by how much there is to read: digits, then powers of ten, then the sign, then the size."""
    number = Decimal(repr(abs(value))).normalize()
    if not number:
        return 0, 0, False, 0.0
    return len(number.as_tuple().digits), abs(number.adjusted()), value < 0, abs(value)


def _unit(number: Decimal, digits: int) -> Decimal:
    """The value of the last of so many leading digits."""
    return Decimal(1).scaleb(number.adjusted() - digits + 1) if number else Decimal(1)


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every number in nested dictionaries and lists, and where it stands."""
    if isinstance(tree, dict):
        for key, inner in tree.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(tree, list | tuple):
        for index, inner in enumerate(tree):
            yield from leaves(inner, (*path, index))
    elif isinstance(tree, bool | int | float):
        yield path, tree


def replaced(tree: Any, changes: dict[Path, Any]) -> Any:
    """The same tree with other numbers in some places; places that it does not have are left alone."""
    if () in changes:
        return changes[()]
    inner: dict[str | int, dict[Path, Any]] = {}
    for (first, *rest), value in changes.items():
        inner.setdefault(first, {})[tuple(rest)] = value
    if isinstance(tree, dict):
        return {key: replaced(part, inner[key]) if key in inner else part for key, part in tree.items()}
    if isinstance(tree, list | tuple):
        parts = (replaced(part, inner[index]) if index in inner else part for index, part in enumerate(tree))
        return type(tree)(parts)
    return tree
