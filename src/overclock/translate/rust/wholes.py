"""Arrays that are made by statements: changed in place, put together, sorted."""

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Let, Operand, Var, bounds
from overclock.translate.rust.index import Place, Places, indexed, region, spread, variable
from overclock.translate.rust.lines import Lines, Nest, Storage, listed
from overclock.translate.rust.reductions import Reductions
from overclock.translate.rust.words import literal, rust_type

MOST_JOINED = 16  # elements of short arrays that are written out where they are put together


class Wholes(Reductions):
    """Each operation makes its variable."""

    def make(self, let: Let, needed: set[Var]) -> None:
        """The statements of an operation; `needed` is read behind it."""
        match let.op:
            case "setitem":
                self._set(let, needed)
            case "stack" | "concatenate":
                self.group(let)
            case "hstack" | "vstack" | "column_stack":
                self._joined(let)
            case "pad" if "widths" in let.keywords:
                self._pad(let)
            case "cumsum" if len(let.args[0].type.shape) == 1:
                self._cumsum(let)
            case "sort" | "argsort" | "lexsort" if len(let.out.type.shape) == 1:
                self._sort(let)
            case _:
                raise UnsupportedError(f"the Rust printer has no '{let.op}'")

    def own(self, operand: Operand, out: Var, needed: set[Var]) -> Storage:
        """The variable of an array that is to be changed: its own if nothing reads it any more, else a copy."""
        storage = self.storage.get(operand) if isinstance(operand, Var) else None
        if storage is None or not storage.changeable or self.in_use(storage, needed):
            storage = self.keep(out, self.whole(operand))
        storage.changed = True
        self.texts[out], self.storage[out] = storage.name, storage
        return storage

    def in_use(self, storage: Storage, needed: set[Var]) -> bool:
        """Whether something that is still read lies there."""
        return any(self.storage.get(var) is storage for var in needed)

    def _set(self, let: Let, needed: set[Var]) -> None:
        base, value, *dynamic = let.args
        shape, index = base.type.shape, let.keywords["index"]
        written = region(shape, index, dynamic)
        # Elements that are read while others are written would be read too late: those are copied first.
        late = [one for one in (value, *dynamic) if one in self.plan.made and one.type.shape and written]
        copies = {one: self.held(one) for one in late if self.plan.roots([one]) & self.plan.roots([base])}
        self.texts.update(copies)
        target = self.own(base, let.out, needed)
        checks: list[tuple[str, str]] = []

        def write_place(operand: Operand, places: Places, length: int) -> Place:
            low, high = bounds(operand)
            if isinstance(operand, Const) or (low is not None and high is not None and 0 <= low <= high < length):
                return self.read_place(operand, places, length)
            name = self.letter()
            checks.append(
                (name, f"{self.helpers.name('inside')}({self.element(operand, places, 'int64').text}, {length})")
            )
            return variable(name)

        with self.over(written) as (letters, places):
            inner = indexed(shape, index, dynamic, places, write_place)
            new = self.element(value, spread(places, value.type.shape), base.type.dtype).text
            at = "".join(f"[{place.text}]" for place in inner)
            lines: Lines = [f"{target.name}{at} = {new};"]
            if checks:
                patterns = [f"Some({name})" for name, _ in checks]
                values = [text for _, text in checks]
                head = f"if let {listed(patterns)} = {listed(values)}"
                lines = [Nest(head, lines)]
            for letter, length in zip(reversed(letters), reversed(written), strict=True):
                lines = [Nest(f"for {letter} in 0..{length}", lines)] if letter else lines
        self.lines += lines
        for one in copies:
            del self.texts[one]

    def grouped(self, let: Let) -> str:
        """`[a, b, c]`."""
        shape, dtype = let.out.type.shape, let.out.type.dtype
        if let.op == "stack" and let.keywords.get("axis", 0) == 0:
            return "[" + ", ".join(self.whole(one, dtype, shape[1:]) for one in let.args) + "]"
        if let.op == "concatenate" and len(shape) == 1 and shape[0] <= MOST_JOINED:
            parts = [self.element(one, [Place(at)], dtype).text for one in let.args for at in range(one.type.shape[0])]
            return "[" + ", ".join(parts) + "]"
        self._joined(let)
        return self.texts[let.out]

    def _joined(self, let: Let) -> None:
        """Several arrays behind one another along an axis, each copied to its place."""
        numbers = [np.full(one.type.shape, at) for at, one in enumerate(let.args)]
        static = {name: value for name, value in let.keywords.items() if name != "several"}
        owners = getattr(np, let.op)(numbers, **static)
        storage = self._blank(let)
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
                self._loops(
                    letters, extent.tolist(), f"{storage.name}{''.join(f'[{t.text}]' for t in target)} = {value};"
                )

    def _pad(self, let: Let) -> None:
        """Zeros around an array."""
        (one,) = let.args
        storage = self._blank(let)
        with self.over(one.type.shape) as (letters, places):
            target = [
                Place(int(width[0])).plus(place) for width, place in zip(let.keywords["widths"], places, strict=True)
            ]
            value = self.element(one, places).text
            self._loops(letters, one.type.shape, f"{storage.name}{''.join(f'[{t.text}]' for t in target)} = {value};")

    def _cumsum(self, let: Let) -> None:
        (one,) = let.args
        storage = self.keep(let.out, self.whole(one, let.out.type.dtype))
        storage.changed = True
        step = "wrapping_add" if let.out.type.kind in "iu" else ""
        before, now = f"{storage.name}[i - 1]", f"{storage.name}[i]"
        value = f"{before}.{step}({now})" if step else f"{before} + {now}"
        self.lines.append(Nest(f"for i in 1..{one.type.shape[0]}", [f"{now} = {value};"]))

    def _sort(self, let: Let) -> None:
        """Stable; of several keys the last one counts most."""
        if unknown := set(let.keywords) - {"stable", "kind", "axis"}:
            raise UnsupportedError(f"the Rust printer has no '{let.op}' with '{min(unknown)}'")
        if let.op == "sort":
            storage = self.keep(let.out, self.whole(let.args[0]))
            storage.changed = True
            compare = f"sort_by({rust_type(let.out.type.dtype)}::total_cmp)" if let.out.type.kind == "f" else "sort()"
            self.lines.append(f"{storage.name}.{compare};")
            return
        keys = [(self.held(one), one.type.kind) for one in reversed(let.args)]
        storage = self.keep(let.out, "from_fn(|i| i as i64)")
        storage.changed = True
        orders = [_order(name, kind) for name, kind in keys]
        order = orders[0] + "".join(f".then_with(|| {one})" for one in orders[1:])
        self.lines.append(f"{storage.name}.sort_by(|a, b| {order});")

    def _blank(self, let: Let) -> Storage:
        zero = literal(0, let.out.type.dtype).text
        for length in reversed(let.out.type.shape):
            zero = f"[{zero}; {length}]"
        storage = self.keep(let.out, zero)
        storage.changed = True
        return storage

    def _loops(self, letters: list[str], shape: "tuple[int, ...] | list[int]", line: str) -> None:
        lines: Lines = [line]
        for letter, length in zip(reversed(letters), reversed(shape), strict=True):
            lines = [Nest(f"for {letter} in 0..{length}", lines)] if letter else lines
        self.lines += lines


def _order(name: str, kind: str) -> str:
    """How two elements compare; zeros of both signs are equal."""
    a, b = (f"{name}[*{which} as usize]" for which in "ab")
    return f"({a} + 0.0).total_cmp(&({b} + 0.0))" if kind == "f" else f"{a}.cmp(&{b})"
