"""Docstrings of four words or fewer: how many there are in each folder, and where. `--check` fails if there is one.

    python scripts/short_docstrings.py [--check] [FOLDER ...]

So short a docstring repeats the name it stands under. It is removed, or says what the function returns or raises.
"""

import argparse
import ast
import collections
import sys
from collections.abc import Iterator
from pathlib import Path

FEWEST_WORDS = 5
ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Print where the short docstrings are, and how many each folder has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT / "src", ROOT / "scripts"], metavar="FOLDER")
    parser.add_argument("--check", action="store_true", help="exit with 1 if there are any")
    options = parser.parse_args()
    found = [
        (path, line, text)
        for folder in options.folders
        for path in sorted(folder.rglob("*.py"))
        for line, text in short_docstrings(path)
    ]
    for path, line, text in found:
        sys.stdout.write(f"{shown(path)}:{line}: {text}\n")
    for folder, count in collections.Counter(shown(path.parent) for path, *_ in found).most_common():
        sys.stdout.write(f"{count:5d}  {folder}\n")
    sys.exit(1 if options.check and found else 0)


def short_docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring in a file that has fewer than FEWEST_WORDS words."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None and len(text.split()) < FEWEST_WORDS:
                yield getattr(node, "lineno", 1), text


def shown(path: Path) -> Path:
    """A path as seen from the repository, if it lies there."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


if __name__ == "__main__":
    main()
