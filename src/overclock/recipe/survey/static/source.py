"""A reference as a user names it -> what it is and which files it is made of.

    resolve("gymnasium:CartPole-v1")    resolve("package.module:Class")    resolve("env.py")    resolve("env.py:Class")
    resolve("node simulator.js")        resolve("rules.md")

Whatever cannot be resolved is said in one sentence. Python sources are read, not run; only a Gymnasium id makes
Gymnasium load the package that registers it.
"""

import dataclasses
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from overclock.errors import MissingError, UsageError
from overclock.recipe.survey.static.definitions import Definition, File
from overclock.recipe.survey.static.other_languages import absolute
from overclock.recipe.survey.static.rule_selection import select_rules
from overclock.recipe.survey.static.source_files import SourceFiles, locations
from overclock.recipe.survey.static.uses import foreign_bases

Kind = Literal["gymnasium", "class", "command", "specification"]
GYMNASIUM = "gymnasium:"
GYMNASIUM_ID = re.compile(r"(?:[\w-]+/)?[A-Za-z][\w.-]*-v\d+")  # CartPole-v1, MinAtar/Breakout-v1
DOCUMENTS = (".md", ".rst", ".txt")
CLASS = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")
FORMS = "package.module:Class, gymnasium:Id, file.py, file.py:Class or a specification (.md)"


@dataclasses.dataclass(frozen=True)
class Source:
    """A reference that was found.

    - `module`, `class_name`: where its class is defined, for the kinds `gymnasium` and `class`;
    - `folder`: what must be on Python's search path to import it, None where it is installed;
    - `arguments`: what its constructor gets, `max_steps` the time limit around it (None: no limit);
    - `files`: the source files that hold its rules.
    """

    text: str
    kind: Kind
    name: str  # a short name for what is made of it
    files: tuple[Path, ...] = ()
    module: str | None = None
    class_name: str | None = None
    folder: Path | None = None
    env_id: str | None = None
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    max_steps: int | None = None
    command: tuple[str, ...] = ()
    document: Path | None = None
    sources: tuple[str, ...] = ()  # rules that are not Python, as other_languages.py reads them


def resolve(
    text: str,
    arguments: Mapping[str, Any] | None = None,
    max_steps: int | None = None,
    sources: Sequence[str] = (),
) -> Source:
    """The reference behind a text; `arguments` go to its constructor, `max_steps` replaces its time limit.

    `sources` are lines in another language that hold the rules which a class only calls.
    """
    found = _resolved(text, arguments, max_steps)
    if sources and found.module is None:
        raise UsageError(f"'{text}' is no Python class that could call other sources; leave --source out.")
    return dataclasses.replace(found, sources=tuple(map(absolute, sources)))


def _resolved(text: str, arguments: Mapping[str, Any] | None, max_steps: int | None) -> Source:
    given = dict(arguments or {})
    if text.startswith(GYMNASIUM):
        return _gymnasium(text, given, max_steps)
    if GYMNASIUM_ID.fullmatch(text):
        return _gymnasium(f"{GYMNASIUM}{text}", given, max_steps)
    path, _, class_name = text.partition(":")
    if path.endswith(".py") and " " not in text.strip():
        return _file(text, Path(path), class_name, given, max_steps)
    if matched := CLASS.fullmatch(text):
        return _class(text, matched[1], matched[2], _here(matched[1]), given, max_steps)
    if given or max_steps is not None:
        raise UsageError(f"'{text}' is no Python class, so it takes neither arguments nor a time limit.")
    if text.lower().endswith(DOCUMENTS) and " " not in text.strip():
        return _specification(text)
    return _command(text)


def _gymnasium(text: str, given: dict[str, Any], max_steps: int | None) -> Source:
    try:
        import gymnasium
    except ImportError as error:
        raise MissingError("A Gymnasium reference needs: pip install 'overclock[gymnasium]'.") from error
    env_id = text.removeprefix(GYMNASIUM)
    try:
        found = gymnasium.spec(env_id)
    except (gymnasium.error.Error, ImportError) as error:
        raise UsageError(f"Gymnasium has no environment '{env_id}': {_sentence(error)}") from error
    arguments = {**found.kwargs, **given}
    limit = found.max_episode_steps if max_steps is None else max_steps
    entry = found.entry_point
    module, class_name = entry.split(":") if isinstance(entry, str) else (None, None)
    if isinstance(entry, type):
        module, class_name = entry.__module__, entry.__qualname__
    if module is None or class_name is None or not _is_class(module, class_name):
        made = _made(gymnasium, env_id, given)  # a function makes it: only calling that tells the class
        module, class_name = made.__module__, made.__qualname__
    source = _class(text, module, class_name, None, arguments, limit)
    return dataclasses.replace(source, kind="gymnasium", env_id=env_id, name=_short(env_id.rpartition("/")[2]))


def _is_class(module: str, name: str) -> bool:
    found = SourceFiles(module).define(module, name)
    return isinstance(found, Definition) and found.kind == "class"


def _made(gymnasium: Any, env_id: str, given: dict[str, Any]) -> type:
    from overclock.recipe.references.gymnasium_spec import close, spec_of  # they need Gymnasium

    try:
        env = gymnasium.make(spec_of(env_id, given), disable_env_checker=True)
    except Exception as error:
        raise UsageError(f"Gymnasium cannot make '{env_id}': {_sentence(error)}") from error
    try:
        return type(env.unwrapped)
    finally:
        close(env)


def _file(text: str, path: Path, class_name: str, given: dict[str, Any], max_steps: int | None) -> Source:
    if not path.is_file():
        raise UsageError(f"There is no file '{path}'.")
    path = path.resolve()
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").is_file():
        folder, parts = folder.parent, [folder.name, *parts]
    module = ".".join(parts)
    if not all(part.isidentifier() for part in parts):
        raise UsageError(f"Python cannot import '{path}': '{module}' is no module's name; rename the file.")
    return _class(text, module, class_name or _only_class(path, module, folder), folder, given, max_steps)


def _here(module: str) -> Path | None:
    """The current folder, where a module lies there and nowhere else; no other process would look there by itself."""
    here, top = Path.cwd(), module.partition(".")[0]
    installed = [place.resolve() for place in locations(top)]
    there = (here / f"{top}.py").is_file() or (here / top).is_dir()
    return here if there and (not installed or installed[0] == here) else None


def _only_class(path: Path, module: str, folder: Path) -> str:
    """The class of a file that looks like an environment: it has `reset` and `step`, and no other is made from it."""
    program, file = SourceFiles(module, folder), File(path, module)
    found = {
        name
        for name, one in file.definitions.items()
        if one.kind == "class" and all(program.method(one, method) for method in ("reset", "step"))
    }
    bases = {
        base.qualified
        for name in found
        for base in list(program.bases(file.definitions[name]))[1:]
        if base.file.path == path
    }
    leaves = sorted(found - bases)
    if not leaves:
        raise UsageError(f"No class in '{path}' has the methods reset and step.")
    if len(leaves) > 1:
        choices = " or ".join(f"{path.name}:{name}" for name in leaves)
        raise UsageError(f"'{path}' has several environments; write {choices}.")
    return leaves[0]


def _class(
    text: str, module: str, class_name: str, folder: Path | None, arguments: dict[str, Any], max_steps: int | None
) -> Source:
    program = SourceFiles(module, folder)
    file = program.file(module)
    if file is None:
        raise UsageError(f"'{text}' is not there: Python finds no source file for the module '{module}'.")
    cls = program.define(module, class_name)
    if not isinstance(cls, Definition) or cls.kind != "class":
        classes = [one.qualified for one in file.definitions.values() if one.kind == "class"]
        there = f"it has {', '.join(classes)}" if classes else "it defines no class"
        raise UsageError(f"'{text}' is not there: {file.path.name} has no class '{class_name}'; {there}.")
    missing = [name for name in ("reset", "step") if program.method(cls, name) is None]
    if missing and not any(foreign_bases(program, one) for one in program.bases(cls)):
        raise UsageError(f"'{text}' is no environment: {cls.qualified} has no method {' and no '.join(missing)}.")
    if max_steps is not None and max_steps < 1:
        raise UsageError(f"A time limit is at least one step, got {max_steps}.")
    kept = select_rules(program, cls.file.module, cls.qualified)
    return Source(
        text=text,
        kind="class",
        name=_short(cls.qualified.removesuffix("Env") or cls.qualified),
        files=tuple(file.path for file in kept.files),
        module=cls.file.module,
        class_name=cls.qualified,
        folder=folder,
        arguments=arguments,
        max_steps=max_steps,
    )


def _specification(text: str) -> Source:
    path = Path(text)
    try:
        written = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The specification '{text}' cannot be read: {_sentence(error)}") from error
    if not written.strip():
        raise UsageError(f"The specification '{text}' is empty.")
    path = path.resolve()
    return Source(text=text, kind="specification", name=_short(path.stem), files=(path,), document=path)


def _command(text: str) -> Source:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"'{text}' is no command: {_sentence(error)}") from error
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"'{text}' names no reference; a reference is {FORMS} that this machine has.")
    return Source(text=text, kind="command", name=_short(Path(words[-1]).stem), command=tuple(words))


def _short(name: str) -> str:
    """A name as folders and modules have it: 'FrozenLake8x8-v1' -> 'frozen_lake8x8'."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", re.sub(r"-v\d+$", "", name)).lower()
    clean = re.sub(r"\W+", "_", snake).strip("_") or "environment"
    return clean if clean[0].isalpha() else f"env_{clean}"


def _sentence(error: BaseException) -> str:
    said = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return said if said.endswith(".") else f"{said}."
