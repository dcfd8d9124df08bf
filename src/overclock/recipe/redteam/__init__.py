"""Cheating candidates that the judge must catch, every one: `overclock redteam`. One honest candidate must pass.

Names load on first use: a candidate's worker imports this package.
"""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.recipe.redteam.catch import Caught, catch, examine, staged
    from overclock.recipe.redteam.cheats import Cheat, find_cheats
    from overclock.recipe.redteam.court import Court, open_court, practise
    from overclock.recipe.redteam.run import redteam

__all__ = [
    "Caught", "Cheat", "Court", "catch", "examine", "find_cheats", "open_court", "practise", "redteam", "staged",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(["Caught", "catch", "examine", "staged"], "overclock.recipe.redteam.catch"),
        **dict.fromkeys(["Cheat", "find_cheats"], "overclock.recipe.redteam.cheats"),
        **dict.fromkeys(["Court", "open_court", "practise"], "overclock.recipe.redteam.court"),
        "redteam": "overclock.recipe.redteam.run",
    },
)
