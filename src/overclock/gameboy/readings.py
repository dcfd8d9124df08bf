"""A description applied to a batch: values, rewards and ends from the bytes of all consoles' RAM."""

import numpy as np

from overclock.gameboy.description import Description, Value

BITS_SET = np.array([byte.bit_count() for byte in range(256)], np.int64)


class Readings:
    """The bytes that a description looks at (`addresses`), and what they mean; a column per value, in its order."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.names = tuple(description.values)
        self.addresses = [
            address + offset
            for value in description.values.values()
            for address in value.addresses
            for offset in range(value.size)
        ]
        self._columns = {name: number for number, name in enumerate(self.names)}
        self._observed = [description.values[name] for name in description.observed]

    def values(self, ram: np.ndarray) -> np.ndarray:
        """int64[n, v] from the uint8[n, k] at `addresses`."""
        found = np.empty((len(ram), len(self.names)), np.int64)
        start = 0
        for column, value in enumerate(self.description.values.values()):
            end = start + len(value.addresses) * value.size
            content = ram[:, start:end].reshape(len(ram), len(value.addresses), value.size)
            found[:, column] = decoded(value, content).sum(axis=1)
            start = end
        return found

    def rewards(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """float32[n]: the rewards of a step between two readings."""
        total = np.zeros(len(after))
        for reward in self.description.rewards:
            column = self._columns[reward.value]
            change = after[:, column] - before[:, column]
            if reward.change == "increase":
                change = np.maximum(change, 0)
            elif reward.change == "decrease":
                change = np.minimum(change, 0)
            total += reward.weight * change
        return total.astype(np.float32)

    def terminated(self, values: np.ndarray) -> np.ndarray:
        """bool[n]: whose episodes are over."""
        over = np.zeros(len(values), np.bool_)
        for condition in self.description.ends:
            value, number = values[:, self._columns[condition.value]], condition.number
            over |= {
                "is": value == number,
                "is_not": value != number,
                "at_least": value >= number,
                "at_most": value <= number,
            }[condition.test]
        return over

    def observed(self, values: np.ndarray) -> np.ndarray:
        """float32[n, o]: the observed values over the largest they could be: 0 to 1, signed ones -1 to 1."""
        columns = [self._columns[value.name] for value in self._observed]
        scaled = values[:, columns] / np.array([largest(value) for value in self._observed], np.float64)
        return np.clip(scaled, self.lowest, 1.0).astype(np.float32)

    @property
    def lowest(self) -> np.ndarray:
        """The lower bounds of what `observed` gives."""
        return np.array([-1.0 if value.encoding == "signed" else 0.0 for value in self._observed], np.float32)


def decoded(value: Value, content: np.ndarray) -> np.ndarray:
    """int64[n, a] from uint8[n, a, size]."""
    content = (content & np.uint8(value.mask)).astype(np.int64)
    if value.encoding == "bits":
        return BITS_SET[content].sum(axis=2)
    if value.order == "big":
        content = content[:, :, ::-1]
    places = np.arange(value.size)
    if value.encoding == "bcd":
        return ((content >> 4) * 10 + (content & 0x0F)) @ np.array([100**place for place in places], np.int64)
    number = content @ np.array([256**place for place in places], np.int64)
    if value.encoding == "signed":
        number = np.where(number >= 1 << 8 * value.size - 1, number - (1 << 8 * value.size), number)
    return number


def largest(value: Value) -> int:
    """The largest number that a value can be if its bytes are valid in its encoding."""
    one = {
        "bits": 8 * value.size,
        "bcd": 100**value.size - 1,
        "signed": 1 << 8 * value.size - 1,
        "plain": 256**value.size - 1,
    }[value.encoding]
    return one * len(value.addresses)
