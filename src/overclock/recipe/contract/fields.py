"""The rows of a contract: one field of the state, one random draw."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class StateField:
    """A number or array of the state: its name on the performance side, and where the reference keeps it.

    With a codec it is a leaf of it, and `read` the path of the attribute it belongs to. The field `overflow`, without
    a path, says on the performance side that something did not fit; a reference always has room.
    """

    name: str
    read: str
    dtype: str
    shape: tuple[int, ...] = ()
    low: float | None = None  # the range that was seen, for boundary values
    high: float | None = None

    @property
    def exact(self) -> bool:
        return np.dtype(self.dtype).kind in "biu"


@dataclasses.dataclass(frozen=True)
class DrawField:
    """One random draw of the reference, in the order in which it draws.

    An argument that is not always the same is `...`: what is drawn depends on the state, in which it is compared.
    With a `site` ('file.py:line:column', see recording/sites/recorder.py) it is a call in the source that happens up to
    `count` times; `shape` then begins with that number where it is more than one, and `form` says what is recorded.
    """

    name: str
    method: str
    arguments: str = ""
    shape: tuple[int, ...] = ()
    site: str | None = None
    form: str | None = None
    count: int | None = None
    source: str | None = None
    dtype: str | None = None
