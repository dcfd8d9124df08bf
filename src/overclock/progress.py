"""How long work says how far it is: one kind of function that it calls, whoever shows it."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""`progress(what, done, total)`: what is going on, how much of it is done, and how much there is."""


def silent(what: str, done: int, total: int) -> None:
    """A `Progress` that shows nothing."""
