"""The statistics of level 4: what numbers from two implementations show, what they do not, and how many would.

docs/statistics.md says which question each one answers. Names load on first use: the bound on clean episodes needs
no SciPy, the rest needs the extra `report`.
"""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.verify.statistics.bounds import bound_clean_episodes, episodes_needed
    from overclock.verify.statistics.equivalence import (
        tost_paired,
        tost_paired_summary,
        tost_welch,
        tost_welch_summary,
    )
    from overclock.verify.statistics.margin import Margin, aa_noise, default_margin
    from overclock.verify.statistics.power import group_size_needed, pairs_needed, power_paired, power_welch
    from overclock.verify.statistics.sequential import look_sizes, looks_alpha
    from overclock.verify.statistics.verdict import Equivalence, Verdict
    from overclock.verify.statistics.visitation import Visitation, compare_visitation
    from overclock.verify.statistics.win_rates import WinRates, compare_win_rates, compare_win_rates_of_policies

__all__ = [
    "Equivalence", "Margin", "Verdict", "Visitation", "WinRates", "aa_noise", "bound_clean_episodes",
    "compare_visitation", "compare_win_rates", "compare_win_rates_of_policies", "default_margin", "episodes_needed",
    "group_size_needed", "look_sizes", "looks_alpha", "pairs_needed", "power_paired",
    "power_welch", "tost_paired", "tost_paired_summary", "tost_welch", "tost_welch_summary",
]  # fmt: skip

_HERE = "overclock.verify.statistics"
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(["bound_clean_episodes", "episodes_needed"], f"{_HERE}.bounds"),
        **dict.fromkeys(
            ["tost_paired", "tost_paired_summary", "tost_welch", "tost_welch_summary"],
            f"{_HERE}.equivalence",
        ),
        **dict.fromkeys(["Margin", "aa_noise", "default_margin"], f"{_HERE}.margin"),
        **dict.fromkeys(["group_size_needed", "pairs_needed", "power_paired", "power_welch"], f"{_HERE}.power"),
        **dict.fromkeys(["look_sizes", "looks_alpha"], f"{_HERE}.sequential"),
        **dict.fromkeys(["Equivalence", "Verdict"], f"{_HERE}.verdict"),
        **dict.fromkeys(["Visitation", "compare_visitation"], f"{_HERE}.visitation"),
        **dict.fromkeys(["WinRates", "compare_win_rates", "compare_win_rates_of_policies"], f"{_HERE}.win_rates"),
    },
)
