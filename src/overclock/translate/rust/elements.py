"""Values as Rust expressions: one element at a time, or a whole array."""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Let, Operand, Var, bounds
from overclock.translate.rust.helpers import Helpers
from overclock.translate.rust.index import MOVES, Place, Places, indexed, moved, spread, variable
from overclock.translate.rust.lines import Declaration, Lines, Nest, Storage
from overclock.translate.rust.names import Names, Tables
from overclock.translate.rust.plan import Plan
from overclock.translate.rust.scalars import ELEMENTWISE, TESTS, cast, computed
from overclock.translate.rust.syntax import INDEX_LETTERS, Strength, Text, array_literal, kind_of, literal, rust_type

MOST_LISTED = 8  # elements of an array that are written out in place
MOST_JOINED = 16  # elements of short arrays that are written out where they are put together


class Elements:
    """The expressions of one function's values; what has a variable is read from it, all else is computed in place."""

    def __init__(self, plan: Plan, names: Names, tables: Tables, helpers: Helpers, counts: dict[str, int]) -> None:
        """`counts`: how often each site of a draw happens at most."""
        self.plan, self.names, self.tables, self.helpers, self._counts = plan, names, tables, helpers, counts
        self.texts: dict[Var, str] = {}  # of what has a variable or comes from outside
        self.storage: dict[Var, Storage] = {}  # of arrays
        self.lines: Lines = []
        self.level = 0
        self._letters = 0

    # ---- one element ----

    def element(self, operand: Operand, places: Places, dtype: str | None = None) -> Text:
        """The number at a place of an operand (a number has no places), cast to `dtype` where that is given."""
        if isinstance(operand, Const):
            value = np.asarray(operand.value)
            return self._constant(value.astype(dtype or value.dtype), places)
        if operand in self.texts:
            found = Text(self.texts[operand] + brackets(places))
        else:
            found = self.computed(self.plan.made[operand], places)
        return cast(found, operand.type.dtype, dtype or operand.type.dtype)

    def number(self, operand: Operand, dtype: str | None = None) -> Text:
        return self.element(operand, [], dtype)

    def _constant(self, value: np.ndarray, places: Places) -> Text:
        if all(not place.terms for place in places):
            return literal(value[tuple(place.constant for place in places)], str(value.dtype))
        if (value == value.flat[0]).all():
            return literal(value.flat[0], str(value.dtype))
        if value.dtype == np.int64 and np.array_equal(value, np.arange(len(value))):
            at = places[0].text
            return Text(f"{at if len(at) == 1 else f'({at})'} as i64", Strength.AS)
        text, at = self.array(value), brackets(places)
        # One number with its type tells that of all.
        typed = re.sub(r"(\d[\w.+-]*)", rf"\1_{kind_of(str(value.dtype))}", text, count=1) if text[0] == "[" else text
        return Text(text + at, typed=typed + at if value.dtype != bool else "")

    def computed(self, let: Let, places: Places) -> Text:
        """What an operation gives at a place of its result."""
        op, args, out = let.op, let.args, let.out
        if op in ELEMENTWISE:
            return self._elementwise(let, places)
        if op in MOVES and len(args) == 1:
            return self.element(args[0], moved(op, args[0].type.shape, let.keywords, places, self.tables))
        match op:
            case "roll":
                return self._rolled(let, places)
            case "same":
                return self.element(args[0], places)
            case "cast":
                return self.element(args[0], places, let.keywords["dtype"])
            case "getitem":
                inner = indexed(args[0].type.shape, let.keywords["index"], args[1:], places, self.read_place)
                return self.element(args[0], inner)
            case "draw":
                return self._draw(let, places)
            case "stack" if "several" not in let.keywords and not places[0].terms:
                return self.element(args[places[0].constant], places[1:], out.type.dtype)
            case "stack" | "concatenate":
                self.group(let)
                return self.element(out, places)
        raise UnsupportedError(f"the Rust printer has no '{op}'")

    def _elementwise(self, let: Let, places: Places) -> Text:
        args = let.args
        if let.keywords.get("decimals"):
            raise UnsupportedError(f"the Rust printer has no '{let.op}' to a number of digits")
        if let.op == "where":
            flag = self.element(args[0], spread(places, args[0].type.shape), "bool")
            values = [self.element(one, spread(places, one.type.shape), let.out.type.dtype) for one in args[1:]]
            return computed("where", let.out.type.dtype, [flag, *values], self.helpers)
        # A constant takes the dtype of what it meets, as the program says it.
        dtype = next(one.type.dtype for one in args if isinstance(one, Var))
        texts = [self.element(one, spread(places, one.type.shape), dtype) for one in args]
        small = let.out.low is not None and let.out.high is not None and dtype == "int64"
        last = args[-1]
        known = isinstance(last, Const) and last.type.kind in "iu" and not last.type.shape
        divisor = int(last.value) if known else 0  # pyright: ignore[reportAttributeAccessIssue]
        found = computed(let.op, dtype, texts, self.helpers, small, divisor)
        return cast(found, "bool" if let.op in TESTS else dtype, let.out.type.dtype)

    def _rolled(self, let: Let, places: Places) -> Text:
        base, shift = let.args
        axis = let.keywords.get("axis", 0)
        length = base.type.shape[axis] if isinstance(axis, int) else 0
        if not length or ("axis" not in let.keywords and len(base.type.shape) > 1):
            raise UnsupportedError("the Rust printer has no 'roll' along several axes")
        back = f"{self.number(shift, 'int64').owner}.rem_euclid({length}) as usize"
        at = places[axis].plus(Place(length)).text
        inner = list(places)
        inner[axis] = variable(f"({at} - {back}) % {length}")
        return self.element(base, inner)

    def _draw(self, let: Let, places: Places) -> Text:
        site = let.keywords["site"]
        count = self._counts[site]
        if count > 1:
            places = [self.read_place(let.args[0], [], count), *places]
        return Text(f"draw.{site}{brackets(places)}")

    def read_place(self, operand: Operand, places: Places, length: int) -> Place:
        """The place that an index names; one outside of the array becomes the nearest inside."""
        if isinstance(operand, Const):
            value = np.asarray(operand.value)
            wrapped = np.clip(np.where(value < 0, value + length, value), 0, length - 1).astype(np.int64)
            if all(not place.terms for place in places):
                return Place(int(wrapped[tuple(place.constant for place in places)]))
            return variable(f"{self.tables.name(wrapped, 'usize')}{brackets(places)}")
        if not length:
            raise UnsupportedError("the Rust printer has no places in an array of length 0")
        text = self.element(operand, places, "int64")
        low, _ = bounds(operand)
        if low is not None and low >= 0:
            return variable(f"({text.within(Strength.AS)} as usize).min({length - 1})")
        return variable(f"{self.helpers.name('place')}({text.text}, {length})")

    # ---- whole arrays ----

    def whole(self, operand: Operand, dtype: str | None = None, shape: tuple[int, ...] | None = None) -> str:
        """An operand as one expression, broadcast to `shape` and cast to `dtype` where those are given."""
        shape = operand.type.shape if shape is None else shape
        dtype = dtype or operand.type.dtype
        if not shape:
            return self.number(operand, dtype).text
        if operand.type.shape == shape:
            if isinstance(operand, Const):
                return self.array(np.asarray(operand.value).astype(dtype))
            if operand.type.dtype == dtype and operand in self.texts:
                return self.texts[operand]
            made = self.plan.made.get(operand)
            if made is not None and operand.type.dtype == dtype:
                if made.op in ("stack", "concatenate"):
                    return self.grouped(made)
                if made.op == "draw":
                    return self._draw(made, []).text
        return self.filled(shape, lambda places: self.element(operand, spread(places, operand.type.shape), dtype).text)

    def array(self, value: np.ndarray) -> str:
        """A constant array: in place if it is short, else the name of a table."""
        text = array_literal(value)
        return text if value.size <= MOST_LISTED or (";" in text and len(text) < 40) else self.tables.name(value)

    def grouped(self, let: Let) -> str:
        """Several numbers or arrays as the expression of one array, `[a, b, c]` where that is short."""
        shape, dtype = let.out.type.shape, let.out.type.dtype
        if let.op == "stack" and let.keywords.get("axis", 0) == 0:
            return "[" + ", ".join(self.whole(one, dtype, shape[1:]) for one in let.args) + "]"
        if let.op == "concatenate" and len(shape) == 1 and shape[0] <= MOST_JOINED:
            parts = [self.element(one, [Place(at)], dtype).text for one in let.args for at in range(one.type.shape[0])]
            return "[" + ", ".join(parts) + "]"
        self.join(let)
        return self.texts[let.out]

    def join(self, let: Let) -> None:
        """Define a variable for several arrays behind one another along an axis, each copied to its place."""
        numbers = [np.full(one.type.shape, at) for at, one in enumerate(let.args)]
        static = {name: value for name, value in let.keywords.items() if name != "several"}
        owners = getattr(np, let.op)(numbers, **static)
        storage = self.blank(let)
        for at, one in enumerate(let.args):
            places = np.argwhere(owners == at)
            corner, extent = places.min(0), np.ptp(places, 0) + 1
            with self.over(extent.tolist()) as (letters, turning):
                target = [Place(int(start)).plus(turn) for start, turn in zip(corner, turning, strict=True)]
                source = [turn for turn, length in zip(turning, extent, strict=True) if length > 1]
                if [length for length in one.type.shape if length > 1] != [length for length in extent if length > 1]:
                    raise UnsupportedError(f"the Rust printer has no '{let.op}' like this")
                left = iter(source)
                inner = [Place() if length == 1 else next(left) for length in one.type.shape]
                value = self.element(one, inner, let.out.type.dtype).text
                self.lines += loops(letters, extent.tolist(), [f"{storage.name}{brackets(target)} = {value};"])

    def blank(self, let: Let) -> Storage:
        """Define a variable for a result, full of zeros."""
        zero = literal(0, let.out.type.dtype).text
        for length in reversed(let.out.type.shape):
            zero = f"[{zero}; {length}]"
        return self.keep(let.out, zero, changed=True)

    def group(self, let: Let) -> None:
        """Define a variable for a `stack` or `concatenate`."""
        value = self.grouped(let)
        if let.out not in self.texts:
            self.keep(let.out, value)

    def filled(self, shape: Sequence[int], make: Callable[[Places], str]) -> str:
        """The expression of an array whose elements `make` gives for their places."""
        with self.over(shape) as (letters, places):
            text = make(places)
        for letter, length in zip(reversed(letters), reversed(shape), strict=True):
            used = letter and re.search(rf"\b{letter}\b", text)
            text = f"from_fn(|{letter}| {text})" if used else f"[{text}; {length}]" if length > 1 else f"[{text}]"
        return text

    @contextlib.contextmanager
    def over(self, shape: Sequence[int]) -> Iterator[tuple[list[str], Places]]:
        """Loop variables for the axes of a shape, and the places they name; an axis of length 1 needs none."""
        before = self._letters
        letters = [self.letter() if length > 1 else "" for length in shape]
        yield letters, [variable(letter) if letter else Place() for letter in letters]
        self._letters = before

    def letter(self) -> str:
        """One more variable for a place, inside `over`."""
        self._letters += 1
        return INDEX_LETTERS[self._letters - 1]

    # ---- variables ----

    def keep(self, var: Var, value: str, changed: bool = False) -> Storage:
        """Define a variable for an array; `changed`: the lines that follow change it in place."""
        storage = Storage(self.names.fresh(var.hint), level=self.level, changed=changed)
        self.lines.append(Declaration(storage, rust_type(var.type.dtype, var.type.shape), value))
        self.texts[var], self.storage[var] = storage.name, storage
        return storage

    def held(self, operand: Operand, dtype: str | None = None) -> str:
        """The name of an array; an expression, or an array in another dtype, gets a variable first."""
        dtype = dtype or operand.type.dtype
        if isinstance(operand, Var) and operand in self.texts and operand.type.dtype == dtype:
            return self.texts[operand]
        name = self.names.fresh(operand.hint if isinstance(operand, Var) else "")
        self.lines.append(f"let {name}: {rust_type(dtype, operand.type.shape)} = {self.whole(operand, dtype)};")
        return name


def loops(letters: Sequence[str], shape: Sequence[int], lines: Lines) -> Lines:
    """Lines inside a loop for every axis that has a letter (see `Elements.over`)."""
    for letter, length in zip(reversed(letters), reversed(shape), strict=True):
        lines = [Nest(f"for {letter} in 0..{length}", lines)] if letter else lines
    return lines


def brackets(places: Places) -> str:
    """The index behind the name of an array, '[i][j + 1]' for example."""
    return "".join(f"[{place.text}]" for place in places)
