"""A run's journal as its steps see it: read back as far as it goes, and written from there on."""

from typing import Any

from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.runs.past import Past
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.work_tree import frozen_tree
from overclock.recipe.runs.writing import write_candidate


class Diary:
    """An event is written when its work is finished, so a kill repeats at most the step under way."""

    def __init__(self, run: Run) -> None:
        self.run, self.journal = run, run.journal
        self.past = Past(run.journal.events())

    def tell(self, kind: str, checked: tuple[str, ...] = (), **facts: Any) -> dict[str, Any]:
        """An event that is there already, saying the same of what is `checked`; or that is written now."""
        known = self.past.take(kind, **{name: facts[name] for name in checked})
        return known if known is not None else self.journal.append(kind, **facts).facts

    def freeze(self, task: str | None) -> Frozen:
        """Hold still what is in the agent's folder; no task: a person changed it."""
        known = self.past.take("candidate frozen", task=task)
        if known is not None:
            return self.frozen(known)
        frozen = frozen_tree(self.run.candidate)
        write_candidate(self.journal, frozen, task)
        return frozen

    def frozen(self, facts: dict[str, Any]) -> Frozen:
        """The candidate that such an event speaks of."""
        return Frozen(facts["candidate"], {path: self.journal.blob(name) for path, name in facts["files"].items()})
