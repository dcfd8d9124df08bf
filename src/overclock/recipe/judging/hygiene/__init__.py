"""Is a candidate what it claims to be? Its source is read, its programs are looked at, its files are held still.

What passes here is not shown to be right (that is `overclock.verify`), only to be of the kind that can be judged: pure
functions that compute their results from their inputs. Names load on first use.
"""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.recipe.judging.hygiene.finding import Finding, Limits
    from overclock.recipe.judging.hygiene.frozen import Frozen, Seal, freeze, unchanged, unpack
    from overclock.recipe.judging.hygiene.inspection import inspect_candidate, inspector_spec
    from overclock.recipe.judging.hygiene.judge import judge_inspection
    from overclock.recipe.judging.hygiene.static import check_source

__all__ = [
    "Finding", "Frozen", "Limits", "Seal", "check_source", "freeze", "inspect_candidate", "inspector_spec",
    "judge_inspection", "unchanged", "unpack",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(["Finding", "Limits"], "overclock.recipe.judging.hygiene.finding"),
        **dict.fromkeys(["Frozen", "Seal", "freeze", "unchanged", "unpack"], "overclock.recipe.judging.hygiene.frozen"),
        **dict.fromkeys(["inspect_candidate", "inspector_spec"], "overclock.recipe.judging.hygiene.inspection"),
        "judge_inspection": "overclock.recipe.judging.hygiene.judge",
        "check_source": "overclock.recipe.judging.hygiene.static",
    },
)
