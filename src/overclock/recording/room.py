"""`Room`: how many items a list of the reference has room for here, and why as many; which lists a value holds."""

import dataclasses
from collections.abc import Iterator

from overclock.recording.shapes import Fixed, Many, Maybe, Record, Shape, below


@dataclasses.dataclass(frozen=True)
class Room:
    """`follows`: the number follows from the program, or somebody gave it; otherwise it is assumed."""

    list: str
    items: int
    why: str
    follows: bool = False

    @property
    def sentence(self) -> str:
        """The same in words, with how to give another number where this one is a guess."""
        how = "" if self.follows else f"; assumed: give a bound with --capacity {self.list}=N if more can be needed"
        return f"'{self.list}' has room for {self.items} items ({self.why}{how})"


def outer_lists(shape: Shape, name: str = "", leaf: str = "") -> Iterator[tuple[str, str, Many]]:
    """The lists in a shape that are in no other list: what they are called, and the leaf of their length."""
    match shape:
        case Many():
            yield name, below(leaf, "length"), shape
        case Maybe(of):
            yield from outer_lists(of, name, leaf)
        case Fixed(items, _):
            for place, item in enumerate(items):
                yield from outer_lists(item, f"{name}[{place}]", below(leaf, place))
        case Record(_, fields):
            for key, item in fields:
                yield from outer_lists(item, f"{name}.{key}", below(leaf, key))
        case _:
            pass
