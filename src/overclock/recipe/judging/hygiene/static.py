"""Static checks of a candidate's source: `check_source(folder)` is a list of what is wrong.

These are the first checks and the only ones that see the text. They refuse more than is harmful (an allow-list of
modules, no `try`, no attribute writes), so that what passes can be followed by reading. They prove nothing about
running code: that is what the inspection, the sandbox and the levels are for.
"""

import sys
from pathlib import Path

from overclock.recipe.judging.hygiene.finding import Finding, Limits
from overclock.recipe.judging.hygiene.grammar import check_grammar
from overclock.recipe.judging.hygiene.names import check_names
from overclock.recipe.judging.hygiene.reading import README, read_texts
from overclock.recipe.judging.hygiene.shape import check_classes, check_literals, check_make
from overclock.recipe.judging.hygiene.source import Source, parse
from overclock.recipe.judging.hygiene.state import check_state
from overclock.recipe.judging.hygiene.vocabulary import TOPS

DEFAULT = Limits()
TAKEN = frozenset(sys.stdlib_module_names) | TOPS


def check_source(folder: Path, limits: Limits = DEFAULT) -> list[Finding]:
    """All findings in the files of a folder, sorted by file and line."""
    texts, findings = read_texts(folder, limits, lambda file: file.endswith(".py"), f"Python files and {README}")
    findings += [wrong for file in texts for wrong in _misnamed(file)]
    names = frozenset(_module(file) for file in texts)
    sources: dict[str, Source] = {}
    for file, text in texts.items():
        try:
            sources[_module(file)] = parse(file, text, names)
        except SyntaxError as error:
            findings.append(Finding(file, error.lineno or 0, "syntax", f"This is not valid Python: {error.msg}."))
        except (ValueError, RecursionError, MemoryError):
            findings.append(Finding(file, 0, "syntax", "Python cannot read this file; write plain, shallow code."))
    for source in sources.values():
        try:
            findings += check_names(source, sources, limits.imports)
            findings += [*check_grammar(source, sources, limits.imports), *check_state(source, sources)]
        except RecursionError:
            findings.append(Finding(source.file, 0, "syntax", "An expression is nested too deeply to be read."))
    if len(sources) == len(texts):
        findings += check_make(sources)
    findings += [*check_classes(sources), *check_literals(sources, limits)]
    return sorted(set(findings))


def _misnamed(file: str) -> list[Finding]:
    """A finding for a file whose name cannot be imported as a module, or hides a module that others import."""
    parts = _module(file).split(".")
    if parts[0] in TAKEN:
        return [Finding(file, 0, "file-name", f"A module called `{parts[0]}` exists already; choose another name.")]
    if not all(part.isidentifier() for part in parts):
        return [Finding(file, 0, "file-name", "The file's name cannot be imported; use letters, digits and _.")]
    return []


def _module(file: str) -> str:
    """The dotted name under which a file is imported: `a/b.py` is a.b, `a/__init__.py` is a."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
