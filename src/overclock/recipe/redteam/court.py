"""Everything that suspects are measured with, made once: the reference's calls, scenarios and held-out episodes.

The held-out seed is drawn when the court opens, after the candidates are written and frozen; only the practice
episodes (`practise`) exist before, and some cheats have learnt them by heart.
"""

import dataclasses
import secrets
from collections.abc import Iterator

import numpy as np

from overclock.envs.cartpole.twin import twin
from overclock.recipe.redteam.episodes import Episodes, first_difference, record_episodes
from overclock.verify import property as level1
from overclock.verify.actions import uniform
from overclock.verify.contract import Contract, Twin
from overclock.verify.interaction import MODES, compare_playbacks
from overclock.verify.module import Cases
from overclock.verify.module_compare import compare
from overclock.verify.playback import Playback, play, play_reference
from overclock.verify.process import CouldNotVerifyError
from overclock.verify.scenario import Scenario, load_scenarios
from overclock.verify.subject import Arrays, Subject

PRECISION = "float64"  # the strictest contract
PRACTICE_SEED, PRACTICE_LANES = 1, 48
WIDTH = 4096  # all calls of level 1 are played in batches of this width, so that a candidate is compiled once for them
FIELDS = ("x", "x_dot", "theta", "theta_dot")


@dataclasses.dataclass(frozen=True)
class Court:
    """A recorded reference; `check` yields the level and the sentence of what a subject does differently."""

    twin: Twin
    seed: int
    cases: dict[str, Cases]
    scenarios: list[Scenario]
    playback: Playback
    episodes: Episodes

    @property
    def contract(self) -> Contract:
        """What must be equal, and how closely."""
        return self.twin.contracts[PRECISION]

    def check(self, subject: Subject) -> Iterator[tuple[str, str]]:
        """Levels 1, 2 and 3, each on its own and up to its first difference; a level that cannot be run is caught."""
        for level, look in (("level 1", self.properties), ("level 2", self.interactions), ("level 3", self.rollouts)):
            try:
                found = look(subject)
            except CouldNotVerifyError as error:  # its process is gone
                yield level, str(error)
                return
            except Exception as error:  # whatever a candidate's answers lead to: it has not shown that it is right
                found = f"{type(error).__name__}: {error}"
            if found is not None:
                yield level, found

    def properties(self, subject: Subject) -> str | None:
        """Level 1: the rules' reset and step, and the time limit, one call at a time."""
        outputs = {
            "reset": lambda inputs: _reset(subject, inputs),
            "dynamics": lambda inputs: _step(subject, inputs),
            "time_limit": lambda inputs: _step(subject, {**_still(inputs["steps"]), **inputs}),
        }
        for module in level1.modules_of(self.twin):
            if module.name in outputs:
                cases = self.cases[module.name]
                first = compare(module, cases, outputs[module.name](cases.inputs), PRECISION)["first_failure"]
                if first is not None:
                    return f"{module.name}: {first['field']} is wrong by {first['error']}"
        return None

    def interactions(self, subject: Subject) -> str | None:
        """Level 2: the scenarios, free running and from the reference's own states."""
        _widen(subject, len(self.scenarios))
        for mode in MODES:
            played = play(subject, self.scenarios, self.playback, forced=mode == "per_step")
            found = compare_playbacks(self.contract, mode, self.scenarios, self.playback, played)
            for scenario, result in zip(self.scenarios, found, strict=True):
                if (first := result["first_mismatch"]) is not None:
                    return f"{scenario.name}: {first['field']} is wrong at step {first['step']}, {mode}"
        return None

    def rollouts(self, subject: Subject) -> str | None:
        """Level 3: held-out episodes."""
        _widen(subject, len(self.scenarios))
        found = (first_difference(subject, self.episodes, self.contract, mode) for mode in MODES)
        return next(filter(None, found), None)


def practise(timeout: float = 120.0) -> Episodes:
    """The episodes that candidates may see."""
    return record_episodes(twin().reference, PRACTICE_LANES, PRACTICE_SEED, timeout)


def open_court(seed: int | None = None, timeout: float = 120.0) -> Court:
    """Draw a seed, unless one is given to repeat a run, and record the reference."""
    # Without CartPole's scripted player: its long episodes would double the time and add nothing here.
    both = dataclasses.replace(twin(), name="redteam")
    seed = PRACTICE_SEED + PRACTICE_LANES + secrets.randbelow(2**31) if seed is None else seed
    cases = level1.record(both, seed, sources={"uniform": uniform}, timeout=timeout).cases
    scenarios = load_scenarios(str(both.scenarios))
    episodes = record_episodes(both.reference, len(scenarios), seed, timeout)
    return Court(both, seed, cases, scenarios, play_reference(both, scenarios, timeout), episodes)


def _still(steps: np.ndarray) -> Arrays:
    """A pole that stands upright, pushed to the left, as many times as there are step counts."""
    return {**{name: np.zeros(len(steps)) for name in FIELDS}, "action": np.zeros(len(steps), np.int32)}


def _reset(subject: Subject, inputs: Arrays) -> Arrays:
    wide = _padded(inputs)
    _widen(subject, WIDTH)
    everyone, seeds = np.ones(WIDTH, np.bool_), np.zeros(WIDTH, np.int64)
    return _cut(subject.reset(everyone, seeds, wide).state, len(inputs["x"]))


def _step(subject: Subject, inputs: Arrays) -> Arrays:
    wide = _padded(inputs)
    steps = wide.get("steps", np.zeros(WIDTH, np.int32))
    subject.set_state({**{name: wide[name] for name in FIELDS}, "steps": steps})
    seen = subject.step(wide["action"], {})
    return _cut({**seen.outputs, **seen.state}, len(inputs["action"]))


def _widen(subject: Subject, lanes: int) -> None:
    """Give a subject another number of lanes."""
    subject.set_state({**{name: np.zeros(lanes) for name in FIELDS}, "steps": np.zeros(lanes, np.int32)})


def _padded(inputs: Arrays) -> Arrays:
    return {name: np.resize(values, (WIDTH, *values.shape[1:])) for name, values in inputs.items()}


def _cut(outputs: Arrays, count: int) -> Arrays:
    return {name: values[:count] for name, values in outputs.items()}
