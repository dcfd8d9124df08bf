"""A Rust batch (`overclock_native`) as the performance side of a twin: it replays given draws, or makes its own.

Its border offers steps, resets and states, which is all that levels 2 to 4 need; `native_modules.py` makes level 1 of
the same calls. Bugs are planted in the Python around the compiled code: changing that itself would mean to compile it.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from overclock.env.registry import load
from overclock.env.spaces import Box, Discrete
from overclock.verify.sides.patched import Patch, load_patched
from overclock.verify.sides.subject import Arrays, Observed, SubjectSpec

RULES, STEPS, ENDED = "lanes.rules.", "lanes.steps", "ended"


def native_spec(batch: str, options: Mapping[str, Any], draws: Sequence[str]) -> SubjectSpec:
    """The spec of a `NativeSubject`, with its own workers for levels 1 and 4."""
    return dataclasses.replace(
        SubjectSpec.of(NativeSubject, batch=batch, options=dict(options), draws=list(draws)),
        module_runner="overclock.verify.property.native_runner:NativeModuleRunner",
        trainer="overclock.verify.transfer.training:NativeTrainer",
    )


class NativeSubject:
    """A batch without automatic resets; state fields are the names of the rules' state, plus `steps`."""

    def __init__(
        self,
        num_envs: int,
        batch: str,
        options: dict[str, Any],
        draws: list[str],
        patches: list[dict[str, str]] | None = None,
    ) -> None:
        """`batch` is the entry point of a `NativeHostVector`, built with `options`.

        `draws` names what it draws, at resets and, if it draws then, at steps: one number, or the columns of its rows.
        `patches` plant known bugs in Python modules before they are imported.
        """
        load_patched([Patch(**patch) for patch in patches or []])
        self.num_envs, self._draws = num_envs, draws
        self._batch = load(batch)(num_envs, "off", seed=0, **options)

    def describe(self) -> dict[str, Any]:
        space = self._batch.action_space
        if isinstance(space, Discrete):
            return {"kind": "discrete", "n": space.n}
        assert isinstance(space, Box)
        low, high = space.bounds()
        return {"kind": "box", "low": low, "high": high}

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.reset`; without draws, from its own randomness for the seeds, which it does not show."""
        given = self._given(draws)
        obs = self._batch.reset(None if given is not None else seeds.tolist(), mask, given)
        return Observed({"obs": obs.copy()}, self._state(), draws or {})

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.step`; without draws, from its own randomness, which it does not show."""
        out = self._batch.step(actions, step_draws=self._given(draws))
        outputs = {name: getattr(out, name).copy() for name in ("obs", "reward", "terminated", "truncated")}
        return Observed(outputs, self._state(), draws or {})

    def observe(self) -> np.ndarray:
        """The observations of the lanes as they are."""
        return self._batch.reset(mask=np.zeros(self.num_envs, np.bool_)).copy()

    def set_state(self, state: Arrays) -> None:
        """As `Subject.set_state`; the lanes' own randomness goes on."""
        own = self._batch.get_state()
        named = {RULES + name: values for name, values in state.items() if name != "steps"} | {STEPS: state["steps"]}
        missing = [name for name in own if name.startswith(RULES) and name not in named]
        if missing:
            raise ValueError(f"no value was given for {', '.join(name.removeprefix(RULES) for name in missing)}")
        fresh = {name: np.asarray(named[name], values.dtype) for name, values in own.items() if name in named}
        self._batch.set_state({**own, **fresh, ENDED: np.zeros(self.num_envs, np.bool_)})

    def _state(self) -> Arrays:
        own = self._batch.get_state()
        rules = {name.removeprefix(RULES): values for name, values in own.items() if name.startswith(RULES)}
        return {**rules, "steps": own[STEPS]}

    def _given(self, draws: Arrays | None) -> np.ndarray | None:
        """A reference's draws as the batch takes them; randomness that it does not take would be lost unnoticed."""
        if not draws:
            return None
        if draws.keys() != set(self._draws):
            raise ValueError(f"the reference draws {', '.join(draws)}, the rules take {', '.join(self._draws)}")
        columns = [draws[name] for name in self._draws]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
