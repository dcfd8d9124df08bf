"""Random expressions that give arrays, random draws, and what keeps numbers small."""

from translate.fuzzing.expressions import BOOL, FLOAT, INT, LIST, Arr, Expressions

TOP = {"int8": 40, "uint8": 90}  # what is stored in small integers


class Values(Expressions):
    """Expressions of every kind."""

    def bounded(self, text: str, kind=INT) -> str:
        """A number that stays small however often it is computed from itself."""
        if isinstance(kind, Arr):
            return self._bounded_array(text, kind)
        if kind == INT:
            return f"({text}) % {self.luck.choice([5, 11, 23])} - {self.luck.choice([0, 1, 4])}"
        if kind == FLOAT:
            return f"math.floor(4.0 * ({text})) / 4.0 % {self.luck.choice(['4.0', '6.5'])} - 2.0"
        return text

    def _bounded_array(self, text: str, kind: Arr) -> str:
        if kind.of == FLOAT:
            return f"np.clip(np.floor(({text}) * 4) / 4, -6.0, 6.0).astype(np.{kind.dtype})"
        if kind.of == INT and kind.dtype == "int64":
            return f"({text}) % {self.luck.choice([5, 9])} - 2"
        return text

    def draw(self, kind) -> str:
        """A random number; floats are multiples of 1/4, and sums with them exact."""
        if kind == FLOAT:
            return self.pick(
                lambda: "np.floor(4 * self.np_random.random()) / 4",
                lambda: "np.round(4 * self.np_random.uniform(-1.0, 2.0)) / 4",
                lambda: f"np.round(2 * self.np_random.normal({self.float(0)}, 0.5)) / 4",
            )
        return self.pick(
            lambda: f"int(self.np_random.integers({self.luck.randint(2, 5)}))",
            lambda: f"self.np_random.integers(-1, {self.luck.randint(2, 4)})",
            lambda: "int(self.np_random.integers(1 + action, 7))",
            lambda: "self.np_random.choice(3)",
            lambda: "int(self.np_random.choice([2, 5, 7], p=[0.25, 0.5, 0.25]))",
            self._from(self.names(LIST), lambda name: f"(int(self.np_random.choice({name})) if {name} else 1)"),
        )

    def array(self, kind: Arr, depth: int = 2) -> str:
        """An array of exactly a kind."""
        names = self.names(kind)
        if depth <= 0:
            return self.luck.choice(names) if names and self.chance(0.8) else self._new(kind)
        a = lambda: self.array(kind, depth - 1)  # noqa: E731
        return self.pick(
            a,
            lambda: self._new(kind),
            lambda: f"np.where({self.array(Arr('bool', kind.shape), depth - 1)}, {a()}, {a()})",
            lambda: f"{self._owned(a())}[::-1].copy()",
            lambda: f"np.roll({a()}, {self.luck.choice(['1', '-1', self.int(0)])}, axis=0)",
            lambda: f"({a()} if {self.bool(1)} else {a()})",
            self._from(names, lambda name: f"{name}.copy()"),
            (lambda: self._flags(kind, depth)) if kind.of == BOOL else None,
            (lambda: self._arithmetic(kind, depth)) if kind.of != BOOL else None,
            (lambda: f"{self._owned(a())}.T.copy()") if len(kind.shape) == 2 and len(set(kind.shape)) == 1 else None,
            self.on("draws", lambda: self._drawn(kind)),
        )

    def _owned(self, text: str) -> str:
        return text if text.isidentifier() or text.startswith("self.") else f"({text})"

    def _new(self, kind: Arr) -> str:
        if kind.of == BOOL:
            return f"np.zeros({kind.shape}, bool)"
        count = len(range(kind.shape[0]))
        listed = f"np.array([{', '.join(self._item(kind) for _ in range(count))}], dtype=np.{kind.dtype})"
        return self.pick(
            lambda: f"np.zeros({kind.shape}, np.{kind.dtype})",
            lambda: f"np.full({kind.shape}, {self._item(kind)}, dtype=np.{kind.dtype})",
            (lambda: listed) if len(kind.shape) == 1 else None,
            (lambda: f"np.arange({count}).astype(np.{kind.dtype})") if len(kind.shape) == 1 else None,
        )

    def _item(self, kind: Arr) -> str:
        """A number that fits into an array of a kind."""
        if kind.dtype in TOP:
            return f"({self.int(1)}) % {TOP[kind.dtype]}"
        return self.of(kind.of, 1)

    def _flags(self, kind: Arr, depth: int) -> str:
        others = [Arr(one.dtype, one.shape) for one in self.scope.values() if isinstance(one, Arr)]
        others = [one for one in others if one.shape == kind.shape and one.of != BOOL]
        a = lambda: self.array(kind, depth - 1)  # noqa: E731
        sign = self.luck.choice(["<", "<=", ">", "==", "!="])
        return self.pick(
            lambda: f"({a()} {self.luck.choice('&|^')} {a()})",
            lambda: f"(~{a()})",
            self._from(others, lambda one: f"({self.array(one, depth - 1)} {sign} {self.int(1)} % 5)"),
            self._from(others, lambda one: f"({self.array(one, depth - 1)} {sign} {self.array(one, 0)})"),
        )

    def _arithmetic(self, kind: Arr, depth: int) -> str:
        a = lambda: self.array(kind, depth - 1)  # noqa: E731
        small = self.luck.randint(1, 3)
        return self.pick(
            lambda: f"({a()} {self.luck.choice('+-')} {a()})",
            lambda: f"({a()} + {small})",
            lambda: f"{a()} * {small}",
            lambda: f"({a()} % {small + 1})",
            lambda: f"({a()} // {small + 1})",
            lambda: f"np.{self.luck.choice(['minimum', 'maximum'])}({a()}, {small})",
            lambda: f"np.abs({a()})",
            lambda: f"np.clip({a()}, 0, {small})",
            (lambda: f"np.cumsum({a()}).astype(np.{kind.dtype})") if len(kind.shape) == 1 else None,
            (lambda: f"({a()} * 0.5).astype(np.{kind.dtype})") if kind.of == FLOAT else None,
            (lambda: f"np.sort({a()})") if len(kind.shape) == 1 else None,
        )

    def _drawn(self, kind: Arr) -> str:
        drawn = f"self.np_random.integers(0, 5, size={kind.shape})"
        if kind.of == FLOAT:
            drawn = f"np.floor(8 * self.np_random.random({kind.shape})) / 4"
        return f"({drawn} > 1)" if kind.of == BOOL else f"({drawn}).astype(np.{kind.dtype})"
