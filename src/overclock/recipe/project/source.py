"""What `overclock translate SOURCE` translates: a project that exists, or a new one that is made of a reference."""

from collections.abc import Callable
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.project.new import BUILT_IN, new_project
from overclock.recipe.project.project import FILE, AgentChoice, Project, Target, load_project
from overclock.recipe.survey.static.source import resolve
from overclock.recording.errors import UnsupportedError
from overclock.translate.program import Program

STOPPED = "A compiler of Python to JAX stopped at {}. Everything before it was plain; this place needs your thought."


def find_or_make_project(
    source: str, target: Target | None, agent: str | None, fallback: str | None, say: Callable[[str], None]
) -> tuple[Project, Program | None]:
    """The project of a folder, or a new one in ./NAME of a reference; and its translation by the built-in translator.

    There is a translation where that made the project just now. `fallback` is the agent of a new project whose
    reference the built-in translator refuses.
    """
    if (Path(source) / FILE).is_file():
        return load_project(Path(source)), None
    if Path(source).is_dir():
        raise UsageError(f"'{source}' is no project: it has no {FILE}; `overclock new` makes one.")
    folder = Path(resolve(source).name)
    if (folder / FILE).is_file():
        raise UsageError(f"'{folder}' is a project already; go on with it: `overclock translate {folder}`.")
    if folder.is_dir() and any(folder.iterdir()):
        elsewhere = f"`overclock new FOLDER --reference {source} --agent {agent or BUILT_IN}`"
        raise UsageError(
            f"The project would be made in '{folder}', which is not empty; make it elsewhere: {elsewhere}, then "
            "`overclock translate FOLDER`."
        )
    try:
        made = new_project(folder, source, target, AgentChoice(agent or BUILT_IN))
    except UnsupportedError as refusal:
        if fallback is None:
            raise UnsupportedError(f"{refusal}; --fallback AGENT hands it to a coding agent.") from refusal
        say(f"The built-in translator stops at {refusal}; {fallback} goes on.")
        made = new_project(folder, source, target, AgentChoice(fallback, note=STOPPED.format(refusal)))
    return made.project, made.program
