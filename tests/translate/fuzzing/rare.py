"""Random programs, continued: what is written less often. Aliases, objects, functions, searches, odd assignments."""

from translate.fuzzing.boxes import Boxes
from translate.fuzzing.expressions import BOOL, DICT, FLOAT, INT, LIST, MAYBE, PAIR, ROWS, Arr
from translate.fuzzing.statements import Node

SIGNS = ("<", ">", "<=", "==", "!=")


class Rarities(Boxes):
    """Everything."""

    # ---- expressions ----

    def more_ints(self, depth: int) -> list:
        a = lambda: self.int(depth - 1)  # noqa: E731
        lists, rows, dicts = self.names(LIST), self.names(ROWS), self.names(DICT)
        sign, small = self.luck.choice(SIGNS), self.luck.randint(1, 4)
        turn = self.luck.choice(["", ", reverse=True"])
        return [
            *self.box_ints(depth),
            lambda: f"divmod({a()}, {small + 1})[{small % 2}]",
            lambda: f"({a()} % 9) ** 2",
            lambda: f"({a()} >> 1)",
            lambda: f"({a()} and {a()})",
            lambda: f"({a()} or {a()})",
            self.on("walrus", lambda: f"((w := {a()}) + w % 3)"),
            self.on("small", lambda: f"np.int{self.luck.choice([32, 64])}({a()})"),
            self.on("floats", lambda: f"round({self.float(depth - 1)})"),
            self.on("functions", lambda: f"(lambda q: q * 2 + {a()})({a()})"),
            self.on("functions", lambda: f"scaled({a()}, by={small})"),
            self.on("draws", lambda: f"int(self.np_random.permutation(4)[{a()} % 4])"),
            self.on("draws", lambda: "int(self.np_random.choice(5, size=2, replace=False)[1])"),
            self._from(lists, lambda one: f"{self.luck.choice(['min', 'max'])}({one}, default={small})"),
            self._from(lists, lambda one: f"max({one}, key=lambda v: (v % {small + 1}, v), default={a()})"),
            self._from(lists, lambda one: f"sum(sorted({one}, key=lambda v: -v{turn})[:2])"),
            self._from(lists, lambda one: f"len(set({one}))"),
            self._from(lists, lambda one: f"sum(1 for v in {one} if v {sign} {a()})"),
            self._from(lists, lambda one: f"sum({one}[{a()} % 3:])"),
            self._from(lists, lambda one: f"sum({one}[:{a()} % 4])"),
            self._from(lists, lambda one: f"({one}.index({a()}) if {self.int(0)} in {one} else -1)")
            if self.chance(0.3)
            else None,
            self._from(lists, lambda one: f"sum(v * w for v, w in zip({one}, {self.luck.choice(lists)}))"),
            self._from(rows, lambda one: f"sum(p - q for p, q in {one} if p {sign} q)"),
            self._from(rows, lambda one: f"max([r[0] + r[1] for r in {one}], default=0)"),
            self._from(rows, lambda one: f"min({one}, key=lambda r: r[1], default=[{small}, 0])[0]"),
            self._from(dicts, lambda one: f"{one}.get({self.luck.choice(['a', 'z'])!r}, {small})"),
            self._from(dicts, lambda one: f"sum({one}.values())"),
            self._from(dicts, lambda one: f"int(max({one}, key={one}.get) == 'a')"),
            self._from(self.names(PAIR), lambda one: f"abs({one}[0] - {one}[-1])"),
            self._from(self.names("ball"), lambda one: f"{one}.{self.luck.choice(['x', 'size', 'speed()'])}"),
            self._from(self.names("balls"), lambda one: f"sum(ball.x * ball.size for ball in {one})"),
            self._from(
                self.arrays(of=INT, depth=1), lambda one: f"int(np.dot({one}, {one}) % 7 + {one}[[0, 2]].sum())"
            ),
            self._from(self.arrays(depth=2), lambda one: f"int({one}[:, {small % 3}].sum() + {one}[{a()} % 2].max())"),
            self._from(self.arrays(depth=1), lambda one: f"len(np.where({one} > {small % 3})[0])"),
            self._from(self.arrays(depth=2), lambda one: f"int((({one} > 0).sum(axis={small % 2}) {sign} 1).sum())"),
            self._from(
                self.arrays(of=BOOL), lambda one: f"({small} if {one}.flat[0] else {a()})" if self.chance(0.2) else a()
            ),
        ]

    def more_bools(self, depth: int) -> list:
        i = lambda: self.int(depth - 1)  # noqa: E731
        lists = self.names(LIST)
        return [
            lambda: f"({i()} in range({self.luck.choice(['4', '1, 6', '0, 9, 2'])}))",
            lambda: f"({self.bool(depth - 1)} != {self.bool(depth - 1)})",
            lambda: f"({self.bool(depth - 1)} & {self.bool(depth - 1)})",
            lambda: f"(({i()}, {i()}) {self.luck.choice(['in', 'not in'])} ((1, 2), (0, 0), (3, -1)))",
            self._from(lists, lambda one: f"({one} {self.luck.choice(['==', '!=', '<'])} {self.luck.choice(lists)})"),
            self._from(lists, lambda one: f"bool({one})"),
            self._from(lists, lambda one: f"any([v == {i()} for v in {one}])"),
            self._from(self.names(PAIR), lambda one: f"({one} in [({i()}, {i()}), (0, 1)])"),
            self._from(self.arrays(), lambda one: f"np.array_equal({one}, {self.luck.choice(self.arrays())})"),
            self._from(self.arrays(depth=2), lambda one: f"bool(({one} > 1).all(axis=0).any())"),
        ]

    # ---- statements ----

    def more_statements(self, depth: int) -> list:
        return [
            *self.box_changes(),
            self.on("aliases", self._alias),
            self.on("objects", self._object),
            self.on("functions", self._function) if depth else None,
            self.on("leaking", self._leak),
            self._unpack if self.chance(0.5) else None,
            self.on("whiles", self._forever) if depth else None,
            self.on("draws", self._shuffle),
            self.on("retyped", self._retype),
            self._chain,
            self.on("nested", lambda: self._nest(depth)) if depth else None,
        ]

    def _alias(self) -> Node:
        """A second name, which is used at once or later."""
        boxes = [(one, kind) for one, kind in self.scope.items() if kind in (LIST, ROWS, DICT) or isinstance(kind, Arr)]
        if not boxes:
            return self.new()
        name, kind = self.luck.choice(boxes)
        other = self.fresh("also")
        taken = name
        if isinstance(kind, Arr) and self.chance(0.5):
            taken = self.luck.choice(
                [f"{name}[:]", f"{name}[::-1]", f"np.asarray({name})", f"{name}.reshape({kind.shape})"]
            )
        elif kind == LIST and self.chance(0.3):
            taken = f"{name} if {self.bool(1)} else {self.list(1)}"
        self.scope[other] = kind
        return Node(f"{other} = {taken}")

    def _object(self) -> Node:
        names, boxes = self.names("ball"), self.names("balls")
        new = f"Ball({self.bounded(self.int(1))})"
        if not names:
            name = self.fresh("ball")
            self.scope[name] = "ball"
            return Node(f"{name} = {new}")
        name = self.luck.choice(names)
        return self.pick(
            lambda: Node(f"{name}.x = {self.bounded(self.int())}"),
            lambda: Node(f"{name}.move({self.int(1)})"),
            lambda: Node(f"{name} = {new}"),
            self._from(boxes, lambda box: self._when(f"len({box}) < 4", f"{box}.append({new})")),
            self._from(boxes, lambda box: Node(arms=[(f"for ball in {box}:", [Node(f"ball.move({self.int(1)})")])])),
            self._from(
                boxes, lambda box: Node(f"{box} = [ball for ball in {box} if ball.x {self.luck.choice('<>')} 1]")
            ),
            self._from(
                boxes, lambda box: self._when(box, f"{box}[{self.luck.choice(['0', '-1'])}].size = {self.int(1)} % 6")
            ),
            self._from(boxes, lambda box: self._when(box, f"{box}.pop({self.luck.choice(['', '0'])})")),
        )

    def _function(self) -> Node:
        """A function inside, which sees what is around it."""
        name, given = self.fresh("inner"), self.fresh("g")
        before, returning = dict(self.scope), self.returning
        self.scope = {one: kind for one, kind in before.items() if one.startswith("self.")} | {
            given: INT,
            "action": INT,
        }
        body = [self.augment() if self.chance(0.4) else self.change(), Node(f"return {self.bounded(self.int(2))}")]
        self.scope, self.returning = before, returning
        target = self.fresh("x")
        self.scope[target] = INT
        made = Node(arms=[(f"def {name}({given}):", body)])
        return Node(arms=[("if True:", [made, Node(f"{target} = {name}({self.int(1)}) + {name}(1)")])])

    def _leak(self) -> Node:
        """What a branch or a loop assigned is read behind it."""
        name, item = self.fresh("x"), self.fresh("i")
        kind = self.luck.choice([INT, INT, MAYBE, *([FLOAT] if "floats" in self.features else [])])
        first, second = self._stored(name, kind), self._stored(name, kind)
        self.scope[name] = kind
        if self.chance(0.5):
            return Node(
                arms=[(f"if {self.bool()}:", [Node(f"{name} = {first}")]), ("else:", [Node(f"{name} = {second}")])]
            )
        inner = [Node(f"{name} = {first}"), self._when(f"{item} > {self.int(0)}", "break")]
        return Node(arms=[(f"for {item} in range({self.luck.choice(['3', '1 + action', '5'])}):", inner)])

    def _unpack(self) -> Node:
        a, b = self.fresh("x"), self.fresh("x")
        text = self.pick(
            lambda: f"{self.bounded(self.int(1))}, {self.bounded(self.int(1))}",
            self._from(self.names(PAIR), lambda one: one),
            self._from(
                self.names(LIST), lambda one: f"(*{one}, 1, 2)[:2]" if self.chance(0.2) else f"len({one}), sum({one})"
            ),
            self._from(self.arrays(of=INT, depth=1), lambda one: f"{one}[:2].tolist()"),
        )
        self.scope |= {a: INT, b: INT}
        return Node(f"{a}, {b} = {text}")

    def _forever(self) -> Node:
        name = self.fresh("left")
        self.loops += 1
        body = [Node(f"{name} += 1"), *self.block(0, 0, 2)]
        stop = self._when(
            f"{name} > {self.luck.choice(['action', '3'])}" + self.luck.choice(["", f" or {self.bool(1)}"]), "break"
        )
        self.loops -= 1
        body.insert(self.luck.randint(1, len(body)), stop)
        return Node(arms=[("if True:", [Node(f"{name} = {self.int(0)} % 3"), Node(arms=[("while True:", body)])])])

    def _shuffle(self) -> Node:
        boxes = [one for one, kind in self.scope.items() if isinstance(kind, Arr) and len(kind.shape) == 1]
        if not boxes:
            return Node(f"self.n = int(self.np_random.permutation([2, 4, 8])[{self.int(1)} % 3])")
        return Node(f"self.np_random.shuffle({self.luck.choice(boxes)})")

    def _retype(self) -> Node:
        """A number that is an int at times, and a float or a bool at others."""
        names = [one for one in self.names(INT) if one.startswith("self.s")]
        if not names or "floats" not in self.features:
            return self.assign()
        name = self.luck.choice(names)
        self.scope[name] = FLOAT
        return Node(f"{name} = {self.bounded(self.luck.choice([self.float(1), self.int(1)]), FLOAT)}")

    def _chain(self) -> Node:
        names = [one for one in self.names(INT) if one not in ("action", "self.t")]
        a, b = (self.luck.choice(names) if names else "self.n" for _ in range(2))
        return Node(f"{a} = {b} = {self.bounded(self.int(2))}")

    def _nest(self, depth: int) -> Node:
        """A loop in a loop over what the outer one goes through."""
        lists = self.names(LIST)
        a, b = self.fresh("i"), self.fresh("i")
        box = self.luck.choice(lists) if lists else "range(action)"
        before = dict(self.scope)
        self.scope |= {a: INT, b: INT}
        self.loops += 1
        body = [self.statement(0), self._stop()] if self.chance(0.5) else [self._stop(), self.statement(0)]
        inner = Node(arms=[(f"for {b} in {self.luck.choice([box, f'range({a})', 'range(5)'])}:", body)])
        outer = [inner, self._stop()] if self.chance(0.4) else [inner]
        self.loops -= 1
        self.scope = before
        return Node(arms=[(f"for {a} in {box}:", outer)])
