"""Methods of built-in types and arrays: the kinds of receivers, each with a file and a table of its own."""

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.store import DictCell
from overclock.translate.ir.values import Known, Pick, Ref, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import is_number, is_partial, is_sequence
from overclock.translate.python.methods.arrays import array_method
from overclock.translate.python.methods.constants import constant_method
from overclock.translate.python.methods.dicts import dict_method
from overclock.translate.python.methods.lists import list_method
from overclock.translate.python.operators.options import from_options


def call_method(machine: Machine, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of owner.name(*args, **keywords) where owner is a container, an array or a constant."""
    owner = machine.present(owner)
    if isinstance(owner, Known) and not isinstance(owner.value, np.ndarray | np.generic):
        return constant_method(machine, name, owner, args, keywords)
    if isinstance(owner, Pick):
        every = [one.value for one in args if isinstance(one, Known)]
        if len(every) != len(args) or keywords:
            raise UnsupportedError(f"a method '{name}' of something chosen at run time")
        return from_options(machine, owner.index, [getattr(one, name)(*every) for one in owner.options])
    if is_number(machine, owner) or is_partial(machine, owner):
        return array_method(machine, name, owner, args, keywords)
    if isinstance(owner, Ref) and isinstance(machine.store[owner], DictCell):
        return dict_method(machine, name, owner, args)
    if is_sequence(machine, owner):
        return list_method(machine, name, owner, args, keywords)
    raise UnsupportedError(f"the method '{name}' of a {type(owner).__name__.lower()}")
