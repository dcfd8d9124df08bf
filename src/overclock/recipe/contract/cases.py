"""Recorded calls of a reference as cases of level 1, by the names of its contract; and how to put it at a boundary.

Used in the reference's process while it is recorded. With a codec, calls carry the state as arrays already (`read`);
with sites, every draw carries the name of its own.
"""

import contextlib
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from overclock.recipe.contract.branch_search import CASES, attempts_of, layout_of
from overclock.recipe.contract.codec import site_of
from overclock.recipe.contract.counters import CASES as COUNTED
from overclock.recipe.contract.counters import attempts_at_counts, steps_of
from overclock.recipe.contract.file import ContractFile, DrawField
from overclock.recipe.contract.outputs import BOUNDARY_STATES, boundary
from overclock.recipe.contract.random_play import RandomPlayer
from overclock.recipe.contract.rules import LATER, NO_LIMIT, SEED
from overclock.recipe.contract.sample_statistics import SampleStatistics
from overclock.recipe.references.stored_observations import FIELD, STORED, store_initial_zeros
from overclock.recipe.survey.live import paths
from overclock.recording.codec import InstanceCodec
from overclock.recording.reseed import reseed
from overclock.recording.sites.sampling import sample
from overclock.verify.property.calls import Call, unrecorded
from overclock.verify.property.captured import captured_attributes
from overclock.verify.property.module import Case
from overclock.verify.reach.comparisons import comparisons, constants_of
from overclock.verify.reach.nearest import NearestTracer
from overclock.verify.reach.rule_files import rule_files
from overclock.verify.reach.search import Attempt, BranchSearch, SearchedInstance, limited
from overclock.verify.rollout.branches import BranchTracer
from overclock.verify.sides.subject import Arrays

SPACES = {"obs": "observation_space", "action": "action_space"}
COUNTS = ("_elapsed_steps", "_max_episode_steps")  # of Gymnasium's time limit
NO_STEPS = {"steps": np.array(0)}
LEFT = (3, 2, 1, 0, -1)  # steps until the time limit
STEPS = (0, 1, 254, 255, 1_000, 32_767, 65_535, 2**24 - 1, 2**24, 2**31 - 3)  # where counters fail; each needs a reset


class RecordedCases:
    """Turns recorded calls into cases of level 1, and makes further calls of the reference."""

    def __init__(self, contract: ContractFile) -> None:
        self.contract = contract
        self.codec = None if contract.codec is None else InstanceCodec(contract.shapes)
        self._readers: dict[str, Any] = {}
        self._player = RandomPlayer(self._state_of, self._recording)
        self._spaces: dict[str, Any] = {}  # of the instances, as they were last seen
        self._stepping: set[int] = set()
        self._seen: list[Arrays] = []
        self._steps, self._generator = 0, np.random.default_rng(0)
        self._search: BranchSearch | None = None
        self._attempts: list[Attempt] = []  # of the search, to be recorded
        self._tracer: BranchTracer | None = None  # somebody else's, who wants to know what these reach

    # ---- what is read while a call is recorded ----

    def read(self, instance: Any) -> dict[str, Any]:
        """The state of an instance; empty where it has none yet."""
        assert self.codec is not None
        store_initial_zeros(instance, self.contract.shapes)
        if not self.codec.holds(instance):
            return {}
        self._spaces = {name: getattr(instance, attribute) for name, attribute in SPACES.items()}
        return self.codec.read(instance)

    def read_in_step(self, instance: Any) -> dict[str, Any]:
        """The state around a step; the states in which steps begin are sampled, to change some of them later."""
        state = self.read(instance)
        if id(instance) in self._stepping:
            self._stepping.remove(id(instance))
        else:
            self._stepping.add(id(instance))
            if self._search is None:
                self._remember(state)
        return state

    def read_in_reset(self, instance: Any, depth: int, attributes: tuple[str, ...]) -> dict[str, Any]:
        """The state and both spaces, flat; without a codec, the attributes named, to a depth."""
        from overclock.recording.observations import flat_space

        state = captured_attributes(instance, depth, attributes) if self.codec is None else self.read(instance)
        known = {attribute: getattr(instance, attribute, None) for attribute in SPACES.values()}
        flat = {name: flat_space(space) for name, space in known.items() if space is not None}
        return {**state, **{name: {"low": one.low, "high": one.high, "n": one.n} for name, one in flat.items()}}

    def _remember(self, state: Arrays) -> None:
        """Keep a uniform sample of all states that steps began in (reservoir sampling)."""
        self._steps += 1
        if len(self._seen) < BOUNDARY_STATES:
            self._seen.append(state)
        elif (place := int(self._generator.integers(self._steps))) < BOUNDARY_STATES:
            self._seen[place] = state

    # ---- calls as cases ----

    def spaces_case(self, call: Call) -> Case:
        expected = {}
        for name, attribute in SPACES.items():
            space = call.after.get(attribute, {})
            expected |= {f"{name}_low": space.get("low", 0), f"{name}_high": space.get("high", 0)}
            expected[f"{name}_n"] = np.int64(space.get("n", 0))
        return Case({}, expected)

    def draw_case(self, call: Call) -> Case:
        """The draws of a reset by its seed; for a site that was not reached, a sample of its distribution."""
        seed = call.arguments.get("seed")
        number = 0 if seed is None else int(seed)
        return Case({"seed": np.uint32(number)}, self._draws(self.contract.reset_draws, call, number))

    def step_draw_case(self, call: Call) -> Case:
        """The draws of a step of random play, and the state it began in."""
        number = int(call.arguments["number"])
        drawn = self._draws(self.contract.step_draws, call, number)
        return Case({**call.arguments["state"], SEED: np.uint32(number)}, drawn)

    def known_reset_case(self, facts: SampleStatistics, call: Call) -> Case | None:
        """The known distribution of a reset's draws: one case for many seeds, one for many events of one seed."""
        return self._known(facts, call.arguments.get("seed"), {})

    def known_step_case(self, facts: SampleStatistics, call: Call) -> Case | None:
        """The same of a step's draws, in states of random play."""
        number = call.arguments["number"]
        return self._known(facts, number, self._player.visited() if number in (0, 1) else {})

    def _known(self, facts: SampleStatistics, number: int | None, states: Arrays) -> Case | None:
        if number not in (0, 1):  # two cases are made of as many calls
            return None
        return Case({**states, LATER: np.bool_(number)}, facts.expected())

    def time_limit_case(self, call: Call) -> Case:
        from overclock.recipe.references.reference import NO_LIMIT as UNLIMITED

        limit = call.before[COUNTS[1]]
        most = np.int32(NO_LIMIT if limit == UNLIMITED else limit)
        steps, after = (np.int32(values[COUNTS[0]]) for values in (call.before, call.after))
        expected = {"max_steps": most, "default_max_steps": most, "steps": after, "truncated": bool(call.result[3])}
        return Case({"steps": steps, "action": self._action(call)}, expected)

    def reset_case(self, call: Call) -> Case:
        return Case(self._draws(self.contract.reset_draws, call), self._after(call))

    def step_case(self, call: Call) -> Case:
        from overclock.verify.sides.gymnasium_reference import reward_of

        _, reward, terminated, *_ = call.result
        drawn = self._draws(self.contract.step_draws, call)
        expected = {**self._after(call), "reward": reward_of(reward), "terminated": bool(terminated)}
        return Case({**self._state(call.before), "action": self._action(call), **drawn}, expected)

    def observe_case(self, call: Call) -> Case:
        return Case(self._after(call), {"obs": self._flat("obs", call.result[0])})

    def _after(self, call: Call) -> Arrays:
        state = self._state(call.after)
        return {**state, FIELD: self._flat("obs", call.result[0])} if STORED in self.contract.shapes else state

    def _state(self, captured: Mapping[str, Any]) -> Arrays:
        fields = self.contract.state
        if self.codec is not None:
            return {field.name: captured[field.name] if field.read else np.array(False) for field in fields}
        return {field.name: np.asarray(paths.read_captured(captured, field.read), field.dtype) for field in fields}

    def _draws(self, fields: tuple[DrawField, ...], call: Call, seed: int | None = None) -> Arrays:
        if not self.contract.by_site:
            return {field.name: np.asarray(draw.value) for field, draw in zip(fields, call.draws, strict=True)}
        found = {}
        for number, site in enumerate(map(site_of, fields)):
            records = [draw.value for draw in call.draws if draw.site == site.name]
            if seed is not None and site.form == "unit":
                records = []  # of a whole number it is the middle of a cell, which nobody else draws
            if seed is not None:
                records += [sample(site, (seed, number, place)) for place in range(len(records), site.count)]
            found[site.name] = site.packed(records)
        return found

    def _action(self, call: Call) -> np.ndarray:
        (action,) = [value for name, value in call.arguments.items() if name != "self"]
        value = self._flat("action", action)
        return value.astype(np.int32) if value.dtype.kind in "biu" else value

    def _flat(self, name: str, value: Any) -> np.ndarray:
        if self.codec is None:
            return np.asarray(value)
        from overclock.recording.observations import flatten

        return flatten(self._spaces[name], value)

    # ---- further calls ----

    def boundary(self) -> Arrays:
        """States at the ends of the ranges that were seen; with a codec, the numbers of steps that a search chose."""
        return boundary(self.contract) if self.codec is None else {"number": np.arange(CASES + COUNTED)}

    def apply(self, instance: Any, inputs: Arrays) -> None:
        """Take a step of the reference from a boundary state, or the next step of the search."""
        if self.codec is None:
            self.apply_state(instance, inputs)
        else:
            self._try(instance, int(inputs["number"]))

    def _try(self, instance: Any, number: int) -> None:
        reader = self._reader(instance)
        if self._search is None:
            self._search = self._searched(instance)
            self._attempts = attempts_of(self._search) + self._counting(instance)
        if number >= len(self._attempts):
            return
        attempt = self._attempts[number]
        with contextlib.suppress(Exception):  # whatever a reference raises in a state it does not know
            reader.write(instance, attempt.state | NO_STEPS)
            with limited():
                self._step_by(instance, attempt.choice, self._tracer)
        self._stepping.discard(id(instance.unwrapped))  # where a step was left by an error

    def _searched(self, instance: Any) -> BranchSearch:
        """The search itself, in which nothing is recorded."""
        assert self.codec is not None
        tracer = NearestTracer(rule_files(instance))
        searched = SearchedInstance(
            read=lambda: self._state_of(instance),
            write=lambda state: self._written(instance, state),
            step=lambda choice: self._step_by(instance, choice, tracer),
        )
        search = BranchSearch(
            searched,
            layout_of(self.contract, self.codec),
            tracer,
            self._seen,
            constants_of(comparisons([type(instance.unwrapped)], instance.unwrapped)),
        )
        with unrecorded():
            search.run()
        return search

    def _counting(self, instance: Any) -> list[Attempt]:
        """Steps in which a number that counts is where counters fail."""
        from overclock.recipe.references.reference import NO_LIMIT as UNLIMITED
        from overclock.recipe.references.reference import time_limit

        assert self.codec is not None
        searched = SearchedInstance(
            read=lambda: self._state_of(instance),
            write=lambda state: self._written(instance, state),
            step=lambda choice: self._step_by(instance, choice, None),
        )
        names = [field.name for field in self.contract.state if field.name in self.codec.plain]
        limit = time_limit(instance)._max_episode_steps
        with unrecorded():
            return attempts_at_counts(steps_of(searched, self._seen), names, None if limit == UNLIMITED else limit)

    def _written(self, instance: Any, state: Arrays) -> Arrays:
        self._reader(instance).write(instance, state | NO_STEPS)
        return state

    def _step_by(self, instance: Any, choice: int, tracer: BranchTracer | None) -> bool:
        """A step whose action and draws follow from a number; returns whether the episode ended."""
        instance.action_space.seed(choice)
        action = instance.action_space.sample()
        reseed(instance, choice)
        if self._recorder is not None:
            self._recorder.reseed(0, choice)
        with self._recording(None), contextlib.nullcontext() if tracer is None else tracer:
            _, _, terminated, truncated, _ = instance.step(action)
        return bool(terminated or truncated)

    def apply_state(self, instance: Any, inputs: Arrays) -> None:
        """Put an instance into a given state and take a step with a random action."""
        space = instance.action_space
        space.seed(int(inputs["choice"]))
        action = space.sample()
        values = {field.name: inputs[field.name] for field in self.contract.state}
        self._reader(instance).write(instance, {**values, "steps": np.array(0)})
        with self._recording(None):
            instance.step(action)

    def apply_seed(self, instance: Any, inputs: Arrays) -> None:
        """Reset an instance with a seed."""
        seed = int(inputs["seed"])
        with self._recording(seed):
            instance.reset(seed=seed)

    def apply_play(self, instance: Any, inputs: Arrays) -> None:
        """Take the next step of random play."""
        self._player.step(instance, int(inputs["number"]))

    def apply_count(self, instance: Any, inputs: Arrays) -> None:
        """Take a step next to the time limit, and after as many steps as a counter may fail at."""
        from overclock.recipe.references.reference import NO_LIMIT as UNLIMITED
        from overclock.recipe.references.reference import time_limit

        number, limit = int(inputs["number"]), time_limit(instance)._max_episode_steps
        near = [] if limit == UNLIMITED else [max(limit - left, 0) for left in LEFT]
        steps = [*near, *STEPS]
        if number >= len(steps):
            return
        with self._recording(0):
            instance.reset(seed=0)
        time_limit(instance)._elapsed_steps = steps[number]
        instance.action_space.seed(0)
        action = instance.action_space.sample()  # no draw of the step
        with self._recording(None):
            instance.step(action)

    def step_from_boundary(self, instance: Any, tracer: BranchTracer | None = None) -> None:
        """Take a step from every boundary state; a search starts at the present state and is traced."""
        if self.codec is not None:
            self._remember(self.codec.read(instance))
        self._tracer, inputs = tracer, self.boundary()
        for case in range(len(next(iter(inputs.values())))):
            self.apply(instance, {name: values[case] for name, values in inputs.items()})

    def _reader(self, instance: Any) -> Any:
        from overclock.recipe.references.reference import StateReader

        env_id = instance.spec.id
        if env_id not in self._readers:
            self._readers[env_id] = StateReader(self.contract, instance.spec)
        return self._readers[env_id]

    def _state_of(self, instance: Any) -> Arrays:
        found = self._reader(instance).read(instance)
        return {field.name: found[field.name] for field in self.contract.state}

    def _recording(self, seed: int | None) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext() if self._recorder is None else self._recorder.recording(0, seed)

    @functools.cached_property
    def _recorder(self) -> Any:
        from overclock.recipe.references.reference import site_recorder

        return site_recorder(self.contract) if self.contract.by_site else None
