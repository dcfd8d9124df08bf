"""An agent that is a person or somebody's editor: writes the prompt to a file; the run waits for `overclock submit`."""

from pathlib import Path

from overclock.files import write_whole
from overclock.recipe.agents.base import Endpoint, Task, Work
from overclock.recipe.agents.tools import WorkFolder

NAMED = 5  # files that the sentence names


class ManualAgent:
    """`run` is how the user calls the run, `logs` the folder in which prompts are kept."""

    name = "manual"

    def __init__(self, *, run: str, logs: Path) -> None:
        self.run, self.logs = run, logs

    def work(self, task: Task, endpoint: Endpoint | None) -> Work:
        """Write the prompt and say what to do; calling it again for the same task changes nothing."""
        prompt = self.logs / f"{task.file_stem}.prompt.md"
        write_whole(prompt, task.prompt.encode())
        names = list(WorkFolder(task.folder).files())
        shown = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
        files = f" (now: {shown})" if names else " (empty now)"
        reason = f"Read {prompt}, edit the files in {task.folder}{files}, then run `overclock submit {self.run}`."
        return Work("waiting", reason)
