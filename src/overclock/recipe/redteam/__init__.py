"""`overclock redteam`: candidates that cheat, which the judge must reject, and an honest one, which must pass."""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.recipe.redteam.catch import Outcome, examine, handed_in
    from overclock.recipe.redteam.cheats import Cheat, find_cheats
    from overclock.recipe.redteam.judges import Judges, prepare_judges
    from overclock.recipe.redteam.run import redteam

__all__ = ["Cheat", "Judges", "Outcome", "examine", "find_cheats", "handed_in", "prepare_judges", "redteam"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(["Outcome", "examine", "handed_in"], "overclock.recipe.redteam.catch"),
        **dict.fromkeys(["Cheat", "find_cheats"], "overclock.recipe.redteam.cheats"),
        **dict.fromkeys(["Judges", "prepare_judges"], "overclock.recipe.redteam.judges"),
        "redteam": "overclock.recipe.redteam.run",
        "Caught": "overclock.recipe.redteam.catch:Outcome",
        "Court": "overclock.recipe.redteam.judges:Judges",
        "open_court": "overclock.recipe.redteam.judges:prepare_judges",
        "staged": "overclock.recipe.redteam.catch:handed_in",
    },
)
