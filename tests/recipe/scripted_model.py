"""The story of cartpole_candidates.py told by a scripted model: what it writes for each task of a run."""

import re

from recipe.cartpole_candidates import VERSIONS

from overclock.recipe.gateway import Tokens
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn

TASK = re.compile(r"overclock task: (\S+) -->")


def choose(prompt):
    """The turn for the newest task that a conversation speaks of."""
    tasks = TASK.findall(prompt)
    if not tasks:
        return None
    for name, version in (("translate-", 0), ("repair-1-", 1), ("repair-2-", 2)):
        if name in tasks[-1]:
            return Turn([VERSIONS[version]], text=f"Wrote version {version}.")
    return Turn(text="Nothing to change.")


def teller(candidate):
    """The model; `candidate` is the folder in which its agent works."""
    return ScriptedModel(choose, candidate, Tokens(input=1000, output=100))
