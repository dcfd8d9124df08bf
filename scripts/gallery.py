"""The gallery of the documents, from the result of `overclock translate --all-known --json`.

    python scripts/gallery.py benchmarks/known.json --mutants benchmarks/known-mutants.json \\
        --listings cartpole minatar_breakout > docs/gallery.md

--mutants takes the planted mistakes from another run, of the same files, so that they need not be planted where speed
is measured.
--listings copies generated files of that run into docs/gallery/ first, while its folders are still there; the page
links to those that lie there.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overclock.report.gallery import listing, page, with_mutants

LISTINGS = Path(__file__).resolve().parents[1] / "docs" / "gallery"


def main() -> None:
    """Print the page, after copying the listings that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("report", type=Path, help="the JSON file")
    parser.add_argument("--mutants", type=Path, help="the JSON file of another run, with planted mistakes")
    parser.add_argument("--listings", nargs="*", default=(), metavar="NAME", help="generated files to copy")
    options = parser.parse_args()
    report = json.loads(options.report.read_text(encoding="utf-8"))
    if options.mutants is not None:
        report = with_mutants(report, json.loads(options.mutants.read_text(encoding="utf-8")))
    rows = {row["name"]: row for row in report["rows"]}
    for name in options.listings:
        copy(rows[name], LISTINGS / f"{name}.md")
    sys.stdout.write(page(report, listed(LISTINGS)))


def listed(folder: Path) -> set[str]:
    """The environments whose generated file is there."""
    return {path.stem for path in folder.glob("*.md")}


def copy(row: Mapping[str, Any], to: Path) -> None:
    """Write the page of a generated file, if it is the one that the row is about."""
    source = Path(row["run"], "candidate", "env.py").read_bytes()
    if hashlib.sha256(source).hexdigest() != row["sha256"]:
        raise SystemExit(f"{row['run']} holds another translation than the one in the report; make both anew.")
    to.parent.mkdir(exist_ok=True)
    to.write_text(listing(row["name"], source.decode()), encoding="utf-8")


if __name__ == "__main__":
    main()
