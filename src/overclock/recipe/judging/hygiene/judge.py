"""The grader's side of an inspection: checks the form and the content of an answer from a worker that may lie.

What is not exactly as expected counts against the candidate; no answer skips a rule.
"""

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from overclock.recipe.judging.hygiene.finding import Finding, Limits

FUNCTIONS = ("draw_reset", "init", "draw_step", "transition", "observe", "action_mask", "info", "reset", "step")
RULES = ("init", "transition", "observe", "action_mask", "info")  # these never draw
OUTWARD = re.compile(r"callback|feed|ffi|custom_call|outside|host|pallas|debug|token|rng_uniform|rng_bit_generator")
RANDOM = re.compile(r"^random_|threefry")
# Parts of XLA's own libraries: linear algebra on the CPU, and notes to the compiler.
LIBRARIES = re.compile(r"^(lapack_\w+|blas_\w+|Sharding|SPMD\w*|annotate_device_placement|mhlo\.\w+|chlo\.\w+)$")
TEXT = 300  # characters of a worker's text that are passed on
LIST = 5
MOST = 1 << 16  # entries of a list that are looked at
DIGEST = re.compile(r"^[0-9a-f]{64}$")


@dataclasses.dataclass
class Trace:
    """What was seen in the traces of one function."""

    primitives: list[str]
    effects: list[str]
    custom_calls: list[str]
    constant_bytes: int
    digests: list[str]  # one for each trace


@dataclasses.dataclass
class Untraceable:
    """A function whose trace raised."""

    error: str


@dataclasses.dataclass
class Inspection:
    """The answer of an `Inspector`; the judge reads it as plain data (`dataclasses.asdict`), whose form it checks."""

    error: str | None = None  # why the candidate could not be imported, made or run
    contract: str | None = None  # the first breach of the environment contract
    functions: dict[str, Trace | Untraceable] = dataclasses.field(default_factory=dict)
    rounds: list[str] = dataclasses.field(default_factory=list)  # functions whose later traces differ
    remembered: list[str] = dataclasses.field(default_factory=list)  # places whose content changed
    tampered: list[str] = dataclasses.field(default_factory=list)  # names of others that were replaced
    not_finite: list[str] = dataclasses.field(default_factory=list)  # fields that became NaN
    eager_ulps: float = 0.0
    steps: int = 0
    replaced: list[str] = dataclasses.field(default_factory=list)  # derived methods that the candidate defines
    batched: list[int] = dataclasses.field(default_factory=list)  # batches that are not the program of one lane
    own_randomness: list[str] = dataclasses.field(default_factory=list)  # what draws are made of beside the Rng's words


ANSWER, TRACE = ({field.name for field in dataclasses.fields(form)} for form in (Inspection, Trace))


class _MalformedError(Exception):
    """An answer is not of the form that was asked for."""


def judge_inspection(data: Any, limits: Limits) -> list[Finding]:
    """The findings in an `Inspector`'s answer; an answer of another form is a finding as well."""
    try:
        found = sorted(set(_findings(data, limits)))
        if not found and data["steps"] < 1:
            raise _MalformedError("no step was taken, and nothing says why")
        return found
    except _MalformedError as error:
        return [Finding("", 0, "answer", f"The worker's answer is not in its form ({error}), so nothing in it counts.")]


def _findings(data: Any, limits: Limits) -> Iterator[Finding]:
    report = _mapping(data, ANSWER, "the answer")
    for name in _texts(report["tampered"], "tampered")[:LIST]:
        yield Finding("", 0, "tampering", f"The candidate replaced `{name}`, which is not its own.")
    if report["error"] is not None:
        yield Finding("", 0, "import", f"The candidate cannot be used: {_text(report['error'], 'error')}")
        return
    if report["contract"] is not None:
        yield Finding("", 0, "contract", _text(report["contract"], "contract"))
    for name in _texts(report["replaced"], "replaced"):
        yield Finding("", 0, "derived", f"`{name}` is derived by the base class and must not be replaced.")
    functions = _mapping(report["functions"], set(FUNCTIONS), "functions")
    for name in FUNCTIONS:
        yield from _of_function(name, functions[name], limits)
    changed = _texts(report["rounds"], "rounds")
    for name in changed[:LIST]:
        sentence = f"`{name}` is another program when it is traced again; rules remember nothing between calls."
        yield Finding("", 0, "hidden-state", sentence)
    for name in _texts(report["remembered"], "remembered")[:LIST]:
        sentence = f"`{name}` is another one after the rules have run; rules remember nothing between calls."
        yield Finding("", 0, "hidden-state", sentence)
    for name in _texts(report["not_finite"], "not_finite")[:LIST]:
        yield Finding("", 0, "nan", f"`{name}` is not a number after an ordinary step.")
    if _number(report["eager_ulps"], "eager_ulps") > limits.eager_ulps:
        sentence = "A step gives other results when its operations run one by one than when it is compiled."
        yield Finding("", 0, "eager", sentence)
    for batch in _list(report["batched"], "batched")[:LIST]:
        size = _count(batch, "batched")
        sentence = (
            f"A batch of {size} is another program than {size} times one lane; rules do not look at what traces them."
        )
        yield Finding("", 0, "batch", sentence)
    for sentence in _texts(report["own_randomness"], "own_randomness")[:LIST]:
        yield Finding("", 0, "randomness", f"{sentence}; a draw is made of the Rng's words, constants and the state.")
    _count(report["steps"], "steps")


def leaves_the_program(trace: Trace | Untraceable) -> bool:
    """Whether a traced function calls something outside; the worker does not run such a program for long."""
    return isinstance(trace, Trace) and bool(trace.effects or any(map(OUTWARD.search, trace.primitives)))


def _of_function(name: str, value: Any, limits: Limits) -> Iterator[Finding]:
    if isinstance(value, dict) and value.keys() == {"error"}:
        yield Finding("", 0, "trace", f"`{name}` cannot be traced: {_text(value['error'], name)}")
        return
    shown = _mapping(value, TRACE, name)
    for primitive in _texts(shown["primitives"], name):
        if OUTWARD.search(primitive):
            sentence = f"`{name}` leaves the compiled program by `{primitive}`; rules call nothing outside."
            yield Finding("", 0, "callback", sentence)
        elif name in RULES and RANDOM.search(primitive):
            sentence = f"`{name}` makes random numbers of its own (`{primitive}`); draw them in draw_*."
            yield Finding("", 0, "randomness", sentence)
    for effect in _texts(shown["effects"], name)[:LIST]:
        yield Finding("", 0, "callback", f"`{name}` has the side effect `{effect}`; rules only return values.")
    for target in _texts(shown["custom_calls"], name):
        if not LIBRARIES.search(target):
            yield Finding("", 0, "callback", f"`{name}` calls foreign code (`{target}`); rules call nothing outside.")
    size = _count(shown["constant_bytes"], name)
    if size > limits.constant_bytes:
        sentence = f"`{name}` carries {size} bytes of data, {limits.constant_bytes} are allowed; rules are computed."
        yield Finding("", 0, "constants", sentence)
    digests = _texts(shown["digests"], name)
    if len(digests) < 2 or not all(DIGEST.match(text) for text in digests):
        raise _MalformedError(f"{name} was not traced twice")
    if len(set(digests)) > 1:
        sentence = f"`{name}` is another program when it is traced again; rules remember nothing between calls."
        yield Finding("", 0, "hidden-state", sentence)


def _mapping(value: Any, keys: set[str], what: str) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != keys:
        raise _MalformedError(f"{what} has other entries")
    return value


def _texts(value: Any, what: str) -> list[str]:
    return [_text(part, what) for part in _list(value, what)]


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST:
        raise _MalformedError(f"{what} is no list")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise _MalformedError(f"{what} is no text")
    return value if len(value) <= TEXT else f"{value[:TEXT]}…"


def _count(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _MalformedError(f"{what} is no count")
    return value


def _number(value: Any, what: str) -> float:
    """A number that is not negative; not NaN, whose comparisons are all false."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:
        raise _MalformedError(f"{what} is no number")
    return float(value)
