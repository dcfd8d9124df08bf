"""What a value of an environment depends on: which lines ran to compute it, and from which of them it was computed.

The rules are traced once by JAX, with parameters, state, action and draws as inputs. Every equation of the program that
comes out knows the lines it was written on, so going backwards from an output gives the lines, parameters and inputs it
was computed from. Lines that ran without leaving an equation (a branch taken in Python, a record put together) are kept
apart: nothing is known about where they lead.
"""

import contextlib
import dataclasses
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Line = tuple[str, int]  # module, number
PARAMS = "params."


@dataclasses.dataclass(frozen=True)
class Dependence:
    """What one output was computed from."""

    lines: frozenset[Line]
    inputs: frozenset[str]  # 'params.gravity', 'state.x', 'action' ...


@dataclasses.dataclass(frozen=True)
class Traced:
    """One run of a function: what ran, and what each output depends on."""

    ran: frozenset[Line]
    functions: frozenset[tuple[str, str]]  # module, 'Class.function'
    names: frozenset[str]  # that these functions mention: globals and attributes
    computing: frozenset[Line]  # lines with an equation, whatever became of it
    outputs: Mapping[str, Dependence]
    params_built: bool  # parameters were (also) made inside, so where their values go is not known


def traced(
    function: Callable[[dict[str, Any]], Mapping[str, Any]],
    inputs: Mapping[str, Any],
    files: Mapping[str, str],
    params: type,
) -> Traced:
    """Trace `function(inputs)`, watching `files` (name -> module); `params` is the class of the parameters.

    Where the function wants its parameters as plain numbers, they are given as such, and count as made inside.
    """
    import jax

    watch = _Watch(files)
    constant = {name: value for name, value in inputs.items() if name == "params"}
    built = [False]
    try:
        with watch.watching(), _noticing(params, built):
            closed, shape = jax.make_jaxpr(function, return_shape=True)(dict(inputs))
        given = dict(inputs)
    except (jax.errors.ConcretizationTypeError, TypeError):
        given = {name: value for name, value in inputs.items() if name != "params"}
        built = [True]
        with watch.watching():
            closed, shape = jax.make_jaxpr(lambda some: function({**some, **constant}), return_shape=True)(given)
    return Traced(
        ran=frozenset(watch.lines),
        functions=frozenset(watch.functions),
        names=frozenset(watch.names),
        computing=frozenset(line for eqn in closed.jaxpr.eqns for line in _lines(eqn, files)),
        outputs=_outputs(closed.jaxpr, _labels(given), _labels(shape), files),
        params_built=built[0],
    )


class _Watch:
    """Notices lines, functions and the names they mention, in some files."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self.lines: set[Line] = set()
        self.functions: set[tuple[str, str]] = set()
        self.names: set[str] = set()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        import jax

        jax.clear_caches()  # what was compiled before would not run again, and would not be seen
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: types.FrameType, event: str, _: Any) -> Any:
        module = self._files.get(frame.f_code.co_filename)
        if module is None:
            return None
        self.functions.add((module, frame.f_code.co_qualname.replace(".<locals>", "")))
        self.names.update(frame.f_code.co_names)

        def ran(inner: types.FrameType, what: str, _: Any) -> Any:
            self.lines.add((module, inner.f_lineno))
            return ran

        return ran


@contextlib.contextmanager
def _noticing(params: type, built: list[bool]) -> Iterator[None]:
    """Whether parameters are made from defaults; JAX, which takes records apart and puts them together, gives all."""
    original, fields = params.__init__, len(dataclasses.fields(params))

    def made(self: Any, *args: Any, **values: Any) -> None:
        built[0] = built[0] or len(args) + len(values) < fields
        original(self, *args, **values)

    params.__init__ = made  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        params.__init__ = original  # pyright: ignore[reportAttributeAccessIssue]


def _outputs(jaxpr: Any, given: list[str], shown: list[str], files: Mapping[str, str]) -> dict[str, Dependence]:
    """Backwards from every output; several leaves of one name are one output."""
    makers = {id(variable): eqn for eqn in jaxpr.eqns for variable in eqn.outvars}
    names = {id(variable): label for variable, label in zip(jaxpr.invars, given, strict=True)}
    found: dict[str, tuple[set[Line], set[str]]] = {}
    for variable, label in zip(jaxpr.outvars, shown, strict=True):
        lines, inputs = found.setdefault(label, (set(), set()))
        waiting, seen = [variable], set[int]()
        while waiting:
            one = waiting.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            if id(one) in names:
                inputs.add(names[id(one)])
            elif id(one) in makers:
                lines.update(_lines(makers[id(one)], files))
                waiting.extend(makers[id(one)].invars)
    return {label: Dependence(frozenset(lines), frozenset(inputs)) for label, (lines, inputs) in found.items()}


def _lines(eqn: Any, files: Mapping[str, str]) -> set[Line]:
    """The lines of the watched files on the way to an equation, with those of the equations inside of it."""
    own = _stack(eqn, files)
    lines = set(own)
    for inner in _inside(eqn.params.values()):
        # A library function is traced once and remembered with the lines of its first caller; those are not ours.
        if _stack(inner, files)[: len(own)] == own:
            lines |= _lines(inner, files)
    return lines


def _stack(eqn: Any, files: Mapping[str, str]) -> list[Line]:
    """The calls that led to an equation, the outermost first."""
    traceback = eqn.source_info.traceback
    frames = [] if traceback is None else traceback.frames
    return [(files[frame.file_name], frame.line_num) for frame in reversed(frames) if frame.file_name in files]


def _inside(values: Iterable[Any]) -> Iterator[Any]:
    """The equations of the programs among an equation's parameters (branches, bodies of loops)."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _inside(value)
        else:
            inner = getattr(value, "jaxpr", value)
            yield from getattr(inner, "eqns", ())


def _labels(tree: Any) -> list[str]:
    """A name per leaf: that of its place in the outermost dict, and of the parameter."""
    import jax

    found = []
    for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]:
        whole = jax.tree_util.keystr(path, simple=True, separator=".")
        first = str(path[0].key)
        found.append(whole if whole.startswith(PARAMS) else first)
    return found
