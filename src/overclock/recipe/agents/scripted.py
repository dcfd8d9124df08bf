"""An agent without a model that follows a script."""

from collections.abc import Callable, Mapping, Sequence

from overclock.recipe.agents.base import Endpoint, Task, Work
from overclock.recipe.agents.tools import ToolError, WorkFolder
from overclock.recipe.gateway.usage import Usage

Files = Mapping[str, str | None]  # path -> content; None removes the file
Script = Mapping[str, Sequence[Files] | Mapping[int, Files]]


class ScriptedAgent:
    """Writes the files that a script has for a task.

    The script is a function of the task, or for each purpose the files of each iteration: a list that starts with
    iteration 0, or a mapping. It remembers nothing, so a resumed run goes on where it stopped.
    """

    name = "scripted"

    def __init__(self, script: Script | Callable[[Task], Files], usage: Usage | None = None) -> None:
        self.script, self.usage = script, usage

    def work(self, task: Task, endpoint: Endpoint | None) -> Work:
        """A task that the script does not know is a crash."""
        files = self._files(task)
        if files is None:
            return Work("crashed", f"The script has nothing for '{task.purpose}' in iteration {task.iteration}.")
        folder = WorkFolder(task.folder)
        try:
            for path, content in files.items():
                folder.remove(path) if content is None else folder.write(path, content)
        except ToolError as error:
            return Work("crashed", str(error))
        return Work("finished", "The script wrote its files.", ", ".join(files), self.usage)

    def _files(self, task: Task) -> Files | None:
        if callable(self.script):
            return self.script(task)
        entries = self.script.get(task.purpose, ())
        if isinstance(entries, Mapping):
            return entries.get(task.iteration)
        return entries[task.iteration] if 0 <= task.iteration < len(entries) else None
