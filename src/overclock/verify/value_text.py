"""Values of the two sides in words: whole where they are a few numbers, and where they part if they are a picture."""

from collections.abc import Mapping
from typing import Any

import numpy as np

MOST_SHOWN = 64  # numbers of a value that is written out; people and models read no more


def actions_text(count: int) -> str:
    """A number of actions in words."""
    return "the reset" if count == 0 else "1 action" if count == 1 else f"{count} actions"


def value_text(value: Any) -> str:
    """One value of a side as text; a large array by the number of its values."""
    size = np.size(value)
    return f"{value}" if size <= MOST_SHOWN else f"{size:,} values"


def state_text(state: Mapping[str, Any]) -> str:
    """The fields of a state, as a dictionary's text."""
    return f"{{{', '.join(f'{name!r}: {value_text(value)}' for name, value in state.items())}}}"


def sides_text(reference: Any, performance: Any) -> tuple[str, str]:
    """The same field on both sides; of large ones the first value that differs."""
    theirs, ours = np.asarray(reference), np.asarray(performance)
    if max(theirs.size, ours.size) <= MOST_SHOWN or theirs.shape != ours.shape:
        return value_text(reference), value_text(performance)
    same = (theirs == ours) | ((theirs != theirs) & (ours != ours))
    places = np.argwhere(~same)
    if not len(places):
        return value_text(reference), value_text(performance)
    first = tuple(places[0].tolist())
    where = f"at {list(first)}, the first of {len(places):,} of {theirs.size:,} values that differ"
    return f"{theirs[first]} ({where})", f"{ours[first]}"
