"""Dependency order: things that need each other stay together, what is needed comes first; always the same answer."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(nodes: Sequence[Node], edges: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """Strongly connected components (Tarjan), those that others need first; `edges` lead to what a node needs.

    Inside a component, and between those that do not care, the order of `nodes` decides.
    """
    place = {node: position for position, node in enumerate(nodes)}
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    done: list[list[Node]] = []
    work: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        work.append((node, iter(sorted((n for n in edges.get(node, ()) if n in place), key=place.__getitem__))))

    for first in nodes:
        if first not in index:
            enter(first)
        while work:
            node, needed = work[-1]
            for other in needed:
                if other not in index:
                    enter(other)
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    member, group = None, []
                    while member != node:
                        member = stack.pop()
                        on_stack.discard(member)
                        group.append(member)
                    done.append(sorted(group, key=place.__getitem__))
    return done


def quotient(groups: Sequence[Iterable[Node]], edges: Mapping[Node, Iterable[Node]]) -> dict[int, set[int]]:
    """The edges between groups, by their positions, loops left out."""
    group_of = {node: position for position, group in enumerate(groups) for node in group}
    between: dict[int, set[int]] = {position: set() for position in range(len(groups))}
    for node, position in group_of.items():
        for other in edges.get(node, ()):
            if other in group_of and group_of[other] != position:
                between[position].add(group_of[other])
    return between


def reaches(edges: Mapping[int, Iterable[int]], start: Iterable[int], goal: int) -> bool:
    """Whether a path leads from one of `start` to `goal`."""
    waiting, seen = list(start), set()
    while waiting:
        node = waiting.pop()
        if node == goal:
            return True
        if node not in seen:
            seen.add(node)
            waiting += edges.get(node, ())
    return False
