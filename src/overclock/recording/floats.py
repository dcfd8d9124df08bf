"""`Floats`: what a survey finds out about a float field. A candidate's process loads it as well, without Gymnasium."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Floats:
    """A float field of the state, `obs` or `reward`: each tuple has a number per element, in C order.

    `typical` is the median size of an element, zeros left out, and `largest` its largest size, both of finite values.
    `whole`: it was a whole number below 2^24 each time. `strays` is how far one step in float32 may move an element,
    None where that could not be measured; `actions` how far it moves if a float32 action comes as float64.
    """

    typical: tuple[float, ...]
    largest: tuple[float, ...]
    whole: tuple[bool, ...]
    strays: tuple[float, ...] | None = None
    actions: tuple[float, ...] = ()

    @classmethod
    def of_size(cls, size: float) -> "Floats":
        """Floats of which no more is known than how large they are."""
        return cls((size,), (size,), (False,))
