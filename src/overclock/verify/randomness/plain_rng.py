"""The generator of docs/rng.md once more, in Python's own whole numbers: what the one in use is compared with.

Written from that page, and slow. It shares no code with `overclock.env.rng`, so that a mistake there shows.
"""

import dataclasses

MASK = 0xFFFFFFFF
SECTIONS = {"STEP": 0, "RESET": 1, "ACTION": 2, "LANES": 3, "SEED": 4, "POOL": 5}
SECTION_SIZE = 1 << 20


def plain_word(k0: int, k1: int, counter: int, index: int) -> int:
    """One word, a whole number of 32 bits, of an event."""
    event = (counter * 0x9E3779B9 + k0) & MASK
    x = event ^ (event >> 16)
    x = (x * 0x21F0AAAD) & MASK
    x ^= x >> 15
    x = (x + index * 0x85EBCA6B) & MASK
    x ^= x >> 16
    x = (x * 0x21F0AAAD) & MASK
    x ^= x >> 15
    x = ((x + event + k1) * 0xD35A2D97) & MASK
    return x ^ (x >> 15)


@dataclasses.dataclass(frozen=True)
class PlainRng:
    """A stream at one of its events."""

    k0: int
    k1: int
    counter: int = 0

    @classmethod
    def of_seed(cls, seed: int) -> "PlainRng":
        """The stream of a whole number."""
        k0 = k1 = 0
        for position, word in enumerate((seed & MASK, (seed >> 32) & MASK)):
            index = SECTIONS["SEED"] * SECTION_SIZE + 2 * position
            k0, k1 = plain_word(k0, k1, word, index), plain_word(k0, k1, word, index + 1)
        return cls(k0, k1)

    def word(self, section: str, site: int, half: int = 0) -> int:
        """A word of this event."""
        return plain_word(self.k0, self.k1, self.counter, SECTIONS[section] * SECTION_SIZE + 2 * site + half)

    def below(self, section: str, site: int, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return self.word(section, site) * n >> 32

    def lanes(self, count: int) -> list["PlainRng"]:
        """The streams of the lanes of a batch."""
        index = SECTIONS["LANES"] * SECTION_SIZE
        return [
            PlainRng(plain_word(self.k0, self.k1, lane, index), plain_word(self.k0, self.k1, lane, index + 1))
            for lane in range(count)
        ]

    def advance(self) -> "PlainRng":
        """The stream at its next event, the first after the last."""
        return dataclasses.replace(self, counter=(self.counter + 1) & MASK)
