"""Other people's environments through the built-in translator: each translates and agrees, or is refused as expected.

    python scripts/third_party.py --into DIR          # installs what is not in DIR yet; then no network is needed
    python scripts/third_party.py --only popgym       # those with this in their name

The environments, their pinned versions and what is expected of each stand in tests/translate/third_party.toml. Each is
translated in a process of its own and compared step by step with the original (tests/translate/agree.py). Exit code 1
where something is not as expected.
"""

import argparse
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ROWS = ROOT / "tests" / "translate" / "third_party.toml"
EPISODES, STEPS = 8, 100
SECONDS = 300  # for one environment: translation, compilation and the reference's own play
ROUNDING = 1e-9  # sums in another order and other libraries' functions
TRANSLATED, REFUSED, WRONG, FAILED = "translated", "refused", "WRONG", "FAILED"
Row = dict[str, Any]


def main() -> int:
    """Run the rows and print their table; the exit code is 1 if one is not as expected."""
    options = parsed()
    with ROWS.open("rb") as stream:
        rows: list[Row] = tomllib.load(stream)["environment"]
    if options.row is not None:
        say(json.dumps(attempt(next(row for row in rows if row["name"] == options.row), options.into)))
        return 0
    rows = [row for row in rows if options.only in row["name"]]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.into or temporary)
        install(rows, folder)
        found = [{**row, **run_apart(row, folder, options.seconds)} for row in rows]
    for one in found:
        one["as_expected"] = as_expected(one)
    show(found)
    if options.output is not None:
        Path(options.output).write_text(json.dumps({"schema": 1, "environments": found}, indent=2) + "\n")
    return 0 if all(one["as_expected"] for one in found) else 1


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--into", help="folder for the packages (default: a temporary one)")
    parser.add_argument("--only", default="", help="a part of the names to run")
    parser.add_argument("--output", help="JSON file for the results")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit of each environment")
    parser.add_argument("--row", help=argparse.SUPPRESS)  # one environment, in this process
    return parser.parse_args()


def install(rows: list[Row], folder: Path) -> None:
    """Put the packages of some rows into a folder, without what they depend on: that is pinned in the rows as well."""
    folder.mkdir(parents=True, exist_ok=True)
    here = {known(one) for one in importlib.metadata.distributions()}
    here |= {known(one) for one in importlib.metadata.distributions(path=[str(folder)])}
    wanted = {name for row in rows for name in (row["package"], *row.get("needs", ()))}
    missing = sorted(one for one in wanted if normal(one) not in here)
    if missing:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder)]
        subprocess.run([*command, *missing], check=True)


def known(distribution: importlib.metadata.Distribution) -> str:
    """An installed package, as rows name it."""
    return normal(f"{distribution.metadata['Name']}=={distribution.version}")


def normal(requirement: str) -> str:
    """Names of packages have several spellings."""
    return re.sub(r"[-_.]+", "-", requirement.partition("==")[0]).lower() + "==" + requirement.partition("==")[2]


def run_apart(row: Row, folder: Path, seconds: float) -> Row:
    """What becomes of a row, in a process of its own."""
    command = [sys.executable, str(Path(__file__)), "--row", row["name"], "--into", str(folder)]
    quiet = {"JAX_PLATFORMS": "cpu", "PYGAME_HIDE_SUPPORT_PROMPT": "1", "SDL_VIDEODRIVER": "dummy"}
    begun = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env={**os.environ, **quiet})
        lines = done.stdout.strip().splitlines() if done.returncode == 0 else []
        found = json.loads(lines[-1]) if lines else {"found": FAILED, "reason": done.stderr.strip()[-300:]}
    except subprocess.TimeoutExpired:
        found = {"found": FAILED, "reason": f"it took more than {seconds:g} seconds"}
    found["seconds"] = round(time.monotonic() - begun, 1)
    sys.stderr.write(f"{row['name']}: {found['found']} ({found['seconds']} s)\n")
    return found


def attempt(row: Row, folder: str) -> Row:
    """Translate one environment and compare."""
    sys.path += [str(ROOT / "tests"), folder]
    from translate.agree import agree  # pyright: ignore[reportMissingImports]

    from overclock.errors import OverclockError
    from overclock.recording.errors import UnsupportedError
    from overclock.translate.profile import look

    build = maker(row)
    try:
        with tempfile.TemporaryDirectory() as temporary:
            tolerance = row.get("tolerance", ROUNDING)
            made = agree(build, Path(temporary), EPISODES, STEPS, tolerance, look(build))
        return {"found": TRANSLATED, "lines": len(made.text.splitlines())}
    except UnsupportedError as error:
        if error.place is None or error.place.line < 1:
            return {"found": WRONG, "reason": f"refused without a place: {error}"}
        where = f"{Path(error.place.file).name}:{error.place.line}"
        return {"found": REFUSED, "reason": f"{where}: {error.reason}"}
    except (AssertionError, OverclockError) as error:
        return {"found": WRONG, "reason": f"{type(error).__name__}: {error}"[:300]}


def maker(row: Row) -> Callable[[], Any]:
    """What gives a new instance; constructors that draw give the same constants each time."""
    import numpy as np

    from overclock.env.registry import load
    from overclock.recording.sites.generators import LaneGenerators, running
    from overclock.recording.sites.install import hooked

    if "before" in row:
        load(row["before"])

    def build() -> Any:
        env = load(row["make"])(**row.get("arguments", {}))
        if "wrapper" not in row:
            return env
        given = row.get("wrapper_arguments", {})
        return load(row["wrapper"])(env, **{name: np.asarray(value) for name, value in given.items()})

    def instance() -> Any:
        if running() is not None:  # somebody sees to that already
            return build()
        with hooked(), LaneGenerators().making():
            return build()

    return instance


def as_expected(row: Row) -> bool:
    """Whether a row became what it says; a refusal must be for the reason it says."""
    return row["found"] == row["expected"] and row.get("because", "") in row.get("reason", "")


def show(rows: list[Row]) -> None:
    """Print the rows as a table, and how many are as expected."""
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        mark = " " if row["as_expected"] else "!"
        found = f"{row['found']:10}  {row.get('reason') or str(row['lines']) + ' lines'}"
        say(f"{mark} {row['name']:{width}}  {row['package']:28}  {row['seconds']:6.1f} s  {found}")
    translated = sum(row["found"] == TRANSLATED for row in rows)
    odd = sum(not row["as_expected"] for row in rows)
    say(f"{translated} of {len(rows)} translated and agree; {odd} not as expected")


def say(line: str) -> None:
    """Print a line on standard output."""
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
