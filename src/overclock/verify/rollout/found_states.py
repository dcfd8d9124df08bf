"""Level 3 from states that play rarely comes to: the reference searches for branches, both sides go on from there.

Each found state begins a short episode on both sides, whose first step is the one that took the branch. It is compared
one step at a time, and free running where the contract demands equality for whole episodes.
"""

from collections.abc import Sequence

from overclock.verify.contract import Mode, Twin
from overclock.verify.reach.counts import SearchCounts
from overclock.verify.reach.ledger import Ledger
from overclock.verify.reach.subject_search import FoundStates
from overclock.verify.rollout.lockstep import compare_from
from overclock.verify.rollout.result import RolloutResult
from overclock.verify.sides.pair import Sides

SEARCH = "search"  # the call of a reference
TRIES, SECONDS = 3072, 45.0
STEPS = 16  # of an episode from a found state
LANES = 64


def check_found(
    sides: Sides, twin: Twin, modes: Sequence[Mode], seed: int, timeout: float, ledger: Ledger | None = None
) -> tuple[FoundStates | None, list[RolloutResult]]:
    """What the search found, and a comparison per mode; nothing where the reference cannot search."""
    if not twin.traced:
        return None, []
    with sides.reference(1) as reference:
        if SEARCH not in reference.description.get("calls", ()):
            return None, []
        answer = reference.ask(SEARCH, seed=seed, tries=TRIES, seconds=min(SECONDS, timeout / 2), steps=STEPS)
    found = FoundStates(**{**answer, "counts": SearchCounts(**answer["counts"])})
    if not len(found.seeds):
        return found, []
    with sides.pair(twin.strictest, min(LANES, len(found.seeds)), traced=False) as pair:
        results = [compare_from(found, *pair, twin, mode, twin.strictest, ledger) for mode in modes]
    return found, results
