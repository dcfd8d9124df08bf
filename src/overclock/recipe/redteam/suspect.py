"""The worker process of a suspected candidate: it is inspected, then played, in one process (starting JAX is slow)."""

import functools
from typing import Any

import numpy as np

from overclock.recipe.candidate import CandidateSubject, load_candidate
from overclock.recipe.hygiene.dynamic import Inspector
from overclock.verify.subject import Arrays, Observed


class Suspect(Inspector):
    """An `Inspector` that is also the candidate's subject; the candidate is imported by `load` and not before."""

    def describe(self) -> dict[str, Any]:
        """CartPole's actions, and the calls it offers."""
        return {"kind": "discrete", "n": 2, "calls": ["load", "clock", "inspect"]}

    def load(self) -> None:
        """Import the candidate; raises what that raises."""
        load_candidate(self._folder)

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.reset`."""
        return self._subject.reset(mask, seeds, draws)

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.step`."""
        return self._subject.step(actions, draws)

    def set_state(self, state: Arrays) -> None:
        """As `Subject.set_state`."""
        self._subject.set_state(state)

    @functools.cached_property
    def _subject(self) -> CandidateSubject:
        return CandidateSubject(self.num_envs, str(self._folder))
