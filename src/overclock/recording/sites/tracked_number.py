"""A chosen number in place of a drawn one, which tracks what the program compares it with.

Where a program only ever compares a drawn number, what it does depends on the answers alone: it does the same for every
number between two of those limits. So a few numbers stand for all that could be drawn. A `TrackedNumber` is no float,
so that nothing reads its value unnoticed: any other use goes through one of the methods here and is noted as well.
"""

import operator
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recording.sites.generators import Drawing
from overclock.recording.sites.parameters import Family, family

# NumPy compares these with a Python float as float64, without rounding the float first.
EXACT = (np.dtype(np.bool_), np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.float64))
COMPARISONS = {
    np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt, np.greater_equal: operator.ge,
    np.equal: operator.eq, np.not_equal: operator.ne,
}  # fmt: skip


class TrackedNumber:
    """A number in [0, 1), the limits that it was compared with, and whether it was only compared."""

    __slots__ = ("_limits", "_number", "_only_compared")  # and nothing that `vars` could show

    def __init__(self, value: float) -> None:
        self._number, self._only_compared = value, True
        self._limits: list[float] = []

    @staticmethod
    def noted(number: "TrackedNumber") -> tuple[list[float], bool]:
        """(the limits that it was compared with, whether nothing but comparisons depends on it)."""
        return number._limits, number._only_compared

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride] (`isinstance` asks for it)
        self._taken()
        return float

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if ufunc in COMPARISONS and method == "__call__" and not keywords:
            first, second = (one if type(one) is not TrackedNumber else None for one in inputs)
            if not (first is None and second is None) and self._note(second if first is None else first):
                return ufunc(*(self._number if one is None else one for one in (first, second)))
        return getattr(ufunc, method)(
            *(one._taken() if type(one) is TrackedNumber else one for one in inputs), **keywords
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._taken(), dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._taken(), name)

    def __copy__(self) -> "TrackedNumber":
        return self

    def __deepcopy__(self, memo: Any) -> "TrackedNumber":
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return float, (self._taken(),)

    def _note(self, limits: Any) -> bool:
        """Note limits, if they are numbers that it can be compared with exactly."""
        if np.asarray(limits).dtype not in EXACT:
            return False
        self._limits += np.asarray(limits, np.float64).ravel().tolist()
        return True

    def _taken(self) -> float:
        """The number itself, for a use that does not tell which other numbers would lead to the same."""
        self._only_compared = False
        return self._number


def _comparison(compare: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, bool | int | float | np.generic) and self._note(other):
            return compare(self._number, other)
        return NotImplemented if isinstance(other, np.ndarray) else compare(self._taken(), other)

    return method


def _other(name: str) -> Any:
    def method(self: Any, *arguments: Any) -> Any:
        value = self._taken()
        given = [one._taken() if type(one) is TrackedNumber else one for one in arguments]
        return getattr(float, name)(value, *given)

    return method


_SHOWN = {"__hash__", "__repr__", "__str__", "__format__"}
for _name in dir(float):
    _function = getattr(operator, _name, None)
    if _function in COMPARISONS.values():
        setattr(TrackedNumber, _name, _comparison(_function))
    elif _name in _SHOWN or (_name.startswith("__") and _name not in dir(object)):
        setattr(TrackedNumber, _name, _other(_name))


def chosen(drawing: Drawing, number: TrackedNumber | float) -> tuple[Any, np.ndarray]:
    """A chosen number in place of a draw in [0, 1): (what the program gets, what is recorded)."""
    if family(drawing) is not Family.UNIT or np.ndim(drawing.run()) != 0:
        raise UsageError(f"The draw ({drawing.method}) at {drawing.place} is no single number from 0 to 1.")
    return number, np.array(number._number if type(number) is TrackedNumber else number)
