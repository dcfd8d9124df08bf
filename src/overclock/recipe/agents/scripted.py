"""Agents without a model: one that follows a script, and two that record an agent's work and repeat it exactly."""

import dataclasses
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from overclock.files import write_whole
from overclock.recipe.agents.base import Agent, Endpoint, Task, Work
from overclock.recipe.agents.tools import ToolError, WorkFolder
from overclock.recipe.usage import Usage

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
        """As `Agent.work`; a task that the script does not know is a crash."""
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


class RecordingAgent:
    """Another agent, whose work on each task is kept in `recording` for a `ReplayAgent`."""

    def __init__(self, agent: Agent, recording: Path) -> None:
        self.agent, self.name, self.recording = agent, agent.name, recording

    def work(self, task: Task, endpoint: Endpoint | None) -> Work:
        """As `Agent.work`."""
        work = self.agent.work(task, endpoint)
        record(self.recording, task, work)
        return work


class ReplayAgent:
    """Repeats recorded work: the folder becomes what it was after the task of the same id, and `Work` is the same."""

    def __init__(self, recording: Path) -> None:
        self.name, self.recording = "replay", recording

    def work(self, task: Task, endpoint: Endpoint | None) -> Work:
        """As `Agent.work`; a task that was not recorded is a crash."""
        place = self.recording / task.file_stem
        try:
            told = json.loads((place / "work.json").read_text())
        except OSError:
            return Work("crashed", f"'{self.recording}' has no recording of the task '{task.id}'.")
        usage = None if told["usage"] is None else Usage(**told["usage"])
        _replace_files(place / "files", task.folder)
        return Work(**{**told, "usage": usage})


def record(recording: Path, task: Task, work: Work) -> None:
    """Keep the state of a task's folder and how the work on it ended."""
    place = recording / task.file_stem
    shutil.rmtree(place, ignore_errors=True)
    (place / "files").mkdir(parents=True)
    _replace_files(task.folder, place / "files")
    write_whole(place / "work.json", json.dumps(dataclasses.asdict(work)).encode())  # last: it makes the record whole


def _replace_files(source: Path, target: Path) -> None:
    """Make the files of `target` the regular files of `source`; git's own stay."""
    for entry in target.iterdir():
        if entry.name == ".git":
            continue
        # A link is removed and never followed: its target may be anywhere.
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    for name in WorkFolder(source).files():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, target / name)
