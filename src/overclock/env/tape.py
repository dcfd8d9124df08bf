"""`Tape`: a draw of unknown length, for rules that consume a varying number of random words (battles, card games).

The words are drawn before the step and read front to back inside it. Reading past the end sets a sticky
`overflow` flag and yields zeros. Rules keep the flag in their state (`overflow=state.overflow | tape.overflow`), from
where every step shows it (overflow.py); a verified rollout requires it to stay False.
"""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt32

from overclock.env.rng import Rng, scale_word
from overclock.env.struct import Struct
from overclock.errors import UsageError


class Tape(Struct):
    """`capacity` random words, the read position, and whether a read ever went past the end."""

    words: UInt32[Array, " capacity"]
    position: Int[Array, ""]
    overflow: Bool[Array, ""]

    @classmethod
    def draw(cls, rng: Rng, capacity: int, site: int = 0) -> "Tape":
        """A fresh tape from a generator."""
        return cls.recorded(rng.words(site, (capacity,)), capacity)

    @classmethod
    def recorded(cls, words: Any, capacity: int) -> "Tape":
        """A tape that replays words recorded from a reference; unused capacity reads as overflow, not as zeros."""
        words = jnp.asarray(words, jnp.uint32)
        if capacity < 1 or words.ndim != 1:
            raise UsageError(f"A tape has one axis and room for a word, got shape {words.shape}, capacity {capacity}.")
        if words.shape[0] > capacity:
            raise UsageError(f"The recording has {words.shape[0]} words but the tape holds {capacity}; enlarge it.")
        # A short recording is laid at the end of the tape, so that reading past it overflows at once.
        start = capacity - words.shape[0]
        padded = jnp.zeros(capacity, jnp.uint32).at[start:].set(words)
        return cls(words=padded, position=jnp.int32(start), overflow=jnp.bool_(False))

    @property
    def capacity(self) -> int:
        """How many words a full tape holds."""
        return self.words.shape[-1]

    def next_word(self) -> tuple[UInt32[Array, ""], "Tape"]:
        """The next word and the tape after it."""
        past_end = self.position >= self.capacity
        word = jnp.where(past_end, jnp.uint32(0), self.words[jnp.minimum(self.position, self.capacity - 1)])
        after = self.replace(
            position=jnp.minimum(self.position + 1, self.capacity).astype(jnp.int32), overflow=self.overflow | past_end
        )
        return word, after

    def next_below(self, n: Any) -> tuple[Int[Array, ""], "Tape"]:
        """An integer in {0, ..., n - 1} (n <= 2**31, may be traced) from one word."""
        word, after = self.next_word()
        return scale_word(word, n), after
