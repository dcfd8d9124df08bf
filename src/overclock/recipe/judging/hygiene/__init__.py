"""Hygiene: whether a candidate is of the kind that can be judged, pure functions of their inputs.

Its source is checked without running it (`static` and the rules in `names`, `state` and `shape`), its compiled programs
are inspected in a sandboxed worker (`inspection`, `dynamic`, `judge`), and its files are frozen (`frozen`). Whether it
is right is for `overclock.verify`. Names load on first use.
"""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.recipe.judging.hygiene.finding import Finding, Limits
    from overclock.recipe.judging.hygiene.frozen import Frozen, Seal, freeze, unchanged, unpack
    from overclock.recipe.judging.hygiene.inspection import drawn_batches, inspect_candidate, inspector_spec
    from overclock.recipe.judging.hygiene.judge import judge_inspection
    from overclock.recipe.judging.hygiene.static import check_source

__all__ = [
    "Finding", "Frozen", "Limits", "Seal", "check_source", "drawn_batches", "freeze", "inspect_candidate",
    "inspector_spec", "judge_inspection", "unchanged", "unpack",
]  # fmt: skip

MODULES = {
    "finding": ["Finding", "Limits"], "frozen": ["Frozen", "Seal", "freeze", "unchanged", "unpack"],
    "inspection": ["drawn_batches", "inspect_candidate", "inspector_spec"], "judge": ["judge_inspection"],
    "static": ["check_source"],
}  # fmt: skip
__getattr__, __dir__ = lazy_names(__name__, {name: f"{__name__}.{m}" for m, names in MODULES.items() for name in names})
