"""What a traced function is made of: its primitives, the data it carries, and a digest that two equal traces share.

Works on jaxprs by their shape (`eqns`, `consts`, `val`), recursively, so that nothing hides in a loop or a branch.
"""

import hashlib
import re
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from overclock.vector.fused.control import scan_counts

ADDRESS = re.compile(r"0x[0-9a-f]+")
CONSTANT = "const "  # begins the name of a constant
TARGET = re.compile(r"custom_call\s*@([\w.$]+)|call_target_name\s*=\s*\"([^\"]+)\"")


def jaxprs_in(value: Any) -> Iterator[Any]:
    """Jaxprs in the parameters of an equation, closed or not."""
    if hasattr(value, "eqns"):
        yield value
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from jaxprs_in(inner)
    elif isinstance(value, dict):
        yield from jaxprs_in(list(value.values()))


def equations(jaxpr: Any) -> Iterator[Any]:
    """Every equation, those of inner programs too."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in jaxprs_in(equation.params):
            yield from equations(inner)


def primitives(jaxpr: Any) -> list[str]:
    """The names of all primitives, each once."""
    return sorted({equation.primitive.name for equation in equations(jaxpr)})


def constant_bytes(jaxpr: Any) -> int:
    """The size of all arrays and numbers that were put into the program as they are."""
    found: dict[int, int] = {}
    for program in _programs(jaxpr):
        for constant in getattr(program, "consts", ()):
            found[id(constant)] = np.asarray(constant).nbytes
        for equation in program.eqns:
            for atom in equation.invars:
                if hasattr(atom, "val"):
                    found[id(atom.val)] = np.asarray(atom.val).nbytes
    return sum(found.values())


def digest(jaxpr: Any) -> str:
    """Equal for two traces of one program: names of variables and addresses in memory do not matter, numbers do."""
    total = hashlib.sha256()
    for line in _lines(jaxpr, {}):
        total.update(line.encode() + b"\n")
    return total.hexdigest()


def custom_calls(lowered: str) -> list[str]:
    """Which code outside of XLA a lowered program calls."""
    return sorted({first or second for first, second in TARGET.findall(lowered)})


def _programs(jaxpr: Any) -> Iterator[Any]:
    yield jaxpr
    for equation in jaxpr.eqns:
        for inner in jaxprs_in(equation.params):
            yield from _programs(inner)


def _lines(jaxpr: Any, names: dict[int, str]) -> Iterator[str]:
    """The program as text. JAX lists constants in another order each time, so they are named by what they are.

    `names` has the constants among the program's inputs already.
    """
    plain = getattr(jaxpr, "jaxpr", jaxpr)
    consts = [CONSTANT + _shown(constant) for constant in getattr(jaxpr, "consts", ())]
    names |= {id(place): known for place, known in zip(plain.constvars, consts, strict=False)}
    yield from sorted(consts)
    yield f"in {_in_order([_atom(atom, names) for atom in (*plain.constvars[len(consts) :], *plain.invars)])}"
    for equation in plain.eqns:
        given = [_atom(atom, names) for atom in equation.invars]
        kept = _kept_inputs(equation, given)
        given = _in_order(given, {place for places in kept.values() for place in places.values()})
        yield f"{equation.primitive.name} {given} -> {[_atom(atom, names) for atom in equation.outvars]}"
        for name, value in sorted(equation.params.items()):
            inner = list(jaxprs_in(value))
            if not inner:
                yield f"  {name} {_shown(value)}"
            for program in inner:
                yield f"  {name} begins"
                inputs = getattr(program, "jaxpr", program).invars
                places = {place: _atom(equation.invars[at], names) for place, at in kept.get(name, {}).items()}
                yield from _lines(
                    program,
                    {id(inputs[place]): text for place, text in places.items() if text.startswith(CONSTANT)},
                )
    yield f"out {[_atom(atom, names) for atom in plain.outvars]}"


def _kept_inputs(equation: Any, given: list[str]) -> dict[str, dict[int, int]]:
    """By parameter, the inputs of its programs that are an operand and stay as they are: input -> operand."""
    params, count = equation.params, len(given)
    match equation.primitive.name:
        case "scan":
            return {"jaxpr": {place: place for place in range(scan_counts(params, count)[0])}}
        case "while":
            first = params["cond_nconsts"]
            return {
                "cond_jaxpr": {place: place for place in range(first)},
                "body_jaxpr": {place: first + place for place in range(params["body_nconsts"])},
            }
        case "cond":
            return {"branches": {place: place + 1 for place in range(count - 1)}}
        case "jit" | "pjit":
            return {"jaxpr": {place: place for place in range(count)}}
    return {}


def _in_order(atoms: list[str], kept: Collection[int] | None = None) -> list[str]:
    """Constants in an order of their own, then all else; of operands only those that are `kept` may change places."""
    moved = {place for place, one in enumerate(atoms) if one.startswith(CONSTANT) and (kept is None or place in kept)}
    rest = [one for place, one in enumerate(atoms) if place not in moved]
    return [*sorted(atoms[place] for place in moved), *rest]


def _atom(atom: Any, names: dict[int, str]) -> str:
    if hasattr(atom, "val"):
        return _shown(atom.val)
    return f"{names.setdefault(id(atom), f'v{len(names)}')}:{atom.aval}"


def _shown(value: Any) -> str:
    """Exact for arrays and numbers; for the rest Python's own words without addresses."""
    if isinstance(value, bool | int | float | np.generic | np.ndarray) or hasattr(value, "__array__"):
        array = np.asarray(value)
        return f"{array.dtype}{array.shape}{hashlib.sha256(array.tobytes()).hexdigest()}"
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return ADDRESS.sub("", repr(value))
