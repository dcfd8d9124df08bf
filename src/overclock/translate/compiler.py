"""From a live environment to a program: state found and widened until nothing changes, then reset, step and observe."""

import ast
import copy
import inspect
import operator
import sys
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from overclock.recording import shapes
from overclock.recording.codec import prefixes
from overclock.recording.errors import NeedsPlainDrawError, NeedsStateError, StartAnewError, UnsupportedError
from overclock.recording.observations import flat_space
from overclock.recording.shapes import Fixed, Many, Shape, leaves
from overclock.recording.wrappers import TRANSPARENT, outermost, time_limit, wrapped
from overclock.translate import numpy_order
from overclock.translate.ir.aliases import Journal
from overclock.translate.ir.counted import NotCountedError, counted
from overclock.translate.ir.nodes import Const, Operand, Type, Var
from overclock.translate.ir.passes import Shared, copied, follow_arguments, live
from overclock.translate.ir.values import UNSET, Gone, Known, Num, ObjectCell, Ref, Value
from overclock.translate.profile import Profile, look, roomy
from overclock.translate.program import Covered, Function, Program
from overclock.translate.python.frames import RETURNED, VALUE, Frame, source_of
from overclock.translate.python.interpreter import Interpreter
from overclock.translate.python.state_aliases import StateNames, refuse_shared
from overclock.translate.share import share
from overclock.translate.showing import (
    MASK,
    Flat,
    Keys,
    Shows,
    flat_mask,
    flat_observation,
    mask_expressions,
    return_expressions,
)

ROUNDS = 12
DEEP = 20_000  # a call of the reference is some twenty calls of the interpreter
LARGEST_BOUND = 1e6  # of an observation; larger ones stand for none
TIDYINGS = 3  # each round makes things equal or certain that were not before
Path = tuple[str, ...]


class Compiler:
    """Translates one environment. `make` gives a fresh instance each time."""

    def __init__(self, make: Callable[[], Any], name: str, profile: Profile | None = None) -> None:
        self._make, self._name = make, name
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
                if wider == self._shapes:
                    break
                self._shapes = wider
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
        for known in covered:
            del self._shapes[known]
        # What is only ever given the value it has stays a constant.
        plain = isinstance(value, bool | int | float | str)
        self._shapes[key] = shapes.Exactly(value) if plain else roomy(shapes.of_python(value))

    # ---- running the reference's functions ----

    def _step(self) -> "_Run":
        run = _Run(self, self._played, "step")
        run.call([run.action(self._played.action_space)], {})
        return run

    def _reset(self) -> "_Run":
        run = _Run(self, self._fresh, "reset")
        run.call([], {"seed": Known(None), "options": Known(None)})
        return run

    def _widened(self, *runs: "_Run") -> dict[Path, Shape]:
        wider = dict(self._shapes)
        for run in runs:
            for path in wider:
                value = run.read(path)
                if value is None or isinstance(value, Gone):
                    continue
                seen = run.seen(value, wider[path])
                kinds = (isinstance(one, shapes.Array) for one in (seen, wider[path]))
                places = run.names.joined(path, run.interpreter.store)
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

    def _finished(self, step: "_Run", reset: "_Run") -> Program:
        observation, mask = self._observation(step, reset), self._mask(step, reset)
        shown = self._shown_paths(observation, self.flat) | self._shown_paths(mask, flat_mask)
        live_paths = self._live(step, observation is None, shown)
        kept = {path: shape for path, shape in self._shapes.items() if path in live_paths}
        refuse_shared(self._shapes, kept, *((run.names, run.interpreter.store) for run in (step, reset)))
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
                results["observation"] = run.observation
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
            assumptions=tuple(dict.fromkeys(step.interpreter.assumptions + reset.interpreter.assumptions)),
            covered=_covered(step.interpreter.store.journal, reset.interpreter.store.journal),
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

    def _limit(self, step: "_Run", reset: "_Run") -> int | None:
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
            own = counted(step.interpreter.builder.block, truncated, following, first)
        except NotCountedError:
            function = source_of(inspect.unwrap(type(self._played.unwrapped).step))
            raise UnsupportedError(
                "the environment says `truncated` in its own way, not after a fixed number of steps",
                function.place(function.node),
            ) from None
        return limit if own is None else own if limit is None else min(own, limit)

    def _live(self, step: "_Run", stored: bool, used: set[Path]) -> set[Path]:
        """Attributes that an observation, a reward or the end of an episode depends on, now or later."""
        needed: set[Path] = set()
        while True:
            outcome = [*step.outcome().values(), step.overflow(needed)] + ([step.observation] if stored else [])
            outcome += [operand for path in needed for operand in step.lowered(path, self._shapes[path])]
            variables = live(copied(step.interpreter.builder.block), {one for one in outcome if isinstance(one, Var)})
            found = {path for path, mine in step.inputs_by_path.items() if any(var in variables for var in mine)} | used
            if found <= needed:
                return needed
            needed |= found

    # ---- observations ----

    def _observation(self, step: "_Run", reset: "_Run") -> "Shows | None":
        """An expression that shows a state, proven to be what reset and step return; None where there is none."""
        cls = type(self._played.unwrapped)
        return self._proven(return_expressions(cls), self.flat, [(run, run.observation) for run in (step, reset)])

    def _mask(self, step: "_Run", reset: "_Run") -> "Shows | None":
        """The same for the action mask that the reference tells in its info."""
        masks = [(run, run.mask()) for run in (step, reset)]
        told = [(run, mask) for run, mask in masks if mask is not None]
        if not told:
            return None
        found = self._proven(mask_expressions(type(self._played.unwrapped)), flat_mask, told)
        if found is None or len(told) == 1:
            raise UnsupportedError("the action mask in its info is no function of its state that could be found")
        return found

    def _proven(self, candidates: "list[Shows]", flat: Flat, returned: "list[tuple[_Run, Operand]]") -> "Shows | None":
        for expression, function in candidates:
            if all(run.shows(expression, function, flat, operand) for run, operand in returned):
                return expression, function
        return None

    def flat(self, interpreter: Interpreter, value: Value) -> Operand:
        """An observation as one array."""
        return flat_observation(interpreter, self._played.observation_space, value)

    def _show_run(self, shows: "Shows", flat: Flat) -> "tuple[_Run, Operand]":
        run = _Run(self, self._played, "observe")
        return run, run.shown(*shows, flat)

    def _shown_paths(self, shows: "Shows | None", flat: Flat) -> set[Path]:
        if shows is None:
            return set()
        run, operand = self._show_run(shows, flat)
        needed = live(copied(run.interpreter.builder.block), {operand} if isinstance(operand, Var) else set())
        return {path for path, mine in run.inputs_by_path.items() if any(var in needed for var in mine)}

    def _shown(
        self, shows: "Shows", flat: Flat, name: str, kept: dict[Path, Shape], prefix: dict[str, str]
    ) -> Function:
        run, operand = self._show_run(shows, flat)
        return run.function({name: operand}, kept, prefix)

    @property
    def shapes(self) -> dict[Path, Shape]:
        """The state as far as it is known."""
        return self._shapes

    @property
    def played(self) -> Any:
        """The live instance that was looked at."""
        return self._played

    @property
    def profile(self) -> Profile:
        """What was seen."""
        return self._profile

    @property
    def observation_space(self) -> Any:
        """Of the reference."""
        return self._played.observation_space


class _Run:
    """One function of the reference, interpreted once."""

    def __init__(self, compiler: Compiler, env: Any, kind: str) -> None:
        self.interpreter = Interpreter()
        self._compiler, self._env, self._kind = compiler, env, kind
        self._rules = rules = env.unwrapped
        self.interpreter.plain_sites = compiler.plain_sites
        compiler.went.append(self.interpreter.store.journal.lines)
        self.inputs_by_path: dict[Path, list[Var]] = {}
        self.action_input: Var | None = None
        self.overflow_input: Var | None = None
        self.result: Value = UNSET
        interpreter = self.interpreter
        self.root = interpreter.store.new(ObjectCell(type(rules), {}, rules))
        interpreter.paths[id(rules)] = ()
        interpreter.own_generator = getattr(rules, "np_random", None)
        self._stand_in(env)
        for path, shape in compiler.shapes.items():
            self._place(path, shape)
        self.names = StateNames(self.root, compiler.shapes, interpreter.store)
        interpreter.kept |= interpreter.store.reached(self.root)
        if kind == "reset":
            self.names.connect(rules, interpreter.store)

    def _stand_in(self, env: Any) -> None:
        """Whoever reaches the live environment, from a wrapper or from an object inside, means the one of this run."""
        inner: Value = self.root
        for one in reversed(wrapped(env)):
            if one is not self._rules and not isinstance(one, TRANSPARENT):
                inner = Known(one)
            self.interpreter.stand_ins[id(one)] = inner

    def _place(self, path: Path, shape: Shape) -> None:
        store = self.interpreter.store
        owner, live_owner = self.root, self._rules
        for at, name in enumerate(path[:-1]):
            cell = store[owner]
            assert isinstance(cell, ObjectCell)
            live_owner = getattr(live_owner, name, None)
            if live_owner is None:
                return
            if name not in cell.fields:
                cell.fields[name] = store.new(ObjectCell(type(live_owner), {}, live_owner))
                self.interpreter.paths[id(live_owner)] = path[: at + 1]
            inner = cell.fields[name]
            assert isinstance(inner, Ref)
            owner = inner
        cell = store[owner]
        assert isinstance(cell, ObjectCell)
        name = path[-1]
        if self._kind == "reset":
            if hasattr(live_owner, name):
                value = copy.deepcopy(getattr(live_owner, name))
                seen = roomy(shapes.of_python(value))
                cell.fields[name] = self._constant(value, seen)
            else:
                cell.fields[name] = Gone("reset reads it before anything was assigned")
            return
        if path in self._compiler.profile.refused:
            cell.fields[name] = Gone(self._compiler.profile.refused[path])
            return
        mine = [Var(Type(leaf.dtype, leaf.shape), leaf.name) for leaf in leaves(shape, name)]
        self.inputs_by_path[path] = mine
        cell.fields[name] = self.interpreter.layout.lift(shape, list(mine), store)

    def _constant(self, value: Any, seen: Shape) -> Value:
        store = self.interpreter.store
        if isinstance(seen, shapes.Exactly):
            return Known(value)
        if isinstance(seen, shapes.Number):
            return Known(value)
        operands = self.interpreter.layout.lower(Known(value), seen, store)
        return self.interpreter.layout.lift(seen, operands, store)

    def action(self, space: Any) -> Value:
        """The argument of `step`."""
        if hasattr(space, "n") and space.shape == ():
            start = int(getattr(space, "start", 0))
            self.action_input = Var(Type("int64", (), True), "action", start, start + int(space.n) - 1)
            return Num(self.action_input)
        if space.shape is None:
            raise UnsupportedError("actions that are tuples or dicts")
        self.action_input = Var(Type(str(space.dtype), space.shape), "action")
        return self.interpreter.fresh(self.action_input)

    def call(self, args: list[Value], keywords: dict[str, Value]) -> None:
        """Run it."""
        outer = outermost(self._env)
        function = getattr(type(outer), self._kind)
        known = source_of(inspect.unwrap(function)).node.args
        names = [one.arg for one in (*known.posonlyargs, *known.args, *known.kwonlyargs)]
        keywords = {name: value for name, value in keywords.items() if name in names or known.kwarg is not None}
        owner = self.interpreter.stand_ins[id(outer)]
        self.result = self.interpreter.call_function(function, [owner, *args], keywords)
        wanted = 5 if self._kind == "step" else 2
        items = self.interpreter.iterate(self.result)
        if len(items) != wanted:
            raise UnsupportedError(f"{self._kind} returns {len(items)} values, not {wanted}")
        self.items = items

    @property
    def files(self) -> tuple[str, ...]:
        """Sources that were read."""
        return (inspect.getsourcefile(type(self._rules)) or "",)

    # ---- what it leaves behind ----

    def seen(self, value: Value, known: Shape) -> Shape:
        """The shape of a value; a list that is kept as arrays may still have a length that is known."""
        found = self.interpreter.layout.shape(value, self.interpreter.store)
        if isinstance(found, Many) and isinstance(known, Fixed):
            length = self.interpreter.length(value)
            if isinstance(length, Known) and length.value == len(known.items):
                return Fixed((found.of,) * length.value, found.kind)
        return found

    def read(self, path: Path) -> Value | None:
        """What lies at a path afterwards."""
        value: Value = self.root
        for name in path:
            if isinstance(value, Known):
                value = Known(getattr(value.value, name)) if hasattr(value.value, name) else UNSET
                continue
            if not isinstance(value, Ref):
                return None
            cell = self.interpreter.store[value]
            if not isinstance(cell, ObjectCell):
                return None
            if name in cell.fields:
                value = cell.fields[name]
            elif cell.like is not None and hasattr(cell.like, name):
                value = Known(getattr(cell.like, name))
            else:
                return None
        return value

    def lowered(self, path: Path, shape: Shape) -> list[Operand]:
        """Its leaves."""
        value = self.read(path)
        if value is None:
            value = UNSET
        return self.interpreter.layout.lower(value, shape, self.interpreter.store)

    def state_results(self, kept: dict[Path, Shape], prefix: dict[str, str]) -> dict[str, Operand]:
        """The state afterwards, by the names of its leaves."""
        found: dict[str, Operand] = {}
        for path, shape in kept.items():
            names = [leaf.name for leaf in leaves(shape, prefix[".".join(path)])]
            tidy = self._tidied(shape, self.lowered(path, shape))
            found |= dict(zip(names, tidy, strict=True))
        return found

    def _tidied(self, shape: Shape, operands: list[Operand], valid: Operand | None = None) -> list[Operand]:
        """Zeros where there is no item or no value, so that equal states have equal leaves."""
        left = list(operands)
        found = self._tidy(shape, left, valid)
        assert not left
        return found

    def _tidy(self, shape: Shape, left: list[Operand], valid: Operand | None) -> list[Operand]:
        interpreter = self.interpreter
        match shape:
            case shapes.Exactly():
                return []
            case shapes.Number() | shapes.Array() | shapes.Choice():
                leaf = left.pop(0)
                if valid is None:
                    return [leaf]
                nothing = Const(np.zeros((), leaf.type.dtype)[()])
                spread = interpreter.spread_over(valid, leaf)
                return [interpreter.where(spread, leaf, nothing)]
            case shapes.Maybe(of):
                present = left.pop(0)
                if valid is not None:
                    present = interpreter.builder.let("and", np.logical_and, present, valid)
                return [present, *self._tidy(of, left, present)]
            case Fixed(items, _):
                return [one for item in items for one in self._tidy(item, left, valid)]
            case shapes.Record(_, fields):
                return [one for _, part in fields for one in self._tidy(part, left, valid)]
            case Many(of, capacity, _):
                length = left.pop(0)
                if valid is not None:
                    raise UnsupportedError("lists of lists of changing length")
                if isinstance(length, Const) and int(length.value) == capacity:
                    return [length, *self._tidy(of, left, None)]
                inside = interpreter.builder.joined("lt", operator.lt, Const(np.arange(capacity)), length)
                return [length, *self._tidy(of, left, inside)]
        raise AssertionError(shape)

    def overflow(self, paths: Collection[Path]) -> Operand:
        """Whether something needed more room than it has; of the lists of the state, only those at some paths count."""
        store = self.interpreter.store
        lists = self.names.lists(paths)
        found = store.overflow
        for cell, full in store.full.items():
            found = self.interpreter.logical("or", found, full) if cell in lists else found
        return found

    def overflow_so_far(self, paths: Collection[Path]) -> Operand:
        """The same, now or before."""
        own = self.overflow(paths)
        if self._kind != "step":
            return own
        self.overflow_input = Var(Type("bool"), "overflow")
        return self.interpreter.logical("or", self.overflow_input, own)

    def outcome(self) -> dict[str, Operand]:
        """Reward and end of a step."""
        reward = self.interpreter.operand(self.items[1])
        if reward.type.shape:
            raise UnsupportedError(
                f"the reward is an array {reward.type.shape}, and it must be one number: "
                "wrap the environment in something that weighs them"
            )
        dtype = reward.type.dtype if reward.type.kind == "f" else "float64"
        terminated = self.interpreter.truth(self.items[2])
        return {"reward": self.interpreter.builder.cast(reward, dtype), "terminated": terminated}

    @property
    def truncated(self) -> Operand:
        """What the rules say about time."""
        return self.interpreter.truth(self.items[3])

    def mask(self) -> Operand | None:
        """The action mask of the info that is returned, where it has one."""
        info = self.items[-1]
        entries = self.interpreter.entries(info)
        return flat_mask(self.interpreter, entries[MASK]) if MASK in entries else None

    @property
    def observation(self) -> Operand:
        """The observation that is returned, flat."""
        return flat_observation(self.interpreter, self._compiler.observation_space, self.items[0])

    def shown(self, expression: ast.expr, function: Any, flat: Flat) -> Operand:
        """What an expression of the reference's source shows of the state now; `flat` makes it one operand."""
        interpreter = self.interpreter
        source = source_of(function)
        cls = next(base for base in type(self._rules).__mro__ if function.__name__ in vars(base))
        interpreter.frames.append(Frame(source, function.__globals__, cls))
        interpreter.store.frames.append({source.node.args.args[0].arg: self.root, RETURNED: Known(False), VALUE: UNSET})
        try:
            value = interpreter.evaluate(expression)
        finally:
            interpreter.frames.pop()
            interpreter.store.frames.pop()
        return flat(interpreter, value)

    def shows(self, expression: ast.expr, function: Any, flat: Flat, returned: Operand) -> bool:
        """Whether an expression gives, from the state as it is now, what the run returned."""
        interpreter = self.interpreter
        before = interpreter.store
        interpreter.store = before.copy()
        try:
            again = self.shown(expression, function, flat)
            drawn = interpreter.store.drawn == before.drawn
        except (UnsupportedError, StartAnewError):
            return False
        finally:
            interpreter.store = before
        shared = Shared()
        block = copied(interpreter.builder.block)
        shared.run(block)
        keys = Keys(block)
        return drawn and keys.of(shared.of(again)) == keys.of(shared.of(returned))

    def function(self, results: dict[str, Operand], kept: dict[Path, Shape], prefix: dict[str, str]) -> Function:
        """The program of this run, tidied."""
        block, sites = self.interpreter.builder.block, list(self.interpreter.sites.values())
        numpy_refusal = numpy_order.refusal(block, sites)  # before draws that nobody needs are gone
        inputs: dict[str, Var] = {}
        for path, mine in self.inputs_by_path.items():
            if path in kept:
                names = [leaf.name for leaf in leaves(kept[path], prefix[".".join(path)])]
                inputs |= dict(zip(names, mine, strict=True))
        if self.action_input is not None:
            inputs["action"] = self.action_input
        if self.overflow_input is not None:
            inputs["overflow"] = self.overflow_input
        for _ in range(TIDYINGS):
            shared = Shared()
            shared.run(block)
            results = {name: shared.of(operand) for name, operand in results.items()}
            live(block, {one for one in results.values() if isinstance(one, Var)})
            follow_arguments(block, shared.of)
        return Function(block, inputs, results, sites, numpy_refusal)


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
