"""Every reachable state and every action of a small finite environment: a proof of equality, where it completes.

Breadth first from the reset: both sides are put into the same state, take the same action, and every contracted field
of the outcome is compared. If all are equal and no state is left, then by induction every episode of any length is
equal; no sampling is involved. It needs discrete actions, a state that is all there is to know (the reference's
`set_state` must restore everything), and few enough states. Nothing is walked beyond an end.

Where a reset or a step draws one number and both sides only compare it, every number that could be drawn is covered,
cell by cell (`cells.py`). Other random steps are taken several times from every state, with draws of the reference's
own: no proof, but no state is left out.

A result calls itself a proof only if the induction holds: the contract compares every state field and every output
exactly, no flag was excused, and the first states are complete. Where cells do not cover a random reset, its outcomes
are those that `reset_seeds` seeds give; they are complete if there are as many as the caller knows there must be. Which
of them the performance side draws how often, when left to itself, is no part of it.
"""

import dataclasses
from typing import Any, cast

from overclock.errors import UsageError
from overclock.verify.contract import Precision, Twin
from overclock.verify.exhaustive.cell_walk import CellWalk, UncoveredError
from overclock.verify.exhaustive.cells import CellSubject
from overclock.verify.exhaustive.result import WalkResult
from overclock.verify.exhaustive.state_walk import StateWalk
from overclock.verify.reach.compared import Compared
from overclock.verify.reach.ledger import Ledger
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.soundness import require_same_actions
from overclock.verify.sides.subject import Subject


def check_exhaustively(
    twin: Twin,
    precision: Precision | None = None,
    num_lanes: int = 256,
    timeout: float = 120.0,
    required: bool = True,
    ledger: Ledger | None = None,
    **limits: Any,
) -> WalkResult | None:
    """Compare every reachable state and action, both sides in their processes; `limits` as in `explore`.

    None, where it is not `required`: there are too many of them after all. The `ledger` hears which branches of the
    reference were taken.
    """
    precision = twin.strictest if precision is None else precision
    with (
        ProcessSubject(twin.reference, num_lanes, "the reference", timeout) as reference,
        ProcessSubject(twin.performance_in(precision), num_lanes, "the performance side", timeout) as performance,
    ):
        if not required and reference.describe()["kind"] != "discrete":
            return None
        found = explore(twin, precision, reference, performance, ledger=ledger, **limits)
    return None if not required and found.verdict == "could not verify" else found


def explore(
    twin: Twin,
    precision: Precision,
    reference: Subject,
    performance: Subject,
    max_states: int = 100_000,
    count_steps: bool = False,
    reset_seeds: int = 256,
    reset_states: int | None = None,
    repeats: int = 1,
    ledger: Ledger | None = None,
) -> WalkResult:
    """Compare two subjects of as many lanes in every reachable state.

    With `count_steps` the step counter is part of the state and the time limit part of the proof; without it every
    state is taken at step 0. `reset_states` says how many outcomes a random reset has, `repeats` how often a step is
    taken where steps are random. Verdicts: `pass`, `fail`, and
    `could not verify` if there are more than `max_states` states or if too many flags were excused near a threshold.
    """
    description = reference.describe()
    if description["kind"] != "discrete" or "players" in description:
        raise UsageError(f"{twin.name} cannot be compared exhaustively: it needs one player and discrete actions.")
    require_same_actions(reference, performance)

    def explored(walk: StateWalk) -> WalkResult:
        with Compared(reference, ledger) as walk.compared:
            walk.reset(reset_seeds)
            return walk.result(walk.walk(max_states), reset_states, max_states)

    uncovered = ""
    if all("cells" in side.describe().get("calls", ()) for side in (reference, performance)):
        try:
            sides = cast(CellSubject, reference), cast(CellSubject, performance)  # they say so
            return explored(CellWalk(twin, precision, *sides, count_steps))
        except UncoveredError as error:
            uncovered = f"no proof: {error}"
    found = explored(StateWalk(twin, precision, reference, performance, count_steps, repeats))
    return dataclasses.replace(found, notes=[*found.notes, uncovered]) if uncovered else found
