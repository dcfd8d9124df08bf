"""Definitions packed into modules of a size that can be translated at once, along natural boundaries.

First every class and every file's functions are a group. Groups that need each other become one. A group that is too
large is cut along its own dependency order, between functions, never inside one and never through a cycle. Then
groups that are too small join a neighbour: one of the same file, or one they use or are used by.
"""

import math
from collections.abc import Mapping

from overclock.recipe.survey.static.definitions import Definition
from overclock.recipe.survey.static.dependency_order import components, quotient, reaches

FEWEST, MOST = 100, 500  # lines of a module: the paper's range, what one prompt holds well

Group = list[Definition]
Edges = Mapping[str, tuple[str, ...]]


def group(definitions: tuple[Definition, ...], edges: Edges, fewest: int = FEWEST, most: int = MOST) -> list[Group]:
    """The groups in dependency order: what is needed comes first."""
    natural: dict[tuple[str, str], Group] = {}
    for one in definitions:
        owner = one.owner or (one.qualified if one.kind == "class" else "")
        natural.setdefault((one.file.module, owner), []).append(one)
    groups = _ordered([*natural.values()], edges)
    cut = [part for one in groups for part in (_cut(one, edges, most) if _lines(one) > most else [one])]
    return _ordered(_joined(cut, edges, fewest, most), edges)


def _lines(group: Group) -> int:
    return sum(len(one.lines) for one in group)


def _names(group: Group) -> list[str]:
    return [one.name for one in group]


def _ordered(groups: list[Group], edges: Edges) -> list[Group]:
    between = quotient([_names(one) for one in groups], edges)
    together = components(range(len(groups)), between)
    return [[one for position in sorted(places) for one in groups[position]] for places in together]


def _cut(group: Group, edges: Edges, most: int) -> list[Group]:
    """Consecutive pieces of a dependency order, so that no piece needs a later one; about equally large."""
    by_name = {one.name: one for one in group}
    units = [[by_name[name] for name in unit] for unit in components(_names(group), edges)]
    size = _lines(group) / math.ceil(_lines(group) / most)
    parts: list[Group] = [[]]
    for unit in units:
        filled = _lines(parts[-1])
        # A new part where this unit would not fit, or where the aim is nearer without it than with it.
        if parts[-1] and (filled + _lines(unit) > most or filled + _lines(unit) / 2 > size):
            parts.append([])
        parts[-1] += unit
    return parts


def _joined(groups: list[Group], edges: Edges, fewest: int, most: int) -> list[Group]:
    groups = list(groups)
    while True:
        between = quotient([_names(one) for one in groups], edges)
        small = sorted((_lines(one), place) for place, one in enumerate(groups) if _lines(one) < fewest)
        pairs = (pair for _, place in small if (pair := _neighbour(groups, between, place, most)) is not None)
        found = next(pairs, None)
        if found is None:
            return groups
        first, second = sorted(found)
        groups[first] = groups[first] + groups.pop(second)


def _neighbour(groups: list[Group], between: dict[int, set[int]], place: int, most: int) -> tuple[int, int] | None:
    """The best group to join with: same file before others, small before large; never one that closes a cycle."""
    mine = {one.file.module for one in groups[place]}
    choices = []
    for other in range(len(groups)):
        if other == place or _lines(groups[place]) + _lines(groups[other]) > most:
            continue
        same_file = bool(mine & {one.file.module for one in groups[other]})
        linked = other in between[place] or place in between[other]
        if not (same_file or linked) or _closes_cycle(between, place, other):
            continue
        choices.append((not same_file, not linked, _lines(groups[other]), other))
    return (place, min(choices)[-1]) if choices else None


def _closes_cycle(between: dict[int, set[int]], a: int, b: int) -> bool:
    """Whether a third group lies between two: joining them would make them need and be needed by it."""
    return reaches(between, between[a] - {b}, b) or reaches(between, between[b] - {a}, a)
