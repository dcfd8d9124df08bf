"""Random programs, continued: boxes and how they change. Lists, deques, lists of lists and of tuples, None or an array,
tables with whole-number keys, NumPy's own scalars.
"""

from translate.fuzzing.expressions import FLOAT, INT
from translate.fuzzing.statements import Node, Statements

GRID, DEQUE, TUPLES, SPOT, COUNTS, WORD, NARROW = "grid", "deque", "tuples", "spot", "counts", "word", "narrow"
SIZE = 3  # rows and columns of a grid
FEATURES = {
    "listgrids": (GRID,), "deques": (DEQUE,), "tuples": (TUPLES,), "spots": (SPOT,), "counts": (COUNTS,),
    "scalars": (WORD, NARROW),
}  # fmt: skip
SHOWN = {
    GRID: "sum((i + 2) * (2 * r[0] + 3 * r[1] + r[2]) for i, r in enumerate({0}))",
    DEQUE: "sum((i + 2) * v for i, v in enumerate({0}))",
    TUPLES: "sum((i + 2) * (2 * p + q) for i, (p, q) in enumerate({0}))",
    SPOT: "(-9 if {0} is None else 2 * {0}[0] + {0}[1])",
    COUNTS: "({0}[0] + 2 * {0}[1] + 3 * {0}[2])",
    WORD: "float({0})",
    NARROW: "float({0})",
}


class Boxes(Statements):
    """Expressions and statements about them."""

    def kinds(self) -> list:
        return super().kinds() + [kind for one, kinds in FEATURES.items() if one in self.features for kind in kinds]

    # ---- new ones ----

    def grid(self, depth: int = 2) -> str:
        row = lambda: f"[{', '.join(self.bounded(self.int(1)) for _ in range(SIZE))}]"  # noqa: E731
        return self.pick(
            lambda: f"[{', '.join(row() for _ in range(SIZE))}]",
            lambda: f"[[{self.int(0)}] * {SIZE} for _ in range({SIZE})]",
            lambda: f"[[i * {self.int(0)} % 5 for i in range({SIZE})] for j in range({SIZE})]",
            self._from(self.names(GRID), lambda one: f"[row[:] for row in {one}]"),
            self._from(self.names(GRID), lambda one: f"[list(row) for row in zip(*{one})]"),
        )

    def deque(self, depth: int = 2) -> str:
        return f"deque([{', '.join(self.bounded(self.int(1)) for _ in range(self.luck.randint(0, 3)))}])"

    def tuples(self, depth: int = 2) -> str:
        pair = lambda: f"({self.bounded(self.int(1))}, {self.bounded(self.int(1))})"  # noqa: E731
        return self.pick(
            lambda: f"[{', '.join(pair() for _ in range(self.luck.randint(0, 3)))}]",
            self._from(self.names(TUPLES), lambda one: f"sorted({one})"),
            self._from(self.names(TUPLES), lambda one: f"[(q, p) for p, q in {one}]"),
        )

    def spot(self, depth: int = 2) -> str:
        new = f"np.array([{self.bounded(self.int(1))}, {self.bounded(self.int(1))}])"
        return self.pick(lambda: "None", lambda: new, lambda: f"({new} if {self.bool(1)} else None)")

    def counts(self, depth: int = 2) -> str:
        return "{" + ", ".join(f"{key}: {self.bounded(self.int(1))}" for key in range(SIZE)) + "}"

    def word(self, depth: int = 2) -> str:
        a = lambda: self._name_or(WORD, f"np.int64({self.int(1)})")  # noqa: E731
        return self.pick(
            a,
            lambda: f"np.int64({self.bounded(self.int(1))})",
            lambda: f"({a()} * 3 + {self.int(1)}) % np.int64(7)",
            lambda: f"(-{a()}) // np.int64(2) % 50",
            self._from(self.arrays(of=INT, depth=1), lambda one: f"np.int64({one}[0]) % 40"),
        )

    def narrow(self, depth: int = 2) -> str:
        a = lambda: self._name_or(NARROW, f"np.float32({self.float(0)})")  # noqa: E731
        return self.pick(
            a,
            lambda: f"np.float32({self.bounded(self.float(1), FLOAT)})",
            lambda: f"np.float32(({a()} * 0.5 + {self.int(0)}) % 4)",
            lambda: f"np.float32(np.floor({a()} * {self.luck.choice(['2', '2.0'])}) % 5)",
        )

    # ---- in expressions ----

    def box_ints(self, depth: int) -> list:
        a = lambda: self.int(depth - 1)  # noqa: E731
        small = self.luck.randint(0, 2)
        return [
            self._from(self.names(GRID), lambda one: f"{one}[{a()} % 3][{a()} % 3]"),
            self._from(self.names(GRID), lambda one: f"{one}[-1][-1 - {a()} % 3]"),
            self._from(self.names(GRID), lambda one: f"sum({one}[{a()} % 3])"),
            self._from(self.names(GRID), lambda one: f"sum(max(row) for row in {one})"),
            self._from(self.names(GRID), lambda one: f"sum(row.count({a()}) for row in {one})"),
            self._from(self.names(GRID), lambda one: f"int(np.array({one})[:, {small}].sum())"),
            self._from(self.names(DEQUE), lambda one: f"({one}[{small - 1}] if len({one}) > 1 else {small})"),
            self._from(self.names(DEQUE), lambda one: f"len({one})"),
            self._from(self.names(TUPLES), lambda one: f"sum(p * q for p, q in {one})"),
            self._from(self.names(TUPLES), lambda one: f"(max({one})[0] if {one} else {small})"),
            self._from(self.names(TUPLES), lambda one: f"len([p for p, q in {one} if p < q])"),
            self._from(self.names(TUPLES), lambda one: f"int(({a()}, {a()}) in {one})"),
            self._from(self.names(SPOT), lambda one: f"({small} if {one} is None else int({one}[{a()} % 2]))"),
            self._from(self.names(SPOT), lambda one: f"(int({one}.sum()) if {one} is not None else {small})"),
            self._from(self.names(COUNTS), lambda one: f"{one}[{a()} % 3]"),
            self._from(self.names(COUNTS), lambda one: f"{one}.get({a()}, {small})"),
            self._from(self.names(COUNTS), lambda one: f"sum(k * v for k, v in {one}.items())"),
            self._from(self.names(WORD), lambda one: f"({one} {self.luck.choice('+-')} {a()})"),
            self._from(self.names(WORD), lambda one: f"int({one} / 2)"),
            self._from(self.names(NARROW), lambda one: f"int({one} * 2)"),
            self._from(self.arrays(of=INT, depth=1), lambda one: f"int({one}[-1 - {a()} % 3])"),
        ]

    # ---- changed ----

    def box_changes(self) -> list:
        item, at = self.bounded(self.int(1)), f"{self.int(1)} % 3"
        return [
            self._from(self.names(GRID), lambda one: self._change_grid(one, item, at)),
            self._from(self.names(DEQUE), lambda one: self._change_deque(one, item)),
            self._from(self.names(TUPLES), lambda one: self._change_tuples(one, item)),
            self._from(self.names(SPOT), lambda one: self._change_spot(one, item)),
            self._from(self.names(COUNTS), lambda one: Node(f"{one}[{self.luck.choice(['0', '2', at])}] = {item}")),
            self._from(self.names(WORD), lambda one: Node(f"{one} = ({one} + {self.int(1)}) % np.int64(9)")),
            self._from(self.names(NARROW), lambda one: Node(f"{one} %= {self.luck.choice(['2', 'np.float32(1.5)'])}")),
        ]

    def _change_rows(self, name: str) -> Node:
        row = f"[{self.int(1)}, {self.int(1)}]"
        where = f"{name}[{self.luck.choice(['-1', '0', f'{self.int(0)} % len({name})'])}]"
        return self.pick(
            lambda: self._when(f"len({name}) < 4", f"{name}.append({row})"),
            lambda: self._when(name, f"{where}[{self.luck.randint(0, 1)}] = {self.bounded(self.int(1))}"),
            lambda: self._when(name, f"{name}.pop({self.luck.choice(['', '0'])})"),
            lambda: Node(f"{name} = [row for row in {name} if row[0] {self.luck.choice('<>')} {self.int(1)}]"),
            lambda: Node(
                arms=[(f"for row in {name}:", [Node(f"row[{self.luck.randint(0, 1)}] = {self.bounded('row[1] + 1')}")])]
            ),
            lambda: self._when(name, f"{where} = {row}"),
        )

    def _change_list(self, name: str) -> Node:
        item, at = self.bounded(self.int(1)), f"{self.int(1)} % len({name})"
        return self.pick(
            lambda: self._when(f"len({name}) < 5", f"{name}.append({item})"),
            lambda: self._when(name, f"{name}[{self.luck.choice([at, '0', '-1'])}] = {item}"),
            lambda: self._when(name, f"{name}.pop({self.luck.choice([at, '', '0'])})"),
            lambda: self._when(f"{item} in {name}", f"{name}.remove({item})"),
            lambda: (
                self._when(f"len({name}) < 5", f"{name}.insert({self.luck.choice(['0', '1', '-1', at])}, {item})")
                if "%" not in at or self.chance(0.5)
                else Node(f"{name}.clear()")
            ),
            lambda: self._when(f"len({name}) < 4", f"{name} += [{item}]"),
            lambda: self._when(name, f"del {name}[{self.luck.choice(['0', '-1'])}]"),
            lambda: Node(f"{name}.{self.luck.choice(['sort', 'reverse'])}()"),
            lambda: Node(f"{name}[:1] = [{item}]") if self.chance(0.3) else Node(f"{name} = {name}[-4:]"),
        )

    def _change_grid(self, one: str, item: str, at: str) -> Node:
        row = self.fresh("row")
        return self.pick(
            lambda: Node(f"{one}[{self.luck.randint(-1, 2)}][{at}] = {item}"),
            lambda: Node(f"{one}[{at}][{self.luck.randint(-1, 2)}] = {item}"),
            lambda: Node(arms=[(f"for {row} in {one}:", [Node(f"{row}[{self.luck.choice(['0', at])}] = {item}")])]),
            lambda: Node(f"{one}[{self.luck.randint(0, 2)}] = [1, {item}, {self.int(0)}]"),
            lambda: Node(f"{one}[0], {one}[2] = {one}[2], {one}[0]"),
            lambda: Node(f"{one}.append({one}.pop(0))"),
            lambda: Node(arms=[(f"if {self.bool(1)}:", [Node(f"{row} = {one}[{at}]"), Node(f"{row}[1] = {item}")])]),
        )

    def _change_deque(self, one: str, item: str) -> Node:
        return self.pick(
            lambda: self._when(f"len({one}) < 5", f"{one}.append({item})"),
            lambda: self._when(f"len({one}) < 5", f"{one}.appendleft({item})"),
            lambda: self._when(one, f"{one}.popleft()"),
            lambda: self._when(one, f"{one}.pop()"),
        )

    def _change_tuples(self, one: str, item: str) -> Node:
        pair = f"({item}, {self.bounded(self.int(1))})"
        return self.pick(
            lambda: self._when(f"len({one}) < 4", f"{one}.append({pair})"),
            lambda: self._when(f"{pair} in {one}", f"{one}.remove({pair})"),
            lambda: self._when(one, f"{one}[{self.luck.choice(['0', '-1'])}] = {pair}"),
            lambda: Node(f"{one} = [pq for pq in {one} if pq[0] != {self.int(1)}]"),
            lambda: Node(f"{one}.sort({self.luck.choice(['', 'key=lambda pq: pq[1]', 'reverse=True'])})"),
        )

    def _change_spot(self, one: str, item: str) -> Node:
        return self.pick(
            lambda: self._when(f"{one} is not None", f"{one}[{self.luck.choice(['0', '1'])}] = {item}"),
            lambda: self._when(f"{one} is not None", f"{one} = ({one} + {self.int(1)}) % 5"),
            lambda: Node(f"{one} = None"),
        )
