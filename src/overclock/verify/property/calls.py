"""The recorder: wraps functions of any Python program and keeps what went in and what came out.

    with Recorder(["gymnasium.envs.classic_control.cartpole:CartPoleEnv.step"]) as recorder:
        ...  # play
    recorder.samples["gymnasium.envs.classic_control.cartpole:CartPoleEnv.step"].kept()

Targets are written as in `targets.py`. Everything kept is a copy. Calls inside calls are recorded too. What is not
seen: a function that the program stored away in a list, a dict or an attribute before the recording began.
"""

import contextlib
import dataclasses
import functools
import inspect
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from overclock.errors import UsageError
from overclock.verify.property.captured import captured, captured_attributes, digest, kind
from overclock.verify.property.targets import Place, find

RESERVOIR = 2048  # calls kept per function, each equally likely
PER_KIND, MAX_KINDS = 8, 128  # further calls kept of every kind, so that a rare branch is never lost


class Draw(NamedTuple):
    """One use of a recording generator inside a call: the method, its arguments, what it returned.

    A draw that is recorded by its site has the name of that, and as value what is recorded there.
    """

    method: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    value: Any
    site: str | None = None


_open_logs: list[list[Draw]] = []  # one per call that is running now, outermost first
_unrecorded = False


@contextlib.contextmanager
def unrecorded() -> Iterator[None]:
    """Inside, calls run as if nothing were recorded: those of a search, most of which are of no interest."""
    global _unrecorded
    before, _unrecorded = _unrecorded, True
    try:
        yield
    finally:
        _unrecorded = before


def note_draw(
    method: str, arguments: tuple[Any, ...], keywords: dict[str, Any], value: Any, site: str | None = None
) -> None:
    """Tell every call that is running now about a draw; recording generators call this."""
    if _open_logs:
        draw = Draw(method, captured(arguments), captured(keywords), captured(value), site)
        for log in _open_logs:
            log.append(draw)


Reader = Callable[[Any], dict[str, Any]]  # an instance -> its state, as copies
_readers: dict[str, Reader] = {}


def read_by(reader: Reader, *functions: str) -> None:
    """From now on, recorded calls of these functions show of `self` what the reader reads, not its attributes."""
    _readers.update(dict.fromkeys(functions, reader))


@dataclasses.dataclass(frozen=True)
class Call:
    """One call: arguments by parameter name, the data among the attributes of `self` before and after, the outcome.

    A generator's `result` is the list of what it yielded. `error` is the name of the exception that left the call.
    """

    function: str
    arguments: dict[str, Any]
    before: dict[str, Any]
    draws: tuple[Draw, ...]
    after: dict[str, Any]
    arguments_after: dict[str, Any]  # differs where a function changes its arguments in place
    result: Any
    error: str | None = None

    @functools.cached_property
    def inputs_digest(self) -> bytes:
        """Equal for calls that started from equal data and drew equal numbers."""
        return digest([self.arguments, self.before, list(self.draws)])

    @property
    def kind(self) -> Any:
        """Equal for calls that very likely took the same branches."""
        return kind([self.arguments, self.before, self.after, self.result, self.error, len(self.draws)])


class Sample:
    """The calls of one function: no two with equal inputs, bounded, and some of every kind."""

    def __init__(self, seed: int, reservoir: int = RESERVOIR) -> None:
        self.calls = 0
        self.distinct = 0
        self._random, self._size = random.Random(seed), reservoir
        self._seen: set[bytes] = set()
        self._kinds: dict[Any, int] = {}
        self._first: list[Call] = []
        self._reservoir: list[Call] = []
        self._offered = 0

    def add(self, call: Call) -> None:
        """Keep a call, or not."""
        self.calls += 1
        if call.inputs_digest in self._seen:
            return
        self._seen.add(call.inputs_digest)
        self.distinct += 1
        sort = call.kind
        if sort in self._kinds or len(self._kinds) < MAX_KINDS:
            self._kinds[sort] = self._kinds.get(sort, 0) + 1
            if self._kinds[sort] <= PER_KIND:
                self._first.append(call)
                return
        self._offered += 1
        if len(self._reservoir) < self._size:
            self._reservoir.append(call)
        elif (place := self._random.randrange(self._offered)) < self._size:
            self._reservoir[place] = call

    def kept(self) -> list[Call]:
        """What was kept: the first of every kind, then the reservoir."""
        return self._first + self._reservoir


@dataclasses.dataclass(frozen=True)
class _Function:
    """What a wrapper has to know, looked up once instead of in every call."""

    name: str
    signature: inspect.Signature
    has_self: bool
    depth: int
    attributes: Collection[str] | None

    def by_name(self, args: Any, kwargs: Any) -> dict[str, Any]:
        """The arguments of a call by parameter, `self` left out."""
        first = 1 if self.has_self else 0
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:  # the call is about to raise the same error
            return {"args": args[first:], "kwargs": kwargs}
        bound.apply_defaults()
        return dict(list(bound.arguments.items())[first:])


class Recorder:
    """Records the calls of its targets while it is started."""

    def __init__(
        self,
        targets: Iterable[str],
        seed: int = 0,
        depths: Mapping[str, int] | None = None,
        reservoir: int = RESERVOIR,
        attributes: Mapping[str, Collection[str] | None] | None = None,
    ) -> None:
        """`depths`: by function, how many objects deep it is recorded (1: also data of the objects `self` holds).

        `attributes`: by function, those of `self` that are recorded; all where it says nothing or None.
        """
        self._places = list({place.name: place for target in targets for place in find(target)}.values())
        self._depths, self._attributes = dict(depths or {}), dict(attributes or {})
        self.samples = {place.name: Sample(seed, reservoir) for place in self._places}
        self._undo: list[Callable[[], None]] = []
        self._busy = False  # copying a value may run recorded code; that is not a call of the program
        self._everything: list[Call] | None = None
        self._around: Callable[[str], contextlib.AbstractContextManager[Any]] | None = None

    @property
    def functions(self) -> list[str]:
        """The names of all recorded functions."""
        return list(self.samples)

    def start(self) -> None:
        """Put the wrappers in, all or none."""
        try:
            for place in self._places:
                self._undo.append(place.replace(functools.partial(self._wrapped, place)))
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Put the recorded functions back in the places of their wrappers."""
        while self._undo:
            self._undo.pop()()

    def __enter__(self) -> "Recorder":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @contextlib.contextmanager
    def every_call(self) -> Iterator[list[Call]]:
        """Inside, each call goes into the given list and none into the samples."""
        self._everything = []
        try:
            yield self._everything
        finally:
            self._everything = None

    @contextlib.contextmanager
    def instead(self, around: Callable[[str], contextlib.AbstractContextManager[Any]]) -> Iterator[None]:
        """Inside, no call is recorded: each runs in what `around` returns for the name of its function."""
        self._around = around
        try:
            yield
        finally:
            self._around = None

    def _wrapped(self, place: Place, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise UsageError(f"{place.name} is asynchronous; only plain functions and generators can be recorded.")
        about = _Function(
            place.name, inspect.signature(function), place.has_self, self._depths.get(place.name, 0),
            self._attributes.get(place.name),
        )  # fmt: skip

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._busy or _unrecorded:
                return function(*args, **kwargs)
            if self._around is not None:
                with self._around(about.name):
                    return function(*args, **kwargs)
            with self._recording(about, args, kwargs) as outcome:
                outcome["result"] = result = function(*args, **kwargs)
            return result

        @functools.wraps(function)
        def generate(*args: Any, **kwargs: Any) -> Any:
            if self._busy or _unrecorded or self._around is not None:
                return (yield from function(*args, **kwargs))
            with self._recording(about, args, kwargs) as outcome:
                outcome["result"] = yielded = []
                copy = functools.partial(self._copy, depth=about.depth)
                return (yield from _noting(function(*args, **kwargs), yielded, copy))

        return generate if inspect.isgeneratorfunction(function) else call

    @contextlib.contextmanager
    def _recording(self, function: _Function, args: Any, kwargs: Any) -> Iterator[dict[str, Any]]:
        depth = function.depth
        instance = args[0] if function.has_self and args else None
        named = function.by_name(args, kwargs)
        arguments, before = self._copy(named, depth), self._copy_attributes(instance, function)
        outcome: dict[str, Any] = {"result": None}
        log: list[Draw] = []
        error = None
        _open_logs.append(log)
        try:
            yield outcome
        except BaseException as raised:
            error = type(raised).__name__
            raise
        finally:
            # By identity: generators overlap, and two empty logs are equal.
            _open_logs[:] = [other for other in _open_logs if other is not log]
            after, arguments_after = self._copy_attributes(instance, function), self._copy(named, depth)
            result = self._copy(outcome["result"], depth)
            self._add(Call(function.name, arguments, before, tuple(log), after, arguments_after, result, error))

    def _add(self, call: Call) -> None:
        if self._everything is not None:
            self._everything.append(call)
        else:
            self.samples[call.function].add(call)

    def _copy(self, value: Any, depth: int) -> Any:
        self._busy = True
        try:
            return captured(value, depth)
        finally:
            self._busy = False

    def _copy_attributes(self, instance: Any, function: _Function) -> dict[str, Any]:
        self._busy = True
        try:
            if instance is not None and function.name in _readers:
                return _readers[function.name](instance)
            return {} if instance is None else captured_attributes(instance, function.depth, function.attributes)
        finally:
            self._busy = False


def _noting(generator: Any, yielded: list[Any], copy: Callable[[Any], Any]) -> Any:
    """`yield from generator`, with a copy of every yielded value in `yielded`."""
    try:
        value = next(generator)
        while True:
            yielded.append(copy(value))
            try:
                sent = yield value
            except GeneratorExit:
                generator.close()
                raise
            except BaseException as thrown:
                value = generator.throw(thrown)
            else:
                value = generator.send(sent)
    except StopIteration as stop:
        return stop.value
