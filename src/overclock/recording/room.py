"""`Room`: how many items a list of the reference has room for here, and why as many."""

import dataclasses


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
