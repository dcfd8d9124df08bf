"""Tidying a program before it is printed: what nothing needs goes, and what is computed twice is computed once."""

import dataclasses
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from overclock.translate.ir.nodes import Block, Callee, Const, If, Let, Loop, Note, Operand, Var, recast

FOLDED = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "neg": operator.neg,
    "floordiv": operator.floordiv, "mod": operator.mod, "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge, "xor": operator.xor, "rshift": operator.rshift,
    "invert": operator.invert, "and": operator.and_, "or": operator.or_,
}  # fmt: skip
CARRIED = ("carried", "first", "following", "outs")  # the columns of a loop


def copied(block: Block) -> Block:
    """A copy whose statements may be changed; variables are the same."""
    found: Block = []
    for statement in block:
        match statement:
            case If():
                twin = dataclasses.replace(statement, then=copied(statement.then), orelse=copied(statement.orelse))
                twin.outs, twin.yes, twin.no = list(statement.outs), list(statement.yes), list(statement.no)
            case Loop():
                twin = dataclasses.replace(statement, header=copied(statement.header), body=copied(statement.body))
                for name in CARRIED:
                    setattr(twin, name, list(getattr(statement, name)))
            case _:
                twin = dataclasses.replace(statement)
        found.append(twin)
    return found


def replaced(block: Block, instead: dict[Var, Operand]) -> Block:
    """A copy of a block with other operands in the place of some variables."""

    def of(operand: Any) -> Any:
        return instead.get(operand, operand) if isinstance(operand, Var) else operand

    twin = copied(block)
    for statement in twin:
        match statement:
            case Let():
                statement.args = tuple(of(arg) for arg in statement.args)
                if "index" in statement.keywords:
                    statement.keywords = {**statement.keywords, "index": tuple(map(of, statement.keywords["index"]))}
            case If():
                statement.condition = of(statement.condition)
                statement.then, statement.orelse = (
                    replaced(statement.then, instead),
                    replaced(statement.orelse, instead),
                )
                statement.yes, statement.no = [of(one) for one in statement.yes], [of(one) for one in statement.no]
            case Loop():
                statement.first = [of(one) for one in statement.first]
                statement.header, statement.body = (
                    replaced(statement.header, instead),
                    replaced(statement.body, instead),
                )
                statement.test = of(statement.test)
                statement.following = [of(one) for one in statement.following]
    return twin


def lets(block: Block) -> Iterator[Let]:
    """Every operation of a block and of what is inside it, in the order of the program."""
    for one in block:
        match one:
            case Let():
                yield one
            case If():
                yield from lets(one.then)
                yield from lets(one.orelse)
            case Loop():
                yield from lets(one.header)
                yield from lets(one.body)


def live(block: Block, needed: set[Var]) -> set[Var]:
    """Drop what does not lead to `needed`; gives everything that the block itself needs."""
    kept: Block = []
    for statement in reversed(block):
        match statement:
            case Let(out, _, args, _):
                if out not in needed:
                    continue
                needed.discard(out)
                needed.update(arg for arg in args if isinstance(arg, Var))
            case If():
                if not _live_branch(statement, needed):
                    continue
            case Loop():
                if not _live_loop(statement, needed):
                    continue
            case Note():
                pass
        kept.append(statement)
    block[:] = reversed(kept)
    return needed


def _live_branch(branch: If, needed: set[Var]) -> bool:
    used = [at for at, out in enumerate(branch.outs) if out in needed]
    if not used:
        return False
    branch.outs = [branch.outs[at] for at in used]
    branch.yes = [branch.yes[at] for at in used]
    branch.no = [branch.no[at] for at in used]
    needed.difference_update(branch.outs)
    needed |= live(branch.then, _variables(branch.yes))
    needed |= live(branch.orelse, _variables(branch.no))
    needed |= _variables([branch.condition])
    return True


def _live_loop(loop: Loop, needed: set[Var]) -> bool:
    wanted = {at for at, out in enumerate(loop.outs) if out in needed}
    if not wanted:
        return False
    places = {var: at for at, var in enumerate(loop.carried)}
    while True:
        header = live(copied(loop.header), _variables([loop.test]))
        body = live(copied(loop.body), _variables([loop.following[at] for at in wanted]))
        more = {places[var] for var in header | body if var in places}
        if more <= wanted:
            break
        wanted |= more
    used = sorted(wanted)
    for name in CARRIED:
        setattr(loop, name, [getattr(loop, name)[at] for at in used])
    needed.difference_update(loop.outs)
    inside = live(loop.header, _variables([loop.test])) | live(loop.body, _variables(loop.following))
    needed |= inside - set(loop.carried)
    needed |= _variables(loop.first)
    return True


def follow_arguments(block: Block, of: Callable[[Operand], Operand]) -> None:
    """After variables were replaced: what the calls that a block is made of were given, as it is called now."""
    seen: set[Callee] = set()

    def walk(inner: Block) -> None:
        for statement in inner:
            if isinstance(statement, Note):
                continue
            for callee in statement.calls:
                if callee not in seen:
                    seen.add(callee)
                    callee.arguments = {name: list(map(of, given)) for name, given in callee.arguments.items()}
            if isinstance(statement, If):
                walk(statement.then)
                walk(statement.orelse)
            elif isinstance(statement, Loop):
                walk(statement.header)
                walk(statement.body)

    walk(block)


def _variables(operands: list[Operand]) -> set[Var]:
    return {one for one in operands if isinstance(one, Var)}


class Shared:
    """Replaces what was computed already, in this block or in one around it, and what a branch makes certain."""

    def __init__(self) -> None:
        self.instead: dict[Var, Operand] = {}
        self._made: dict[Var, Let] = {}

    def run(self, block: Block, known: dict[Any, Var] | None = None) -> None:
        """Tidy a block and those inside it."""
        known = dict(known or {})
        kept: Block = []
        for statement in block:
            match statement:
                case Let():
                    if self._redundant(statement, known):
                        continue
                case If():
                    self._branch(statement, known)
                    if isinstance(statement.condition, Const):
                        chosen, values = (
                            (statement.then, statement.yes)
                            if statement.condition.value
                            else (statement.orelse, statement.no)
                        )
                        kept += chosen
                        self.instead.update(zip(statement.outs, values, strict=True))
                        continue
                case Loop():
                    statement.first = [self.of(one) for one in statement.first]
                    self._loop(statement, known)
            kept.append(statement)
        block[:] = self._fused(kept)

    def _fused(self, block: Block) -> Block:
        """Branches on one condition, one behind the other, are one branch."""
        found: Block = []
        for statement in block:
            if isinstance(statement, If) and self._fuse(statement, found):
                continue
            found.append(statement)
        return found

    def _fuse(self, second: If, before: Block) -> bool:
        """Put a branch into the last one of `before`, where both hang on one condition."""
        at = len(before) - 1
        while at >= 0 and isinstance(before[at], Let):
            at -= 1
        first = before[at] if at >= 0 else None
        if not isinstance(first, If):
            return False
        made = self._made.get(second.condition) if isinstance(second.condition, Var) else None
        if second.condition is first.condition:
            arms = (
                (first.then, first.yes, second.then, second.yes),
                (first.orelse, first.no, second.orelse, second.no),
            )
        elif made is not None and made.op == "not" and made.args[0] is first.condition:
            arms = (
                (first.then, first.yes, second.orelse, second.no),
                (first.orelse, first.no, second.then, second.yes),
            )
        else:
            return False
        between = [one for one in before[at + 1 :] if isinstance(one, Let)]
        if any(arg in first.outs for let in between for arg in (*let.args, *let.keywords.get("index", ()))):
            return False
        outs = list(first.outs)
        for block, values, more, results in arms:
            instead = dict(zip(outs, values, strict=True))
            block += replaced(more, instead)
            values += [instead.get(one, one) if isinstance(one, Var) else one for one in results]
        first.outs += second.outs
        first.calls = _common(first.calls, second.calls)
        if not first.note and made is None:
            first.note = second.note
        before[at:] = [*between, first]
        return True

    def _redundant(self, let: Let, known: dict[Any, Var]) -> bool:
        """Whether something else stands for a result already."""
        let.args = tuple(self.of(arg) for arg in let.args)
        index = let.keywords.get("index")
        if index is not None:
            let.keywords = {**let.keywords, "index": tuple(self._part(part) for part in index)}
        simple = self._simple(let)
        if simple is not None:
            self.instead[let.out] = simple
            return True
        key = (let.op, tuple(map(_key, let.args)), frozen(let.keywords), let.out.type.dtype)
        if key in known and known[key].type.shape == let.out.type.shape:
            self.instead[let.out] = known[key]
            if let.out.hint and not known[key].hint:
                known[key].hint = let.out.hint
            return True
        known[key] = let.out
        self._made[let.out] = let
        return False

    def _simple(self, let: Let) -> Operand | None:
        """A result that needs no computing."""
        args = let.args
        if let.op in FOLDED and all(isinstance(arg, Const) and not arg.type.shape for arg in args):
            return _folded(let)
        match let.op:
            case "same":
                return args[0]
            case "cast" if isinstance(args[0], Const):
                return recast(args[0], let.keywords["dtype"])
            case "not":
                if isinstance(args[0], Const) and not args[0].type.shape:
                    return Const(not args[0].value)
                inner = self._made.get(args[0]) if isinstance(args[0], Var) else None
                return inner.args[0] if inner is not None and inner.op == "not" else None
            case "ne" if _is_zero(args[1]) and isinstance(args[0], Var):
                made = self._made.get(args[0])  # a flag as a number that is not 0 is the flag
                flag = made is not None and made.op == "cast" and made.args[0].type.dtype == "bool"
                return made.args[0] if flag else None  # pyright: ignore[reportOptionalMemberAccess]
            case "and" | "or" if let.out.type.dtype == "bool" and not let.out.type.shape:
                for one, other in (args, args[::-1]):
                    if isinstance(one, Const):
                        neutral = bool(one.value) == (let.op == "and")
                        return other if neutral else Const(bool(one.value))
                return args[0] if args[0] is args[1] else None
            case "add" if let.out.type.kind == "i":
                for one, other in (args, args[::-1]):
                    if (
                        isinstance(one, Const)
                        and not one.type.shape
                        and one.value == 0
                        and other.type.dtype == let.out.type.dtype
                    ):
                        return other
            case "where" if isinstance(args[0], Const) and not args[0].type.shape:
                chosen = args[1] if args[0].value else args[2]
                return chosen if chosen.type.shape == let.out.type.shape else None
        return None

    def _branch(self, branch: If, known: dict[Any, Var]) -> None:
        branch.condition = self.of(branch.condition)
        for truth, block, name in ((True, branch.then, "yes"), (False, branch.orelse, "no")):
            certain = self._certain(branch.condition, truth)
            before = {var: self.instead.get(var) for var in certain}
            self.instead.update(certain)
            self.run(block, known)
            setattr(branch, name, [self.of(one) for one in getattr(branch, name)])
            for var, old in before.items():
                if old is None:
                    del self.instead[var]
                else:
                    self.instead[var] = old
        self._unify(branch)

    def _certain(self, condition: Operand, truth: bool) -> dict[Var, Operand]:
        """What is known where a condition holds, or does not."""
        if not isinstance(condition, Var):
            return {}
        found: dict[Var, Operand] = {condition: Const(truth)}
        made = self._made.get(condition)
        if made is not None and made.op == "not":
            found |= self._certain(made.args[0], not truth)
        elif made is not None and made.op == ("and" if truth else "or") and not made.out.type.shape:
            for arg in made.args:
                found |= self._certain(arg, truth)
        return found

    def _loop(self, loop: Loop, known: dict[Any, Var]) -> None:
        self.run(loop.header, known)
        loop.test = self.of(loop.test)
        self.run(loop.body, known)
        loop.following = [self.of(one) for one in loop.following]
        self._invariant(loop)

    def _unify(self, branch: If) -> None:
        """Two results of a branch that are always equal are one."""
        seen: dict[Any, Var] = {}
        keep = []
        for at, out in enumerate(branch.outs):
            key = (_key(branch.yes[at]), _key(branch.no[at]), out.type.dtype)
            if _key(branch.yes[at]) == _key(branch.no[at]):
                self.instead[out] = branch.yes[at]
            elif key in seen:
                self.instead[out] = seen[key]
            else:
                seen[key] = out
                keep.append(at)
        for name in ("outs", "yes", "no"):
            setattr(branch, name, [getattr(branch, name)[at] for at in keep])

    def _invariant(self, loop: Loop) -> None:
        """What a loop carries around without changing it is not carried."""
        keep = []
        for at, var in enumerate(loop.carried):
            if loop.following[at] is var:
                self.instead[var] = self.instead[loop.outs[at]] = loop.first[at]
            else:
                keep.append(at)
        if len(keep) == len(loop.carried):
            return
        for name in CARRIED:
            setattr(loop, name, [getattr(loop, name)[at] for at in keep])
        self.run(loop.header)
        self.run(loop.body)
        loop.test = self.of(loop.test)
        loop.following = [self.of(one) for one in loop.following]

    def of(self, operand: Operand) -> Operand:
        """What stands for an operand now."""
        while isinstance(operand, Var) and operand in self.instead:
            operand = self.instead[operand]
        return operand

    def _part(self, part: Any) -> Any:
        return self.of(part) if isinstance(part, Var | Const) else part


def _common(one: tuple[Callee, ...], other: tuple[Callee, ...]) -> tuple[Callee, ...]:
    """The calls that two statements are both inside of."""
    same = itertools.takewhile(lambda pair: pair[0] is pair[1], zip(one, other, strict=False))
    return tuple(callee for callee, _ in same)


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Const) and not operand.type.shape and operand.value == 0


def _folded(let: Let) -> Const | None:
    """The result of an operator on known numbers: printed as it stands, it would be Python's own, not an array."""
    values = [np.asarray(arg.value)[()] for arg in let.args if isinstance(arg, Const)]
    if let.op in ("floordiv", "mod", "truediv") and values[1] == 0:
        return None
    with np.errstate(all="ignore"):
        found = np.asarray(FOLDED[let.op](*values)).astype(let.out.type.dtype)[()]
    return Const(found.item() if let.out.type.python else found)


def _key(operand: Operand) -> Any:
    if isinstance(operand, Var):
        return operand.number
    value = np.asarray(operand.value)
    return (str(value.dtype), value.shape, value.tobytes(), operand.type.python)


def frozen(keywords: dict[str, Any]) -> Any:
    """The static arguments of an operation as something that can be hashed and compared."""
    return tuple(sorted((name, _shown(value)) for name, value in keywords.items()))


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + ",".join(_shown(part) for part in value) + ")"
    if isinstance(value, Var):
        return f"v{value.number}"
    if isinstance(value, Const):
        return str(_key(value))
    return repr(value)
