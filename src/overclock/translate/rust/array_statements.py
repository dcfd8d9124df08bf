"""Arrays that are made by statements: changed in place, put together, sorted."""

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Let, Operand, Var, bounds
from overclock.translate.rust.elements import brackets, loops
from overclock.translate.rust.index import Place, Places, indexed, region, spread, variable
from overclock.translate.rust.lines import Lines, Nest, Storage, listed
from overclock.translate.rust.reductions import Reductions
from overclock.translate.rust.syntax import rust_type


class Wholes(Reductions):
    """Adds operations on arrays that need statements; each defines a variable."""

    def make(self, let: Let, needed: set[Var]) -> None:
        """Write the statements of an operation; `needed` is read behind it."""
        match let.op:
            case "setitem":
                self._set(let, needed)
            case "stack" | "concatenate":
                self.group(let)
            case "hstack" | "vstack" | "column_stack":
                self.join(let)
            case "pad" if "widths" in let.keywords:
                self._pad(let)
            case "cumsum" if len(let.args[0].type.shape) == 1:
                self._cumsum(let)
            case "sort" | "argsort" | "lexsort" if len(let.out.type.shape) == 1:
                self._sort(let)
            case _:
                raise UnsupportedError(f"the Rust printer has no '{let.op}'")

    def own(self, operand: Operand, out: Var, needed: set[Var]) -> Storage:
        """A variable that may be changed: the array's own if nothing reads it any more, else a copy."""
        storage = self.storage.get(operand) if isinstance(operand, Var) else None
        if storage is None or not storage.changeable or self.in_use(storage, needed):
            storage = self.keep(out, self.whole(operand))
        storage.changed = True
        self.texts[out], self.storage[out] = storage.name, storage
        return storage

    def in_use(self, storage: Storage, needed: set[Var]) -> bool:
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
            index = self.element(operand, places, "int64").text
            checks.append((name, f"{self.helpers.name('inside')}({index}, {length})"))
            return variable(name)

        with self.over(written) as (letters, places):
            inner = indexed(shape, index, dynamic, places, write_place)
            new = self.element(value, spread(places, value.type.shape), base.type.dtype).text
            lines: Lines = [f"{target.name}{brackets(inner)} = {new};"]
            if checks:
                patterns = [f"Some({name})" for name, _ in checks]
                values = [text for _, text in checks]
                head = f"if let {listed(patterns)} = {listed(values)}"
                lines = [Nest(head, lines)]
            self.lines += loops(letters, written, lines)
        for one in copies:
            del self.texts[one]

    def _pad(self, let: Let) -> None:
        (one,) = let.args
        storage = self.blank(let)
        with self.over(one.type.shape) as (letters, places):
            widths = zip(let.keywords["widths"], places, strict=True)
            target = [Place(int(before)).plus(place) for (before, _), place in widths]
            value = self.element(one, places).text
            self.lines += loops(letters, one.type.shape, [f"{storage.name}{brackets(target)} = {value};"])

    def _cumsum(self, let: Let) -> None:
        (one,) = let.args
        storage = self.keep(let.out, self.whole(one, let.out.type.dtype), changed=True)
        step = "wrapping_add" if let.out.type.kind in "iu" else ""
        before, now = f"{storage.name}[i - 1]", f"{storage.name}[i]"
        value = f"{before}.{step}({now})" if step else f"{before} + {now}"
        self.lines.append(Nest(f"for i in 1..{one.type.shape[0]}", [f"{now} = {value};"]))

    def _sort(self, let: Let) -> None:
        """Stable; of several keys the last one counts most."""
        if unknown := set(let.keywords) - {"stable", "kind", "axis"}:
            raise UnsupportedError(f"the Rust printer has no '{let.op}' with '{min(unknown)}'")
        if let.op == "sort":
            storage = self.keep(let.out, self.whole(let.args[0]), changed=True)
            compare = f"sort_by({rust_type(let.out.type.dtype)}::total_cmp)" if let.out.type.kind == "f" else "sort()"
            self.lines.append(f"{storage.name}.{compare};")
            return
        keys = [(self.held(one), one.type.kind) for one in reversed(let.args)]
        storage = self.keep(let.out, "from_fn(|i| i as i64)", changed=True)
        orders = [_order(name, kind) for name, kind in keys]
        order = orders[0] + "".join(f".then_with(|| {one})" for one in orders[1:])
        self.lines.append(f"{storage.name}.sort_by(|a, b| {order});")


def _order(name: str, kind: str) -> str:
    """How two elements compare; zeros of both signs are equal."""
    a, b = (f"{name}[*{which} as usize]" for which in "ab")
    return f"({a} + 0.0).total_cmp(&({b} + 0.0))" if kind == "f" else f"{a}.cmp(&{b})"
