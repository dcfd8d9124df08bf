"""Cheating candidates that the judge must catch, every one: `overclock redteam`. One honest candidate must pass."""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.recipe.redteam.catch import Caught, examine, staged
    from overclock.recipe.redteam.cheats import Cheat, find_cheats
    from overclock.recipe.redteam.court import Court, open_court
    from overclock.recipe.redteam.run import redteam

__all__ = ["Caught", "Cheat", "Court", "examine", "find_cheats", "open_court", "redteam", "staged"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(["Caught", "examine", "staged"], "overclock.recipe.redteam.catch"),
        **dict.fromkeys(["Cheat", "find_cheats"], "overclock.recipe.redteam.cheats"),
        **dict.fromkeys(["Court", "open_court"], "overclock.recipe.redteam.court"),
        "redteam": "overclock.recipe.redteam.run",
    },
)
