"""The abstract interpreter: a machine with the tables of all rules.

`return`, branches, loops and calls of the reference are run on values that are not known yet; what they compute is
emitted as a program. A new construct is one function in one table (and one test in tests/translate/traps).
"""

from overclock.translate.python.expressions import atoms, attributes, calls, comprehensions, logic, subscripts
from overclock.translate.python.functions.calling import call
from overclock.translate.python.functions.running import call_function
from overclock.translate.python.machine import Machine, Rules
from overclock.translate.python.operators.options import from_options
from overclock.translate.python.statements import assignment, branches, loops, simple, writing
from overclock.translate.python.statements.assignment import assign
from overclock.translate.python.statements.blocks import run

RULES = Rules(
    statements={**simple.RULES, **branches.RULES, **loops.RULES, **assignment.RULES, **writing.RULES},
    expressions={
        **atoms.RULES,
        **logic.RULES,
        **calls.RULES,
        **attributes.RULES,
        **subscripts.RULES,
        **comprehensions.RULES,
    },
    run=run,
    assign=assign,
    call=call,
    call_function=call_function,
    from_options=from_options,
)


def new_machine() -> Machine:
    """A machine for one run of a function of the reference."""
    return Machine(RULES)
