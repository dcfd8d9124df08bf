"""Blocks of statements, one after the other.

`return`, `break` and `continue` are flags of the active call; statements behind one that may have left run under the
condition that it has not.
"""

import ast
import functools
from typing import Any

from overclock.recording.errors import AlwaysRaisesError, UnsupportedError
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.values import Pick
from overclock.translate.python.flow.branches import branch
from overclock.translate.python.frames import RETURNED
from overclock.translate.python.machine import Machine
from overclock.translate.python.operators.options import from_options
from overclock.translate.python.operators.truth import chosen_flag, read_flag
from overclock.translate.python.statements.simple import run_raise

MOST_LENGTHS = 4  # of lists that one name stands for, each followed on its own


def run(machine: Machine, statements: list[ast.stmt]) -> None:
    """Run statements, the later ones only where none before has left."""
    for at, statement in enumerate(statements):
        _statement(machine, statement)
        if machine.ragged is not None:
            name, machine.ragged = machine.ragged, None
            _split(machine, name, statements[at + 1 :])
            return
        left = _leaving(machine)
        if isinstance(left, Const):
            if left.value:
                return
            continue
        rest = statements[at + 1 :]
        if rest:
            branch(machine, left, lambda: None, functools.partial(machine.run, rest))
        return


def _split(machine: Machine, name: str, rest: list[ast.stmt]) -> None:
    """A local that is one of several lists of different lengths: the rest is run once for each length."""
    value = machine.locals[name]
    assert isinstance(value, Pick)
    lengths = sorted({len(one) for one in value.options})

    def choose(left: list[int]) -> None:
        mine = [len(one) == left[0] for one in value.options]
        stand_in = value.options[mine.index(True)]
        options = tuple(one if here else stand_in for one, here in zip(value.options, mine, strict=True))

        def run_rest() -> None:
            machine.locals[name] = from_options(machine, value.index, options)
            machine.run(rest)

        if len(left) == 1:
            run_rest()
        else:
            flag = chosen_flag(machine, mine, value.index)
            branch(machine, flag, run_rest, lambda: choose(left[1:]), f"len({name}) == {left[0]}")

    choose(lengths)


def _statement(machine: Machine, node: ast.stmt) -> None:
    machine.store.journal.enter(machine.frame.source.place(node))
    try:
        machine.execute(node)
    except AlwaysRaisesError as error:
        if machine.trying:
            raise UnsupportedError(f"an exception decides what happens next: {error.reason}", error.place) from error
        run_raise(machine, node)


def _leaving(machine: Machine) -> Operand:
    left = read_flag(machine, RETURNED)
    depth = machine.frame.depth
    if depth:
        left = machine.builder.logical("or", left, read_flag(machine, f"$broken{depth}"))
        left = machine.builder.logical("or", left, read_flag(machine, f"$continued{depth}"))
    return left


def lengths_of(options: tuple[Any, ...]) -> set[int]:
    """The lengths that one of several constant lists or tuples can have."""
    if not all(isinstance(one, list | tuple) for one in options):
        return set()
    return {len(one) for one in options}
