"""An episode that can be played again, and the memory of a comparison from which a diverging one is taken."""

import dataclasses
from typing import Any

import numpy as np

from overclock.verify.sides.subject import Arrays


@dataclasses.dataclass(frozen=True)
class Episode:
    """Where it starts and what is done in it, as JSON values of one lane.

    `draws` holds the randomness of the reset, then that of every action. A reference usually finds it again by itself
    from the seed; only one that can start from given randomness is handed these. With `state`, both sides are put into
    that state after the reset.
    """

    seed: int
    actions: tuple[Any, ...] = ()
    draws: tuple[dict[str, Any], ...] = ()
    state: dict[str, Any] | None = None

    def cut(self, count: int) -> "Episode":
        """The same episode, ended after its first `count` actions."""
        return dataclasses.replace(self, actions=self.actions[:count], draws=self.draws[: count + 1])

    def keep(self, chosen: list[int]) -> "Episode":
        """Only the chosen actions, each with its own randomness."""
        draws = self.draws and (self.draws[0], *(self.draws[index + 1] for index in chosen))
        return dataclasses.replace(self, actions=tuple(self.actions[index] for index in chosen), draws=draws)


class History:
    """Actions and draws of the episodes that run in the lanes of a comparison; those that are over are forgotten."""

    def __init__(self, lanes: int) -> None:
        self._events: list[tuple[np.ndarray | None, np.ndarray | None, Arrays]] = []  # reset lanes, actions, draws
        self._began = np.zeros(lanes, np.int64)  # the event with which each lane's episode began

    def reset(self, mask: np.ndarray, draws: Arrays) -> None:
        """New episodes began in the lanes of `mask`."""
        self._began[mask] = len(self._events)
        oldest = int(self._began.min())
        del self._events[:oldest]
        self._began -= oldest
        self._events.append((mask.copy(), None, draws))

    def step(self, actions: np.ndarray, draws: Arrays) -> None:
        """Every lane took a step."""
        self._events.append((None, actions, draws))

    def episode(self, lane: int, seed: int) -> Episode:
        """The running episode of a lane, up to now."""
        own = [event for event in self._events[self._began[lane] :] if event[0] is None or event[0][lane]]
        return Episode(
            seed=seed,
            actions=tuple(actions[lane].tolist() for _, actions, _ in own if actions is not None),
            draws=tuple({name: values[lane].tolist() for name, values in draws.items()} for _, _, draws in own),
        )
