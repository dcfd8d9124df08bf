"""Random expressions of the translator's subset, by the kind of value they give.

Floats are multiples of small powers of two, so that every operation on them is exact on both sides, and a comparison
cannot fall the other way because of a rounding.
"""

import dataclasses
import random

INT, FLOAT, BOOL, MAYBE, MODE, PAIR, LIST, ROWS, DICT = (
    "int", "float", "bool", "maybe", "mode", "pair", "list", "rows", "dict",
)  # fmt: skip
SCALARS = (INT, FLOAT, BOOL)
FEATURES = (
    "floats", "arrays", "grids", "small", "lists", "rows", "maybe", "tables", "dicts", "modes", "pairs", "helpers",
    "loops", "whiles", "draws", "views", "aliases", "comprehensions", "leaving", "walrus", "functions", "objects",
    "leaking", "retyped", "nested", "listgrids", "deques", "tuples", "spots", "counts", "scalars",
)  # fmt: skip
KEYS = ("a", "b", "c")
DTYPES = ("int64", "float64", "bool")
SMALL_DTYPES = ("int8", "uint8", "int32", "float32")


@dataclasses.dataclass(frozen=True)
class Arr:
    """The kind of an array."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def of(self) -> str:
        """What its items are like."""
        return {"b": BOOL, "f": FLOAT}.get(self.dtype[0], INT)


class Expressions:
    """Writes expressions over the names in scope: `scope` maps a name (`x`, `self.x`) to its kind."""

    def __init__(self, luck: random.Random, features: set[str]) -> None:
        self.luck, self.features = luck, features
        self.scope: dict[str, object] = {}
        self.helpers: list[tuple[str, tuple[object, ...]]] = []
        self._fresh = 0

    def fresh(self, prefix: str) -> str:
        self._fresh += 1
        return f"{prefix}{self._fresh}"

    def chance(self, share: float) -> bool:
        return self.luck.random() < share

    def pick(self, *options):
        """One of several functions, called."""
        return self.luck.choice([one for one in options if one])()

    def on(self, feature: str, option):
        """An option that only some programs have."""
        return option if feature in self.features else None

    def names(self, kind) -> list[str]:
        return [name for name, known in self.scope.items() if known == kind]

    def arrays(self, *, of=None, depth=None) -> list[str]:
        found = [(name, kind) for name, kind in self.scope.items() if isinstance(kind, Arr)]
        return [
            name
            for name, kind in found
            if (of is None or kind.of == of) and (depth is None or len(kind.shape) == depth)
        ]

    def array_kind(self) -> Arr:
        dtypes = DTYPES + (SMALL_DTYPES if "small" in self.features else ())
        sizes = [(3,), (4,)] + ([(2, 3), (3, 3)] if "grids" in self.features else [])
        return Arr(self.luck.choice(dtypes), self.luck.choice(sizes))

    def more_ints(self, depth: int) -> list:
        """Further options."""
        raise NotImplementedError

    def more_bools(self, depth: int) -> list:
        """Further options."""
        raise NotImplementedError

    # ---- by kind ----

    def of(self, kind, depth: int = 2) -> str:
        """An expression of a kind."""
        if isinstance(kind, Arr):
            return self.array(kind, depth)
        return getattr(self, kind)(depth)

    def _name_or(self, kind, otherwise: str) -> str:
        names = self.names(kind)
        return self.luck.choice(names) if names and self.chance(0.8) else otherwise

    def int(self, depth: int = 2) -> str:
        if depth <= 0:
            return self._name_or(INT, str(self.luck.randint(-3, 6)))
        a = lambda: self.int(depth - 1)  # noqa: E731
        small, size = self.luck.randint(2, 5), self.luck.choice(["len", "count", "sum"])
        return self.pick(
            a,
            a,
            lambda: f"({a()} {self.luck.choice('+-')} {a()})",
            lambda: f"({a()} + {a()} % {small})",
            lambda: f"{a()} * {small}",
            lambda: f"({a()} // {self.luck.choice([-3, -2, 2, 3, 4])})",
            lambda: f"({a()} % {self.luck.choice([-3, 2, 3, 5])})",
            lambda: f"(-{a()})",
            lambda: f"{self.luck.choice(['min', 'max'])}({a()}, {a()})",
            lambda: f"abs({a()})",
            lambda: f"({a()} if {self.bool(depth - 1)} else {a()})",
            lambda: f"int({self.bool(depth - 1)})",
            lambda: f"({a()} {self.luck.choice('&|^')} {small})",
            lambda: f"({a()} + {self.bool(depth - 1)})",
            self.on("floats", lambda: f"int({self.float(depth - 1)})"),
            self.on("draws", lambda: self.draw(INT)),
            self.on("tables", lambda: f"TABLE[{a()} % 4]"),
            self.on("tables", lambda: f"NESTED[{a()} % 3][{a()} % 2]"),
            self.on("tables", lambda: f"LOOKUP.get({a()}, {small})"),
            self._from(self.names(LIST), lambda name: self._of_list(name, size, depth)),
            self._from(self.names(LIST), lambda name: f"({name}[{a()} % len({name})] if {name} else {small})"),
            self._from(self.names(ROWS), lambda name: f"sum(row[{small % 2}] for row in {name})"),
            self._from(self.names(MAYBE), lambda name: f"({small} if {name} is None else {name})"),
            self._from(self.names(MAYBE), lambda name: f"({name} or {small})"),
            self._from(self.names(MODE), lambda name: f"MODES.index({name})"),
            self._from(self.names(PAIR), lambda name: f"{name}[{small % 2}]"),
            self._from(self.names(DICT), lambda name: f"{name}[{self.luck.choice(KEYS)!r}]"),
            self._from(self.arrays(of=INT, depth=1), lambda name: f"int({name}[{a()} % {self._size(name)}])"),
            self._from(self.arrays(of=INT, depth=2), lambda name: f"int({name}[{a()} % 2, {a()} % 3])"),
            self._from(self.arrays(of=INT), lambda name: f"int({name}.{self.luck.choice(['sum', 'max', 'argmin'])}())"),
            self._from(self.arrays(of=BOOL), lambda name: f"int(np.count_nonzero({name}))"),
            self._from(self.arrays(of=FLOAT, depth=1), lambda name: f"int(np.argmax({name}))"),
            self._from(self.helpers, self._call),
            *self.more_ints(depth),
        )

    def _from(self, names, write):
        """An option that needs something to work with."""
        return (lambda: write(self.luck.choice(names))) if names else None

    def _size(self, name: str) -> int:
        return self.scope[name].shape[0]  # pyright: ignore[reportAttributeAccessIssue]

    def _of_list(self, name: str, what: str, depth: int) -> str:
        return f"{name}.count({self.int(depth - 1)})" if what == "count" else f"{what}({name})"

    def _call(self, helper: tuple[str, tuple[object, ...]]) -> str:
        name, kinds = helper
        return f"self.{name}({', '.join(self.of(kind, 1) for kind in kinds)})"

    def float(self, depth: int = 2) -> str:
        if depth <= 0:
            return self._name_or(FLOAT, str(self.luck.choice([-1.5, -0.25, 0.0, 0.5, 1.0, 2.75])))
        a, i = lambda: self.float(depth - 1), lambda: self.int(depth - 1)
        return self.pick(
            a,
            lambda: f"({a()} {self.luck.choice('+-')} {a()})",
            lambda: f"({a()} {self.luck.choice('+-')} {i()})",
            lambda: f"{a()} * {self.luck.choice([0.5, -2, 0.25])}",
            lambda: f"({a()} / {self.luck.choice([2, -4, 0.5])})",
            lambda: f"({i()} / 4)",
            lambda: f"({a()} % {self.luck.choice([-1.5, 2, 3.0])})",
            lambda: f"({a()} // {self.luck.choice([-2, 0.5])})",
            lambda: f"{self.luck.choice(['min', 'max'])}({a()}, {i()})",
            lambda: f"abs({a()})",
            lambda: f"float({i()})",
            lambda: f"float(np.{self.luck.choice(['floor', 'ceil', 'sign', 'round'])}({a()}))",
            lambda: f"math.floor({a()}) * 1.5",
            lambda: f"({a()} if {self.bool(depth - 1)} else {a()})",
            lambda: f"np.clip({a()}, -2.0, {self.luck.choice(['2.0', '3'])})",
            self.on("draws", lambda: self.draw(FLOAT)),
            self.on("small", lambda: f"np.float32({a()} % 4.0) * {self.luck.choice(['0.5', '2'])}"),
            self._from(self.arrays(of=FLOAT, depth=1), lambda name: f"{name}[{i()} % {self._size(name)}]"),
            self._from(self.arrays(of=FLOAT), lambda name: f"{name}.{self.luck.choice(['sum', 'max', 'min'])}()"),
        )

    def bool(self, depth: int = 2) -> str:
        if depth <= 0:
            return self._name_or(BOOL, f"({self._name_or(INT, 'action')} > {self.luck.randint(0, 3)})")
        a, i = lambda: self.bool(depth - 1), lambda: self.int(depth - 1)
        sign = lambda: self.luck.choice(["<", "<=", ">", ">=", "==", "!="])  # noqa: E731
        return self.pick(
            lambda: f"({i()} {sign()} {i()})",
            lambda: f"({i()} {sign()} {i()} {sign()} {self.luck.randint(0, 4)})",
            lambda: f"({a()} {self.luck.choice(['and', 'or'])} {a()})",
            lambda: f"(not {a()})",
            lambda: f"({i()} in ({self.luck.randint(0, 2)}, {self.luck.randint(1, 5)}))",
            lambda: f"bool({i()})",
            self.on("floats", lambda: f"({self.float(depth - 1)} {sign()} {self.float(depth - 1)})"),
            self.on("draws", lambda: f"({self.draw(FLOAT)} < 0.5)"),
            self.on("tables", lambda: f"({i()} in LOOKUP)"),
            self._from(self.names(LIST), lambda name: f"({i()} {self.luck.choice(['in', 'not in'])} {name})"),
            self._from(self.names(LIST), lambda name: f"{self.luck.choice(['any', 'all'])}(v > {i()} for v in {name})"),
            self._from(self.names(MAYBE), lambda name: f"({name} is {self.luck.choice(['', 'not '])}None)"),
            self._from(self.names(MAYBE), lambda name: f"({name} == {i()})"),
            self._from(self.names(MODE), lambda name: f"({name} {self.luck.choice(['==', '!='])} 'right')"),
            self._from(self.names(PAIR), lambda name: f"({name} {sign()} ({i()}, {i()}))"),
            self._from(self.names(ROWS), lambda name: f"([{i()}, {i()}] in {name})"),
            self._from(
                self.arrays(of=INT), lambda name: f"({name} {sign()} {i()}).{self.luck.choice(['any', 'all'])}()"
            ),
            self._from(self.arrays(of=BOOL), lambda name: f"bool({name}.{self.luck.choice(['any', 'all'])}())"),
            *self.more_bools(depth),
        )

    def maybe(self, depth: int = 2) -> str:
        return self.pick(
            lambda: "None", lambda: self.int(depth), lambda: f"({self.int(1)} if {self.bool(1)} else None)"
        )

    def mode(self, depth: int = 2) -> str:
        return self.pick(
            lambda: repr(self.luck.choice(["left", "right", "up"])),
            lambda: f"MODES[{self.int(1)} % 3]",
            lambda: f"('left' if {self.bool(1)} else {self._name_or(MODE, repr('up'))})",
        )

    def pair(self, depth: int = 2) -> str:
        names = self.names(PAIR)
        return self.pick(
            lambda: f"({self.bounded(self.int(1))}, {self.bounded(self.int(1))})",
            self._from(names, lambda name: f"({name}[1], {name}[0])"),
            self._from(names, lambda name: name),
        )

    def list(self, depth: int = 2) -> str:
        names = self.names(LIST)
        item = lambda: self.int(1)  # noqa: E731
        return self.pick(
            lambda: f"[{', '.join(item() for _ in range(self.luck.randint(0, 4)))}]",
            lambda: f"[{item()}] * {self.luck.randint(1, 3)}",
            self._from(names, lambda name: f"list({name})"),
            self._from(names, lambda name: f"{name}[:]"),
            self._from(names, lambda name: f"sorted({name})"),
            self._from(names, lambda name: f"{name}[::-1]"),
            self._from(names, lambda name: f"{name}[{self.luck.choice(['1:', ':2', ':-1', '-2:'])}]"),
            self._from(names, lambda name: f"({name} + [{item()}])[-5:]"),
            self.on("comprehensions", self._comprehension),
        )

    def _comprehension(self) -> str:
        source = self._name_or(LIST, f"range({self.luck.choice(['4', 'action + 1', '6'])})")
        self.scope["v"] = INT
        text = f"[{self.bounded(self.int(1))} for v in {source}"
        text += f" if {self.bool(1)}]" if self.chance(0.5) else "]"
        del self.scope["v"]
        return text

    def rows(self, depth: int = 2) -> str:
        return f"[{', '.join(f'[{self.int(1)}, {self.int(1)}]' for _ in range(self.luck.randint(0, 3)))}]"

    def dict(self, depth: int = 2) -> str:
        return "{" + ", ".join(f"{key!r}: {self.bounded(self.int(1))}" for key in KEYS) + "}"
