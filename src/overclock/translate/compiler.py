"""From a live environment to a program: state found and widened until nothing changes, then reset, step and observe."""

import ast
import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recording import shapes
from overclock.recording.codec import prefixes
from overclock.recording.errors import NeedsPlainDrawError, NeedsStateError, UnsupportedError
from overclock.recording.observations import flat_space
from overclock.recording.shapes import Fixed, Many, Shape, leaves
from overclock.recording.wrappers import time_limit
from overclock.translate.capacities import Rooms, rooms, same_but_for_rooms
from overclock.translate.ir.aliases import Journal
from overclock.translate.ir.counted import NotCountedError, counted
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.passes import copied, live
from overclock.translate.ir.values import Gone, Known, Value
from overclock.translate.profile import Profile, look, roomy
from overclock.translate.program import Covered, Function, Program
from overclock.translate.python.frames import source_of
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.state_aliases import refuse_shared
from overclock.translate.run import Path, Run
from overclock.translate.share import share
from overclock.translate.showing import (
    Flat,
    Shows,
    flat_mask,
    flat_observation,
    mask_expressions,
    return_expressions,
)

ROUNDS = 12
DEEP = 20_000  # a call of the reference is some twenty calls of the interpreter
LARGEST_BOUND = 1e6  # of an observation; larger ones stand for none


class Compiler:
    """Translates one environment. `make` gives a fresh instance each time."""

    def __init__(
        self,
        make: Callable[[], Any],
        name: str,
        profile: Profile | None = None,
        capacities: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """`capacities` are those of lists of the state that somebody gives, by the names of the attributes."""
        self._make, self._name, self._capacities = make, name, capacities
        self._rooms = Rooms()
        self._profile = look(make) if profile is None else profile
        self.went: list[set[tuple[str, int]]] = []  # the statements of every run, as they are met
        self._played = make()
        self._played.reset(seed=0)
        self._fresh = make()
        self._shapes: dict[Path, Shape] = {path: roomy(shape) for path, shape in self._profile.changed.items()}
        self.plain_sites: set[tuple[str, int, int]] = set()

    def program(self) -> Program:
        """The whole translation, or an UnsupportedError that says where it stops."""
        source = source_of(inspect.unwrap(type(self._played.unwrapped).step))
        whole = source.place(source.node)  # where nothing says where: what is wrong with the environment as a whole
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, DEEP))
        try:
            return self._program()
        except UnsupportedError as error:
            error.locate(whole)
            stopped = None if error.place is None else (error.place.file, error.place.line)
            error.share = share(set[tuple[str, int]]().union(*self.went), source, stopped)
            raise
        except UsageError:  # a capacity of a list that is not there
            raise
        except RecursionError as error:
            raise UnsupportedError("expressions or calls that are nested too deeply", whole) from error
        except Exception as error:
            reason = f"the translator itself fails here ({type(error).__name__}: {error})"
            raise UnsupportedError(reason, whole) from error
        finally:
            sys.setrecursionlimit(limit)

    def _program(self) -> Program:
        for _ in range(ROUNDS):
            try:
                step, reset = self._step(), self._reset()
                wider = self._widened(step, reset)
                if not same_but_for_rooms(wider, self._shapes):
                    self._shapes = wider
                    continue
                # A run may use more room on the way than its lists need: only what they need goes into the state.
                limit, before, known = self._limit(step, reset), self._shapes, self._rooms.enough.keys()
                self._rooms = rooms(wider, step, reset, self._capacities, limit, self._played)
                self._shapes = self._rooms.shapes
                if self._shapes == before and known <= self._rooms.enough.keys():
                    break
            except NeedsStateError as error:
                self._add(error.path)
            except NeedsPlainDrawError as error:
                self.plain_sites.add(error.site)
        else:
            raise UnsupportedError("the state of this environment keeps changing its form")
        return self._finished(step, reset)

    def _add(self, path: tuple[Any, ...]) -> None:
        attributes = []
        for part in path:
            if isinstance(part, tuple):
                break
            attributes.append(part)
        key = tuple(attributes)
        value: Any = self._played.unwrapped
        for part in key:
            value = getattr(value, part, None)
        if not key or key in self._shapes:
            raise UnsupportedError(f"'{'.'.join(map(str, path))}' changes in a way that is not followed")
        covered = [known for known in self._shapes if known[: len(key)] == key]
        seen = {known[len(key) :]: self._shapes.pop(known) for known in covered}
        # What is only ever given the value it has stays a constant.
        plain = isinstance(value, bool | int | float | str)
        shape = shapes.Exactly(value) if plain else roomy(shapes.of_python(value))
        for part, known in seen.items():  # this instance has just been reset, so its lists are short
            shape = _with_part(shape, part, known)
        self._shapes[key] = shape

    @property
    def played(self) -> Any:
        """The live instance that was looked at."""
        return self._played

    # ---- running the reference's functions ----

    def _run(self, env: Any, kind: str) -> Run:
        run = Run(env, kind, self._shapes, self._profile.refused, self.plain_sites)
        self.went.append(run.machine.store.journal.lines)
        return run

    def _step(self) -> Run:
        run = self._run(self._played, "step")
        run.call([run.action(self._played.action_space)], {})
        return run

    def _reset(self) -> Run:
        run = self._run(self._fresh, "reset")
        run.call([], {"seed": Known(None), "options": Known(None)})
        return run

    def _widened(self, *runs: Run) -> dict[Path, Shape]:
        wider = dict(self._shapes)
        for run in runs:
            for path in wider:
                value = run.read(path)
                if value is None or isinstance(value, Gone):
                    continue
                seen = self._rooms.limited(path, run.seen(value, wider[path]))
                kinds = (isinstance(one, shapes.Array) for one in (seen, wider[path]))
                places = run.names.joined(path, run.machine.store)
                if any(kinds) and isinstance(wider[path], Fixed) and places:
                    raise UnsupportedError(
                        f"'{path[-1]}' is an array at times, and a tuple or a list when it is added to", places[0]
                    )
                joined = shapes.join(wider[path], seen)
                if joined != wider[path]:
                    joined = _grown(wider[path], joined)
                wider[path] = joined
        return wider

    # ---- putting it together ----

    def _finished(self, step: Run, reset: Run) -> Program:
        observation, mask = self._observation(step, reset), self._mask(step, reset)
        shown = self._shown_paths(observation, self.flat) | self._shown_paths(mask, flat_mask)
        live_paths = self._live(step, observation is None, shown)
        kept = {path: shape for path, shape in self._shapes.items() if path in live_paths}
        refuse_shared(self._shapes, kept, *((run.names, run.machine.store) for run in (step, reset)))
        prefix = prefixes([".".join(path) for path in kept])
        state = [leaf for path, shape in kept.items() for leaf in leaves(shape, prefix[".".join(path)])]
        max_steps = self._limit(step, reset)
        overflow = any(isinstance(run.overflow(kept), Var) for run in (step, reset))
        functions = []
        for run in (reset, step):
            results = run.state_results(kept, prefix)
            if overflow:
                results["overflow"] = run.overflow_so_far(kept)
            if run is step:
                results |= run.outcome()
            if observation is None:
                results["observation"] = self._observed(run)
            functions.append(run.function(results, kept, prefix))
        if observation is None:
            held = Var(functions[1].results["observation"].type, "observation")
            observe = Function([], {"observation": held}, {"obs": held})
        else:
            observe = self._shown(observation, self.flat, "obs", kept, prefix)
        return Program(
            name=self._name,
            source=f"{type(self._played.unwrapped).__module__}:{type(self._played.unwrapped).__qualname__}",
            files=tuple(dict.fromkeys(step.files + reset.files)),
            shapes={".".join(path): shape for path, shape in kept.items()},
            state=state,
            reset=functions[0],
            step=functions[1],
            observe=observe,
            mask=None if mask is None else self._shown(mask, flat_mask, "mask", kept, prefix),
            observation_space=self._played.observation_space,
            action_space=self._played.action_space,
            max_steps=max_steps,
            overflow=overflow,
            stored_observation=observation is None,
            ranges=self._ranges(kept, prefix),
            largest_reward=max(self._profile.largest_reward, _largest_number(type(self._played.unwrapped).step)),
            rounded_rewards=self._profile.rounded_rewards,
            mixed=self._profile.mixed,
            restart=tuple(".".join(path) for path in kept if path in self._profile.survive),
            assumptions=tuple(dict.fromkeys(step.machine.assumptions + reset.machine.assumptions)),
            covered=_covered(step.machine.store.journal, reset.machine.store.journal),
            rooms=tuple(room for room in self._rooms.told if _is_part(room.list, kept)),
        )

    def _ranges(self, kept: dict[Path, Shape], prefix: dict[str, str]) -> dict[str, tuple[float, float]]:
        """The ranges that were seen, by leaf; of floats that look like the observation, with what its space allows.

        Random play seldom comes near a goal, and rules must be compared there as well. An array of floats whose ends
        are whole numbers is taken for a map of marks: a number between two of them would mean nothing.
        """
        space = flat_space(self._played.observation_space)
        bounds = [float(one) for one in (*space.low.flat, *space.high.flat) if abs(one) < LARGEST_BOUND]
        found = {}
        for path in kept:
            if path in self._profile.ranges:
                name = prefix[".".join(path)]
                inner = leaves(kept[path], name)
                alike = sum(int(np.prod(leaf.shape)) for leaf in inner) == space.low.size
                floats = all(np.dtype(leaf.dtype).kind == "f" for leaf in inner)
                seen = list(self._profile.ranges[path])
                if floats and inner[0].shape and all(one.is_integer() for one in seen):
                    continue
                seen += bounds if alike and floats else []
                found |= dict.fromkeys([leaf.name for leaf in inner] if floats else [name], (min(seen), max(seen)))
        return found

    def _limit(self, step: Run, reset: Run) -> int | None:
        """After how many steps an episode ends by time, by a wrapper or by a counter of the rules."""
        limit, truncated = time_limit(self._played), step.truncated
        if isinstance(truncated, Const):
            if truncated.value:
                raise UnsupportedError("every step ends the episode by time")
            return limit
        following: dict[Var, Operand] = {}
        first: dict[Var, Operand] = {}
        for path, mine in step.inputs_by_path.items():
            shape = self._shapes[path]
            following |= dict(zip(mine, step.lowered(path, shape), strict=True))
            first |= dict(zip(mine, reset.lowered(path, shape), strict=True))
        try:
            own = counted(step.machine.builder.block, truncated, following, first)
        except NotCountedError:
            function = source_of(inspect.unwrap(type(self._played.unwrapped).step))
            raise UnsupportedError(
                "the environment says `truncated` in its own way, not after a fixed number of steps",
                function.place(function.node),
            ) from None
        return limit if own is None else own if limit is None else min(own, limit)

    def _live(self, step: Run, stored: bool, used: set[Path]) -> set[Path]:
        """Attributes that an observation, a reward or the end of an episode depends on, now or later."""
        needed: set[Path] = set()
        while True:
            outcome = [*step.outcome().values(), step.overflow(needed)] + ([self._observed(step)] if stored else [])
            outcome += [operand for path in needed for operand in step.lowered(path, self._shapes[path])]
            variables = live(copied(step.machine.builder.block), {one for one in outcome if isinstance(one, Var)})
            found = {path for path, mine in step.inputs_by_path.items() if any(var in variables for var in mine)} | used
            if found <= needed:
                return needed
            needed |= found

    # ---- observations ----

    def _observation(self, step: Run, reset: Run) -> "Shows | None":
        """An expression that shows a state, proven to be what reset and step return; None where there is none."""
        cls = type(self._played.unwrapped)
        return self._proven(return_expressions(cls), self.flat, [(run, self._observed(run)) for run in (step, reset)])

    def _mask(self, step: Run, reset: Run) -> "Shows | None":
        """The same for the action mask that the reference tells in its info."""
        masks = [(run, run.mask()) for run in (step, reset)]
        told = [(run, mask) for run, mask in masks if mask is not None]
        if not told:
            return None
        found = self._proven(mask_expressions(type(self._played.unwrapped)), flat_mask, told)
        if found is None or len(told) == 1:
            raise UnsupportedError("the action mask in its info is no function of its state that could be found")
        return found

    def _proven(self, candidates: "list[Shows]", flat: Flat, returned: list[tuple[Run, Operand]]) -> "Shows | None":
        for expression, function in candidates:
            if all(run.shows(expression, function, flat, operand) for run, operand in returned):
                return expression, function
        return None

    def flat(self, machine: Machine, value: Value) -> Operand:
        """An observation as one array."""
        return flat_observation(machine, self._played.observation_space, value)

    def _observed(self, run: Run) -> Operand:
        """The observation that a run returns, flat."""
        return self.flat(run.machine, run.items[0])

    def _show_run(self, shows: "Shows", flat: Flat) -> tuple[Run, Operand]:
        run = self._run(self._played, "observe")
        return run, run.shown(*shows, flat)

    def _shown_paths(self, shows: "Shows | None", flat: Flat) -> set[Path]:
        if shows is None:
            return set()
        run, operand = self._show_run(shows, flat)
        needed = live(copied(run.machine.builder.block), {operand} if isinstance(operand, Var) else set())
        return {path for path, mine in run.inputs_by_path.items() if any(var in needed for var in mine)}

    def _shown(
        self, shows: "Shows", flat: Flat, name: str, kept: dict[Path, Shape], prefix: dict[str, str]
    ) -> Function:
        run, operand = self._show_run(shows, flat)
        return run.function({name: operand}, kept, prefix)


def _with_part(shape: Shape, path: Path, seen: Shape) -> Shape:
    """The same shape, where a list at a path inside it has as much room as the one that was seen there."""
    match shape:
        case shapes.Record(cls, fields) if path and path[0] in dict(fields):
            parts = ((key, _with_part(part, path[1:], seen) if key == path[0] else part) for key, part in fields)
            return shapes.Record(cls, tuple(parts))
        case shapes.Maybe(of):
            return shapes.Maybe(_with_part(of, path, seen))
        case Fixed(items, _) if not path and isinstance(seen, Many):
            return Many(seen.of, max(seen.capacity, len(items)), seen.kind)
        case Many(of, capacity, kind) if not path and isinstance(seen, Many):
            return Many(of, max(seen.capacity, capacity), kind)
        case _:
            return shape


def _is_part(name: str, kept: Collection[Path]) -> bool:
    """Whether a list belongs to the state that is kept."""
    parts = tuple(name.partition("[")[0].split("."))
    return any(parts[: len(path)] == path for path in kept)


def _grown(before: Shape, after: Shape) -> Shape:
    """A list that turns out to change its length gets room."""
    if isinstance(after, Many) and isinstance(before, Fixed):
        return Many(after.of, 2 * after.capacity + 4, after.kind)
    return after


def _largest_number(function: Any) -> float:
    """The largest number written in a function: a reward for reaching the goal, which random play never sees."""
    nodes = ast.walk(source_of(inspect.unwrap(function)).node)
    numbers = [abs(one.value) for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, int | float)]
    return float(max([0.0, *numbers]))


def _covered(*journals: Journal) -> Covered:
    """What runs of the reference's functions went through."""
    outcomes: dict[tuple[str, int], set[bool | None]] = {}
    for journal in journals:
        for place, seen in journal.tests.items():
            outcomes.setdefault(place, set()).update(seen)
    decided = {place for place, seen in outcomes.items() if len(seen) == 1 and None not in seen}
    return Covered(frozenset[tuple[str, int]]().union(*(one.lines for one in journals)), frozenset(decided))
