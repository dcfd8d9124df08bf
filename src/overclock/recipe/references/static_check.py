"""A reference that an agent wrote from a specification, read before it is run: `check_reference(folder)`.

It may compute and it may draw through `self.np_random`; it has no use for anything else. What is refused here is told
in sentences that say what to write instead.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.judging.hygiene.static import TAKEN
from overclock.recipe.survey.static.definitions import File, dotted

ARRAY_FILES = "load loads save savez savez_compressed savetxt loadtxt genfromtxt fromfile fromregex memmap DataSource"
ENTRY = "reference_env.py"  # not env.py, as candidates and many others call theirs
LIMIT = "MAX_STEPS"  # a constant of the entry: the time limit around the class
LIBRARY = (
    "__future__", "abc", "bisect", "collections", "copy", "dataclasses", "enum", "fractions", "functools", "heapq",
    "itertools", "math", "operator", "string", "typing",
)  # fmt: skip
PACKAGES = ("numpy", "gymnasium")
OF_GYMNASIUM = ("gymnasium.Env", "gymnasium.core", "gymnasium.spaces", "gymnasium.utils.seeding", "gymnasium.logger")
BUILTINS = ("eval", "exec", "compile", "open", "input", "breakpoint", "exit", "quit", "globals", "__import__")
DUNDERS = ("__init__", "__post_init__", "__name__", "__doc__", "__class__")
LUCK = "draw through self.np_random alone, so that its luck can be recorded and replayed"
GENERATOR = "numpy.random.Generator"  # as an annotation


def check_reference(folder: Path) -> list[str]:
    """What is wrong with the text of a reference, in sentences; nothing of it is run."""
    if not (folder / ENTRY).is_file():
        return [f"There is no file {folder.name}/{ENTRY}; write the environment's class there."]
    said: list[str] = []
    paths = sorted(folder.rglob("*.py"))
    own = {path.relative_to(folder).parts[0].removesuffix(".py") for path in paths}
    said += [f"A module called `{name}` exists already; call the file something else." for name in sorted(own & TAKEN)]
    for path in paths:
        try:
            file = File(path, path.stem)
        except UsageError as error:
            said.append(str(error).replace(f"{folder}/", ""))
            continue
        found = dict.fromkeys((line, sentence) for line, sentence in _in(file, own))
        said += [f"{path.relative_to(folder)}, line {line}: {sentence}." for line, sentence in sorted(found)]
    return said


def time_limit(folder: Path) -> int | None:
    """The time limit that the entry declares; None where it has none."""
    for node in File(folder / ENTRY, Path(ENTRY).stem).tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        named = any(isinstance(target, ast.Name) and target.id == LIMIT for target in node.targets)
        if named and type(node.value.value) is int:
            return node.value.value
    return None


def _in(file: File, own: set[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, said) for alias in node.names if (said := _imported(alias.name, own)))
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "an import with a leading dot finds nothing here; import the file by its name"
            elif said := _imported(node.module or "", own):
                yield node.lineno, said
            else:
                whole = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from ((node.lineno, said) for name in whole if (said := _used(name)))
        elif isinstance(node, ast.Name) and node.id in BUILTINS and node.id not in file.names:
            yield node.lineno, f"`{node.id}` reaches outside of the rules; compute from the state and the action alone"
        elif isinstance(node, ast.Attribute):
            if node.attr.startswith("__") and node.attr not in DUNDERS:
                yield node.lineno, f"`.{node.attr}` reaches into the interpreter, which rules have no use for"
            if (name := dotted(file, node)) and (said := _used(name)):
                yield node.lineno, said


def _imported(module: str, own: set[str]) -> str | None:
    top = module.partition(".")[0]
    if top in ("random", "secrets"):
        return f"`{module}` must not be imported; {LUCK}"
    if top in own or top in LIBRARY:
        return None
    if top in PACKAGES:
        return _used(module)
    return f"`{module}` must not be imported; a reference uses numpy, gymnasium, its own files and {', '.join(LIBRARY)}"


def _used(name: str) -> str | None:
    """The objection to a full name of numpy or gymnasium, None where there is none."""
    if name.startswith("numpy.random") and name not in ("numpy.random", GENERATOR):
        return f"`{name}` must not be used; {LUCK}"
    if name.startswith("numpy.") and name.split(".")[1] in ARRAY_FILES.split():
        return f"`{name}` reads or writes files; write the numbers of the rules into the source"
    whole = name.startswith("gymnasium.") and not any(f"{name}.".startswith(f"{one}.") for one in OF_GYMNASIUM)
    if whole and not any(one.startswith(f"{name}.") for one in OF_GYMNASIUM):
        return f"`{name}` must not be used; write the rules themselves, with gymnasium.Env and gymnasium.spaces"
    return None
