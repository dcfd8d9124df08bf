"""The tree is what docs/architecture.md says: its folders, its import arrows, and the sizes it promises."""

import ast
import importlib
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "overclock"
DOCUMENT = (ROOT / "docs/architecture.md").read_text()
TREES = {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}
FOLDERS = sorted({path.parent for path in TREES})
MOST_FILES = 22
MOST_FILES_EXCEPTIONS: dict[str, int] = {}  # a folder with more files, and how many it may have: give the reason here
MOST_BASES = 4  # how many classes of ours may be above a class, one above the other

# The old names of moved modules (data for an import hook), and the package itself, whose names load on first use.
EXEMPT = {"overclock._moved", "overclock"}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path) for path in TREES}
EXPORTS = {  # `overclock.vectorize` is `overclock.vector`'s
    alias.asname or alias.name: node.module
    for node in ast.walk(TREES[PACKAGE / "__init__.py"])
    if isinstance(node, ast.ImportFrom) and node.module
    for alias in node.names
}


def block(heading: str) -> list[str]:
    """The lines of the first fence under a heading of the document."""
    found = re.search(rf"^## {heading}\n.*?^```text\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert found, f"docs/architecture.md has no block under '{heading}'"
    return found[1].splitlines()


def arrows() -> tuple[set[str], set[tuple[str, str]]]:
    """The modules that every room may import, and the pairs (importing room, imported room)."""
    everywhere, pairs = set[str](), set[tuple[str, str]]()
    for line in filter(None, block("Arrows")):
        if line.startswith("everywhere:"):
            everywhere |= set(line.split()[1:])
            continue
        groups = [re.findall(r"[\w.]+", group) for group in line.split("<-")]
        for lower, upper in itertools.pairwise(groups):
            pairs |= {(above, below) for above in upper for below in lower}
    return everywhere, pairs


EVERYWHERE, ARROWS = arrows()
ROOMS = {room for pair in ARROWS for room in pair} | EVERYWHERE


def room(module: str) -> str:
    """The room that a module belongs to: the longest name in the document that it starts with."""
    name = module.removeprefix("overclock.")
    while name not in ROOMS and "." in name:
        name = name.rpartition(".")[0]
    return name


def module_of(dotted: str) -> str:
    """The module in a dotted name that may go on with a class and a method."""
    while dotted not in MODULES:
        dotted = dotted.rpartition(".")[0]
    return dotted


def used(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The modules of ours that a module names, wherever it does, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name.startswith("overclock."))
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1, f"line {node.lineno} imports relative to another folder"
            if not node.level and node.module and node.module.partition(".")[0] == "overclock":
                for alias in node.names:
                    named = f"{node.module}.{alias.name}"
                    yield EXPORTS.get(alias.name, named) if node.module == "overclock" else named, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "overclock":
            yield EXPORTS.get(node.attr, f"overclock.{node.attr}"), node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # "overclock.x.y:name", and a bare "overclock.x.y" that is a module
            dotted, colon, _ = node.value.partition(":")
            if re.fullmatch(r"overclock(\.\w+)+", dotted) and (colon or dotted in MODULES):
                yield dotted, node.lineno


def reachable(start: str) -> set[str]:
    """The rooms that a room may import: those it reaches against the arrows."""
    found, new = {start}, [start]
    while new:
        here = new.pop()
        below = {lower for upper, lower in ARROWS if upper == here} - found
        found |= below
        new += below
    return found


def imports() -> list[tuple[str, str, str]]:
    """Every import between two rooms: importing room, imported room, and where it stands."""
    found = []
    for path, tree in TREES.items():
        name = module_name(path)
        if name in EXEMPT:
            continue
        for dotted, line in used(tree):
            module = module_of(dotted)
            if module != "overclock" and room(module) != room(name):
                found.append((room(name), room(module), f"{path.relative_to(ROOT)}:{line} names {dotted}"))
    return found


def test_imports_follow_the_arrows():
    wrong = []
    for above, below, place in imports():
        allowed = EVERYWHERE if above in EVERYWHERE else reachable(above) | EVERYWHERE
        if below not in allowed:
            wrong.append(f"{above} <- {below}: {place}")
    assert wrong == []


def test_arrows_make_no_circle():
    assert [upper for upper, lower in ARROWS if upper in reachable(lower)] == []


def test_every_arrow_stands_for_an_import():
    assert sorted(ARROWS - {(above, below) for above, below, _ in imports()}) == []


def test_every_room_of_the_arrows_is_there():
    assert [room for room in ROOMS if f"overclock.{room}" not in MODULES] == []


def listed_folders() -> set[str]:
    """The folders of src/overclock as the document's tree lists them."""
    stack, found = [], set()
    for line in block("Rooms"):
        name = re.match(r"( *)([\w<>/]+)/ ", line)
        if not name:
            continue
        depth = len(name[1]) // 2
        stack = [*stack[:depth], name[2]]
        if stack[0] == "src/overclock" and depth:
            found.add("/".join(stack[1:]))
    return found


def test_the_document_lists_every_folder_that_has_code():
    assert {str(folder.relative_to(PACKAGE)) for folder in FOLDERS} - {"."} - listed_folders() == set()


def test_the_document_lists_no_folder_that_is_gone():
    assert [name for name in listed_folders() if "<" not in name and not (PACKAGE / name).is_dir()] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(SOURCE)))
def test_a_folder_says_what_it_is_for_and_has_few_files(folder):
    start = TREES.get(folder / "__init__.py")
    assert start is not None, "no __init__.py"
    assert len((ast.get_docstring(start) or "").split()) > 4
    name = str(folder.relative_to(PACKAGE))
    assert len(list(folder.glob("*.py"))) <= MOST_FILES_EXCEPTIONS.get(name, MOST_FILES)


def bases(class_: ast.ClassDef, path: Path) -> Iterator[str]:
    """The base classes of ours, by module and name, as far as a module's imports tell."""
    origin = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(TREES[path])
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for base in class_.bases:
        text = ast.unparse(base.value if isinstance(base, ast.Subscript) else base)
        head, dot, rest = text.partition(".")
        yield origin.get(head, f"{module_name(path)}.{head}") + dot + rest


def test_no_class_has_a_long_chain_of_bases():
    above: dict[str, set[str]] = {}
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                above.setdefault(f"{module_name(path)}.{node.name}", set()).update(bases(node, path))

    def chain(name: str) -> list[str]:
        if name not in above:  # named through a package that hands it on, or not ours
            module, _, class_ = name.rpartition(".")
            found = getattr(importlib.import_module(module), class_, None) if module in MODULES else None
            name = f"{found.__module__}.{found.__qualname__}" if isinstance(found, type) else name
        return [name, *max(map(chain, above[name]), key=len, default=[])] if name in above else []

    assert [" -> ".join(found) for found in map(chain, above) if len(found) - 1 > MOST_BASES] == []
