"""Random statements: assignments, changes in place, branches, loops, early exits."""

import dataclasses

from translate.fuzzing.arrays import Values
from translate.fuzzing.expressions import BOOL, DICT, FLOAT, INT, KEYS, LIST, MAYBE, MODE, PAIR, ROWS, SCALARS, Arr

KINDS = {
    "floats": FLOAT, "lists": LIST, "rows": ROWS, "maybe": MAYBE, "dicts": DICT, "modes": MODE, "pairs": PAIR,
}  # fmt: skip


@dataclasses.dataclass
class Node:
    """A statement: a line, or several heads (`if ...:`, `else:`), each with statements below it."""

    text: str = ""
    arms: list[tuple[str, list["Node"]]] = dataclasses.field(default_factory=list)

    def lines(self, indent: int) -> list[str]:
        space = "    " * indent
        if not self.arms:
            return [space + self.text]
        found = []
        for head, body in self.arms:
            found += [space + head, *(line for node in body for line in node.lines(indent + 1))]
            found += [] if body else [f"{space}    pass"]
        return found


class Statements(Values):
    """Writes statements; `loops` says how many loops are around them, `returning` what the function gives."""

    loops, returning = 0, INT

    def kinds(self) -> list:
        """Kinds of values that a program of these features has."""
        found: list = [INT, INT, BOOL, *(kind for feature, kind in KINDS.items() if feature in self.features)]
        found += ["ball", "balls"] if "objects" in self.features else []
        return found + ([self.array_kind()] if self.features & {"arrays", "grids", "small", "views"} else [])

    def block(self, depth: int, least: int = 1, most: int = 3) -> list[Node]:
        """Statements of a scope of their own: names that are new here are gone afterwards."""
        before = dict(self.scope)
        body = [self.statement(depth) for _ in range(self.luck.randint(least, most))]
        self.scope = before
        return body

    def statement(self, depth: int) -> Node:
        deeper = depth > 0
        return self.pick(
            self.assign,
            self.assign,
            self.change,
            self.change,
            self.augment,
            self._swap,
            (lambda: self._if(depth)) if deeper else None,
            (lambda: self._if(depth)) if deeper else None,
            self.on("loops", lambda: self._for(depth)) if deeper else None,
            self.on("whiles", lambda: self._while(depth)) if deeper else None,
            self.on("leaving", self._leave) if depth < 2 else None,
            *self.more_statements(depth),
        )

    def more_statements(self, depth: int) -> list:
        """Further options."""
        raise NotImplementedError

    def ball(self, depth: int = 2) -> str:
        return f"Ball({self.bounded(self.int(1))})"

    def balls(self, depth: int = 2) -> str:
        return f"[{', '.join(self.ball() for _ in range(self.luck.randint(0, 2)))}]"

    # ---- assignment ----

    def assign(self) -> Node:
        if self.chance(0.35):
            return self.new()
        name = self.luck.choice([one for one in self.scope if one not in ("action", "self.t")] or ["self.n"])
        return Node(f"{name} = {self._stored(name, self.scope[name])}")

    def _stored(self, name: str, kind) -> str:
        text = self.of(kind)
        keeps = self.loops or name.startswith("self.")
        return self.bounded(text, kind) if keeps or self.chance(0.5) else text

    def new(self) -> Node:
        """A new local."""
        kind = self.luck.choice(self.kinds())
        name = self.fresh("x")
        text = self._stored(name, kind)
        self.scope[name] = kind
        return Node(f"{name} = {text}")

    def augment(self) -> Node:
        kind = self.luck.choice([one for one in SCALARS if one != BOOL and self.names(one) not in ([], ["action"])])
        name = self.luck.choice([one for one in self.names(kind) if one not in ("action", "self.t")] or ["self.n"])
        kind = self.scope[name]
        if not self.loops and not name.startswith("self."):
            return Node(f"{name} {self.luck.choice(['+=', '-='])} {self.of(kind, 1)}")
        if kind == FLOAT:
            return Node(f"{name} %= {self.luck.choice(['2.0', '3', '-1.5'])}")
        return Node(f"{name} {self.luck.choice(['//= 2', '%= 7', '//= -3', '&= 15', f'^= {self.luck.randint(1, 3)}'])}")

    def _swap(self) -> Node:
        by_kind = [names for kind in self.kinds() if len(names := self._writable(kind)) > 1]
        if not by_kind:
            return self.assign()
        a, b = self.luck.sample(self.luck.choice(by_kind), 2)
        return Node(f"{a}, {b} = {b}, {a}")

    def _writable(self, kind) -> list[str]:
        alike = "aliases" in self.features or kind in (*SCALARS, MAYBE, MODE, PAIR)
        return [one for one in self.names(kind) if one not in ("action", "self.t")] if alike else []

    # ---- in place ----

    def change(self) -> Node:
        """A change of a list, an array or a dict."""
        holders = [(name, kind) for name, kind in self.scope.items() if kind in (LIST, ROWS, DICT, MAYBE)]
        holders += [(name, kind) for name, kind in self.scope.items() if isinstance(kind, Arr)]
        if not holders:
            return self.assign()
        name, kind = self.luck.choice(holders)
        if isinstance(kind, Arr):
            return self._change_array(name, kind)
        return getattr(self, f"_change_{kind}")(name)

    def _change_dict(self, name: str) -> Node:
        key = self.luck.choice(KEYS)
        return Node(f"{name}[{key!r}] = {self.bounded(self.int())}")

    def _change_maybe(self, name: str) -> Node:
        return Node(arms=[(f"if {name} is not None:", [Node(f"{name} = {self.bounded(f'{name} + {self.int(1)}')}")])])

    def _when(self, test: str, text: str) -> Node:
        return Node(arms=[(f"if {test}:", [Node(text)])])

    def _change_array(self, name: str, kind: Arr) -> Node:
        item, size = self._item(kind), kind.shape[0]
        at = self.luck.choice([str(self.luck.randint(-2, 1)), f"{self.int(1)} % {size}"])
        cut = self.luck.choice(["1:", ":2", "::2", ":-1", "::-1"])
        one = (
            at if len(kind.shape) == 1 else self.luck.choice([f"{at}, {self.luck.randint(0, 2)}", at, f":, {at[-1:]}"])
        )
        if kind.of == BOOL:
            return self.pick(
                lambda: Node(f"{name}[{one}] = {self.bool(1)}"),
                lambda: Node(f"{name}[{cut}] = {self.bool(1)}"),
                lambda: Node(f"{name} {self.luck.choice(['|=', '&=', '^='])} {self.array(kind, 1)}"),
            )
        plain = self.luck.choice(["1", "2"])
        return self.pick(
            lambda: Node(f"{name}[{one}] = {item}"),
            lambda: Node(f"{name}[{one}] %= {self.luck.choice(['3', '4'])}"),
            lambda: Node(f"{name}[{cut}] = {item}"),
            lambda: Node(f"{name}[{cut}] -= {plain}") if kind.dtype != "uint8" else Node(f"{name}[{cut}] //= 2"),
            lambda: Node(f"{name} %= {self.luck.choice(['3', '5'])}"),
            lambda: Node(f"{name}[{name} > {self.luck.randint(0, 2)}] = {self.luck.randint(0, 3)}"),
            lambda: Node(f"np.minimum({name}, {plain}, out={name})"),
            lambda: Node(f"{name}.fill({plain})") if self.chance(0.4) else Node(f"{name}.sort()"),
            self.on("views", lambda: self._through_view(name, kind, cut)),
        )

    def _through_view(self, name: str, kind: Arr, cut: str) -> Node:
        view = self.fresh("view")
        taken = self.pick(
            lambda: f"{name}[{cut}]",
            lambda: f"{name}.reshape(-1)",
            lambda: f"{name}.ravel()",
            lambda: f"np.asarray({name})",
            lambda: f"{name}.T",
            (lambda: f"{name}[{self.int(0)} % 2]") if len(kind.shape) > 1 else None,
        )
        change = self.luck.choice([f"{view}[0] = {self._item(kind)}", f"{view} %= 3", f"{view}[-1:] %= 2"])
        return Node(arms=[(f"if {self.bool(1)}:", [Node(f"{view} = {taken}"), Node(change)])])

    # ---- branches, loops, exits ----

    def _if(self, depth: int) -> Node:
        arms = [(f"if {self.bool()}:", self.block(depth - 1))]
        if self.chance(0.3):
            arms.append((f"elif {self.bool()}:", self.block(depth - 1)))
        if self.chance(0.5):
            arms.append(("else:", self.block(depth - 1)))
        return Node(arms=arms)

    def _for(self, depth: int) -> Node:
        before = dict(self.scope)
        head = self._head()
        self.loops += 1
        body = self.block(depth - 1)
        body += [self._stop()] if self.chance(0.3) else []
        body += self.block(depth - 1, 0, 1) if body[-1].arms else []
        self.loops -= 1
        self.scope = before
        arms = [(head, body)]
        if self.chance(0.2):
            arms.append(("else:", self.block(depth - 1, 1, 1)))
        return Node(arms=arms)

    def _head(self) -> str:
        name, at = self.fresh("i"), self.fresh("k")
        numbers = [*self.names(LIST), *self.arrays(of=INT, depth=1)]
        counts = ["3", "action + 1", "6", "2, 5", "4, 0, -1", f"{self.int(1)} % 4"]
        self.scope[name] = INT
        options = [f"for {name} in range({self.luck.choice(counts)}):", f"for {name} in (3, 1, 2):"]
        options += [f"for {name} in {one}:" for one in numbers]
        options += [f"for {name} in {self.luck.choice(['reversed', 'sorted'])}({one}):" for one in self.names(LIST)]
        head = self.luck.choice(options)
        if numbers and self.chance(0.3):
            self.scope[at] = INT
            box = self.luck.choice(numbers)
            head = self.luck.choice(
                [f"for {at}, {name} in enumerate({box}):", f"for {at}, {name} in zip(range(9), {box}):"]
            )
        elif (dicts := self.names(DICT)) and self.chance(0.5):
            head = f"for {name} in {self.luck.choice(dicts)}.values():"
        return head

    def _while(self, depth: int) -> Node:
        name = self.fresh("left")
        self.loops += 1
        body = [Node(f"{name} -= 1"), *self.block(depth - 1)]
        body += [self._stop()] if self.chance(0.4) else []
        self.loops -= 1
        test = f"{name} > 0" + (f" and {self.bool(1)}" if self.chance(0.5) else "")
        arms = [(f"while {test}:", body)] + ([("else:", self.block(depth - 1, 1, 1))] if self.chance(0.2) else [])
        return Node(arms=[("if True:", [Node(f"{name} = {self.int(0)} % 5"), Node(arms=arms)])])

    def _stop(self) -> Node:
        return self._when(self.bool(1), self.luck.choice(["break", "continue"]))

    def _leave(self) -> Node:
        return self._when(self.bool(), f"return {self.of(self.returning, 1)}")
