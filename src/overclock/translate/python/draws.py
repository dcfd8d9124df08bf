"""Random draws of the reference: each call of a generator in its source is a *site*, whose numbers come from outside.

What is drawn is the plainest thing from which the value follows: the value itself where the arguments are constants,
else a position, a number in [0, 1), a standard normal or a permutation (`sites.py` records the same from the
live reference).
"""

import ast
import dataclasses
import math
import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import NeedsPlainDrawError, UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Let, Operand, Type, Var
from overclock.translate.ir.values import Known, ListCell, ManyCell, Pack, Ref, Value
from overclock.translate.python.expressions import Expressions

METHODS = {
    "random": "unit", "random_sample": "unit", "rand": "unit", "uniform": "uniform", "integers": "integers",
    "randint": "integers", "randrange": "integers", "random_integers": "integers", "choice": "choice",
    "normal": "normal", "gauss": "normal", "normalvariate": "normal", "standard_normal": "normal", "randn": "normal",
    "shuffle": "shuffle", "permutation": "permutation", "sample": "sample", "choices": "choice",
}  # fmt: skip
LOOP_COUNT = 16  # draws of one site where a loop decides how many
MOST_DRAWS = 1024  # of one site in loops inside loops
PYTHON_FLOATS = (
    "random",
    "uniform",
    "gauss",
    "normalvariate",
    "rand",
    "randn",
    "normal",
    "standard_normal",
    "random_sample",
)


@dataclasses.dataclass
class DrawSite:
    """A call of a generator: where it stands, what it gives, and how often per reset or step at most."""

    name: str
    module: str
    filename: str
    line: int
    column: int
    method: str
    form: str  # value, index, unit, normal, permutation
    shape: tuple[int, ...]
    dtype: str
    arguments: dict[str, Any]
    source: str
    own: bool = False  # from the environment's np_random, in NumPy's own dtype for this method
    count: int = 1


class Draws(Expressions):
    """What generators give."""

    def __init__(self) -> None:
        super().__init__()
        self.sites: dict[str, DrawSite] = {}
        self.plain_sites: set[tuple[str, int, int]] = set()  # drawn with different arguments by different callers
        self._loops: list[tuple[str, int | None]] = []  # around what is run: the source, how many turns at most
        self._counted: set[tuple[str, ...]] = set()  # sites, each with the loops around it, that have got their room
        self.own_generator: Any = None  # the environment's np_random
        self._own = False

    def loop(
        self,
        header: Callable[[], Operand],
        body: Callable[[], None],
        note: str = "",
        most: int | None = None,
        inner_names: frozenset[str] = frozenset(),
    ) -> None:
        """As `Control.loop`; inside, a site draws several times."""
        if not self._loops:
            self._counted.clear()
        self._loops.append((note, most))
        try:
            super().loop(header, body, note, most, inner_names)
        finally:
            self._loops.pop()

    def draw(self, inner: Any, owner: Any, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        """A call of a generator."""
        method = inner.__name__
        kind = METHODS.get(method)
        if method in ("seed", "setstate", "set_state", "getstate", "get_state"):
            return Known(None)
        if kind is None:
            raise UnsupportedError(f"random draws by '{method}'")
        source = _source(owner)
        self._own = owner is self.own_generator and self._static_dtype(keywords) in ("int64", "float64")
        return getattr(self, f"_draw_{kind}")(method, source, [self.present(one) for one in args], keywords, node)

    # ---- kinds of draws ----

    def _draw_unit(
        self, method: str, source: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        size = self._size(args[:1] if method != "rand" else [Pack(tuple(args))] if args else [], keywords)
        return self._float(self._drawn(method, source, node, "unit", size, "float64", {}), method)

    def _float(self, operand: Operand, method: str) -> Value:
        return self.fresh(
            self.builder.cast(operand, operand.type.dtype, not operand.type.shape and method in PYTHON_FLOATS)
        )

    def _size(self, given: list[Value], keywords: dict[str, Value]) -> tuple[int, ...]:
        size = given[0] if given else keywords.get("size", Known(None))
        ok, inner = self.known(size)
        if not ok:
            raise UnsupportedError("random draws of a number that is not known")
        if inner is None:
            return ()
        return (int(inner),) if isinstance(inner, int | np.integer) else tuple(int(one) for one in inner)

    def _draw_uniform(
        self, method: str, source: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        low = args[0] if args else keywords.get("low", Known(0.0))
        high = args[1] if len(args) > 1 else keywords.get("high", Known(1.0))
        (low_known, low_value), (high_known, high_value) = self.known(low), self.known(high)
        size = self._size(args[2:3], keywords)
        if low_known and high_known and not self._is_plain(node):
            size = size or np.broadcast_shapes(np.shape(low_value), np.shape(high_value))
            found = self._drawn(method, source, node, "value", size, "float64", {"low": low_value, "high": high_value})
            return self._float(found, method)
        a, b = self.operand(low), self.operand(high)
        size = size or np.broadcast_shapes(a.type.shape, b.type.shape)
        unit = self._drawn(method, source, node, "unit", size, "float64", {})
        width = self.builder.joined("sub", operator.sub, b, a)
        return self._float(
            self.builder.joined("add", operator.add, a, self.builder.joined("mul", operator.mul, width, unit)), method
        )

    def _draw_normal(
        self, method: str, source: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        if method in ("standard_normal", "randn"):
            size = self._size(args[:1] if method != "randn" else [Pack(tuple(args))] if args else [], keywords)
            return self._float(self._drawn(method, source, node, "normal", size, "float64", {}), method)
        loc = args[0] if args else keywords.get("loc", keywords.get("mu", Known(0.0)))
        scale = args[1] if len(args) > 1 else keywords.get("scale", keywords.get("sigma", Known(1.0)))
        size = self._size(args[2:3], keywords)
        (loc_known, loc_value), (scale_known, scale_value) = self.known(loc), self.known(scale)
        if loc_known and scale_known and not self._is_plain(node):
            size = size or np.broadcast_shapes(np.shape(loc_value), np.shape(scale_value))
            found = self._drawn(
                method, source, node, "value", size, "float64", {"loc": loc_value, "scale": scale_value}
            )
            return self._float(found, method)
        if source not in ("Generator", "RandomState", "numpy.random"):
            raise UnsupportedError(f"random.{method} with arguments that are not known")
        a, b = self.operand(loc), self.operand(scale)
        size = size or np.broadcast_shapes(a.type.shape, b.type.shape)
        normal = self._drawn(method, source, node, "normal", size, "float64", {})
        return self._float(
            self.builder.joined("add", operator.add, a, self.builder.joined("mul", operator.mul, b, normal)), method
        )

    def _draw_integers(
        self, method: str, source: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        low = args[0] if args else keywords.get("low", Known(0))
        high = args[1] if len(args) > 1 else keywords.get("high", keywords.get("stop", Known(None)))
        if isinstance(high, Known) and high.value is None:
            low, high = Known(0), low
        inclusive = (source in ("Random", "random") and method == "randint") or method == "random_integers"
        endpoint = keywords.get("endpoint", Known(False))
        inclusive = inclusive or (isinstance(endpoint, Known) and bool(endpoint.value))
        size = self._size(args[2:3], keywords)
        python = source in ("Random", "random") or (source != "Generator" and not size)
        dtype = self._static_dtype(keywords)
        (low_known, low_value), (high_known, high_value) = self.known(low), self.known(high)
        scalars = low_known and high_known and np.ndim(low_value) == 0 and np.ndim(high_value) == 0
        if scalars and not self._is_plain(node):
            count = int(high_value) - int(low_value) + inclusive
            found = self._drawn(method, source, node, "index", size, "int64", {"n": count})
            if isinstance(found, Var):
                found.low, found.high = 0, count - 1
            if low_value != 0:
                found = self.builder.joined("add", operator.add, found, Const(int(low_value)))
        else:
            a, b = (self.builder.cast(self.operand(one), "int64") for one in (low, high))
            count_operand = self.builder.joined("sub", operator.sub, b, a)
            if inclusive:
                count_operand = self.builder.joined("add", operator.add, count_operand, Const(1))
            size = size or np.broadcast_shapes(a.type.shape, b.type.shape)
            unit = self._drawn(method, source, node, "unit", size, "float64", {})
            found = self.builder.joined("add", operator.add, a, self._position_of_unit(unit, count_operand))
        found = self.builder.cast(found, dtype, python and not size)
        return self.fresh(found)

    def _static_dtype(self, keywords: dict[str, Value]) -> str:
        given = keywords.get("dtype")
        return "int64" if given is None else np.dtype(self.known(given)[1]).name

    def _position_of_unit(self, unit: Operand, count: Operand) -> Operand:
        scaled = self.builder.joined("mul", operator.mul, unit, self.builder.cast(count, "float64"))
        at = self.builder.cast(self.builder.let("floor", np.floor, scaled), "int64")
        if isinstance(at, Var) and not at.type.shape:
            at.low = 0
        return at

    def _draw_choice(
        self, method: str, source: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        box = args[0] if args else keywords.get("a", keywords.get("seq", Known(None)))
        size = () if source in ("Random", "random") else self._size(args[1:2], keywords)
        replace = keywords.get("replace", args[2] if len(args) > 2 else Known(True))
        chance = keywords.get("p", args[3] if len(args) > 3 else Known(None))
        if method == "choices" or "axis" in keywords:
            raise UnsupportedError(f"random draws by '{method}' like this")
        if not isinstance(replace, Known):
            raise UnsupportedError("a choice with or without replacement, which is not known")
        count, get = self._choices(box)
        if size and not replace.value:
            return self._without_replacement(method, source, node, count, size, get, chance)
        at = self._choice_position(method, source, node, count, size, chance)
        python = source in ("Random", "random")
        return self._chosen(box, at, get, size, python)

    def _choices(self, box: Value) -> tuple[Operand, Any]:
        """(how many there are, a function that gives the one at a position)."""
        if isinstance(box, Known) and isinstance(box.value, int | np.integer):
            return Const(int(box.value)), None
        if self.is_number(box) and not self.operand(box).type.shape:
            return self.operand(box), None
        length = self.operand(self.length(box))
        return length, lambda at: self.item(box, at)

    def _choice_position(
        self, method: str, source: str, node: ast.Call, count: Operand, size: tuple[int, ...], chance: Value
    ) -> Operand:
        ok, weights = self.known(chance)
        if isinstance(count, Const) and ok and not self._is_plain(node):
            arguments: dict[str, Any] = {"n": int(count.value)}
            if weights is not None:
                arguments["p"] = [float(one) for one in np.asarray(weights)]
            at = self._drawn(method, source, node, "index", size, "int64", arguments)
            if isinstance(at, Var):
                at.low, at.high = 0, int(count.value) - 1
            return at
        unit = self._drawn(method, source, node, "unit", size, "float64", {})
        if ok and weights is None:
            return self._position_of_unit(unit, count)
        if not isinstance(count, Const):
            raise UnsupportedError("a weighted choice from a list of changing length")
        running = self.builder.let("cumsum", np.cumsum, self.builder.cast(self.operand(chance), "float64"))
        last = self.arrays.getitem(running, (-1,))
        running = self.builder.joined("truediv", operator.truediv, running, last)
        passed = self.builder.joined("le", operator.le, running, unit)
        if size:
            raise UnsupportedError("several weighted choices with weights that are not known")
        at = self.builder.cast(self.builder.let("sum", np.sum, passed), "int64")
        if isinstance(at, Var):
            at.low, at.high = 0, int(count.value) - 1
        return at

    def _chosen(self, box: Value, at: Operand, get: Any, size: tuple[int, ...], python: bool) -> Value:
        if get is None:
            return self.fresh(self.builder.cast(at, "int64", False))
        if not size:
            found = get(number(at))
            if python or not self.is_number(found):
                return self._as_numpy(found) if not python else found
            operand = self.operand(found)  # NumPy gives its own scalars
            return self.fresh(self.builder.cast(operand, operand.type.dtype, False))
        table = self._as_table(box)
        return self.fresh(self.arrays.getitem(table, (at,)))

    def _as_numpy(self, found: Value) -> Value:
        """NumPy turns a list of lists into an array first: what it gives is a row."""
        if self.is_sequence(found):
            return self.fresh(self.operand(found))
        return found

    def _as_table(self, box: Value) -> Operand:
        if isinstance(box, Known) and isinstance(box.value, int | np.integer):
            return Const(np.arange(int(box.value)))
        operand = self.operand(box)
        return self.builder.cast(operand, operand.type.dtype, False)

    def _without_replacement(
        self, method: str, source: str, node: ast.Call, count: Operand, size: tuple[int, ...], get: Any, chance: Value
    ) -> Value:
        if not isinstance(count, Const) or not (isinstance(chance, Known) and chance.value is None):
            raise UnsupportedError("a choice without replacement from a number of things that is not known")
        total, several = int(count.value), int(np.prod(size))
        places = self._drawn(method, source, node, "permutation", (several,), "int64", {"n": total, "k": several})
        if size != (several,):
            places = self.builder.let("reshape", lambda a: np.reshape(a, size), places, shape=size)
        if get is None:
            return self.fresh(places)
        box = get.__closure__[0].cell_contents if get.__closure__ else None
        boxes = [cell.cell_contents for cell in get.__closure__ or () if not isinstance(cell.cell_contents, Draws)]
        del box
        return self.fresh(self.arrays.getitem(self._as_table(boxes[0]), (places,)))

    def _draw_shuffle(
        self, method: str, source: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        box = args[0]
        length = self.known(self.length(box))
        if not length[0]:
            raise UnsupportedError("a shuffle of a list of changing length")
        total = int(length[1])
        places = self._drawn(method, source, node, "permutation", (total,), "int64", {"n": total, "k": total})
        if isinstance(box, Known):
            box = self.mutable(box)  # a constant that is shuffled is none
        if self.is_number(box):
            moved = self.arrays.getitem(self.operand(box), (places,))
            target, steps = (box, ()) if isinstance(box, Ref) else (box.base, box.steps)  # pyright: ignore[reportAttributeAccessIssue]
            self.arrays.assign(self.mutable(target), steps, moved, self.store)
            return Known(None)
        ref = self.mutable(box)
        if isinstance(self.store[ref], ListCell):
            self.arrayify(ref)
        cell = self.many(ref)
        cell.leaves = [self.arrays.getitem(leaf, (places,)) for leaf in cell.leaves]
        self.arrays.forget_items(ref, self.store)
        return Known(None)

    def _draw_permutation(
        self, method: str, source: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        count, get = self._choices(args[0])
        if not isinstance(count, Const):
            raise UnsupportedError("a permutation of a number of things that is not known")
        total = int(count.value)
        places = self._drawn(method, source, node, "permutation", (total,), "int64", {"n": total, "k": total})
        if get is None:
            return self.fresh(places)
        return self.fresh(self.arrays.getitem(self._as_table(args[0]), (places,)))

    def _draw_sample(
        self, method: str, source: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        several = self.known(args[1] if len(args) > 1 else keywords["k"])
        length = self.known(self.length(args[0]))
        if not several[0] or not length[0]:
            raise UnsupportedError("random.sample of a number of things that is not known")
        k, total = int(several[1]), int(length[1])
        places = self._drawn(method, source, node, "permutation", (k,), "int64", {"n": total, "k": k})
        items = [self.item(args[0], number(self.arrays.getitem(places, (at,)))) for at in range(k)]
        return self.store.new(ListCell(items))

    # ---- sites ----

    def _drawn(
        self, method: str, source: str, node: ast.Call, form: str, size: tuple[int, ...], dtype: str,
        arguments: dict[str, Any],
    ) -> Operand:  # fmt: skip
        """The next number of a site."""
        name = self._site(method, source, node, form, size, dtype, arguments)
        drawn = self.store.drawn.get(name, Const(0))
        out = Var(Type(dtype, size))
        self.builder.emit(Let(out, "draw", (drawn,), {"site": name}))
        site = self.sites[name]
        following = self.builder.joined("add", operator.add, drawn, Const(1))
        if self._loops:
            self._count_loops(site)
        if isinstance(following, Const):
            site.count = max(site.count, int(following.value))
        else:
            site.count = max(site.count, LOOP_COUNT)
            over = self.builder.joined("ge", operator.ge, drawn, Const(site.count))
            self.store.overflow = self.logical("or", self.store.overflow, self.builder.cast(over, "bool", True))
        self.store.drawn[name] = self.builder.cast(following, "int64", True)
        return out

    def _count_loops(self, site: DrawSite) -> None:
        """Room for the draws of a site in the loops around it, once for each time they are run."""
        key = (site.name, *(note for note, _ in self._loops))
        if key in self._counted:
            return
        self._counted.add(key)
        turns = math.prod(most for _, most in self._loops if most is not None)
        if any(most is None for _, most in self._loops):
            turns *= LOOP_COUNT
        site.count = max(LOOP_COUNT, site.count + min(turns, MOST_DRAWS))

    def _place(self, node: ast.Call) -> tuple[str, int, int]:
        return self.frame.source.file, node.lineno, node.col_offset

    def _is_plain(self, node: ast.Call) -> bool:
        return self._place(node) in self.plain_sites

    def _site(
        self, method: str, source: str, node: ast.Call, form: str, size: tuple[int, ...], dtype: str,
        arguments: dict[str, Any],
    ) -> str:  # fmt: skip
        module, filename = self.frame.globals.get("__name__", ""), self.frame.source.file
        key = self._place(node)
        for name, site in self.sites.items():
            if (site.filename, site.line, site.column) == key:
                if (site.form, site.shape) != (form, size) or not _same_arguments(site.arguments, arguments):
                    if site.form == form == "unit" and site.shape == size:
                        return name
                    if key not in self.plain_sites and site.shape == size and "permutation" not in (form, site.form):
                        raise NeedsPlainDrawError(key)
                    raise UnsupportedError("one draw is made with different arguments by different callers")
                return name
        name = f"{method}_{node.lineno}"
        while name in self.sites:
            name += "b"
        place = module, filename, node.lineno, node.col_offset
        self.sites[name] = DrawSite(name, *place, method, form, size, dtype, arguments, source, self._own)
        return name

    def many(self, ref: Value) -> ManyCell:
        return super().many(ref)

    def known(self, value: Value) -> tuple[bool, Any]:
        raise NotImplementedError

    def mutable(self, value: Value) -> Ref:
        raise NotImplementedError


def _same_arguments(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[key], b[key]) for key in a)


def _source(owner: Any) -> str:
    if isinstance(owner, np.random.Generator):
        return "Generator"
    if isinstance(owner, np.random.RandomState):
        return "numpy.random" if owner is np.random.mtrand._rand else "RandomState"  # pyright: ignore[reportAttributeAccessIssue]
    return "random" if owner is random._inst else "Random"  # pyright: ignore[reportAttributeAccessIssue]
