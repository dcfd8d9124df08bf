"""`overclock translate --all-known`: a table of what the built-in translator does by itself."""

import dataclasses
import datetime
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overclock.cli import output
from overclock.cli.progress import ProgressDisplay
from overclock.errors import UsageError

if TYPE_CHECKING:
    from overclock.recipe.loop.context import RunOptions

SCHEMA = "overclock.known/1"
FOLDER = Path("runs/known")


def run_known(
    names: Sequence[str], place: Path | None, options: "RunOptions", measure: bool, mutants: int, json: bool
) -> int:
    """Translate them one after the other; 0 if every one holds. `mutants` are planted in each of them."""
    from overclock.cores import cores
    from overclock.files import check_folder
    from overclock.processor import processor
    from overclock.recipe.studies.known_environments import chosen, translate_known
    from overclock.versions import versions

    if mutants < 0:
        raise UsageError(f"--mutants must be 0 (none) or more, got {mutants}.")
    ones, folder = chosen(names), place or FOLDER
    check_folder(folder)
    if taken := [one.name for one in ones if (folder / one.name).exists()]:
        raise UsageError(f"'{folder / taken[0]}' is there already; remove it, or choose another --output.")
    rows = []
    with output.console().status("") as status, ProgressDisplay(bars=False) as finished:
        for number, one in enumerate(ones, 1):
            where = f"{one.name} ({number} of {len(ones)})"
            status.update(where)

            def say(said: str, where: str = where) -> None:
                status.update(f"{where}: {said}")

            def heard(what: str, done: int, total: int, where: str = where) -> None:
                status.update(f"{where}: {what}")
                finished(f"{where}: {what}", done, total)

            told = dataclasses.replace(options, progress=heard)
            rows.append(translate_known(one, folder, told, measure, mutants, say))
            finished(f"{where}: {rows[-1]['outcome']}", 1, 1)
            if not json:
                print(line(rows[-1]), flush=True)
    held = sum(row["outcome"] == "done" for row in rows)
    if json:
        about = {"cpu": str(processor()), "cores": cores(), "versions": versions()}
        date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        command = repeated(names, place, measure, mutants)
        output.emit({"schema": SCHEMA, "held": held, "rows": rows, "date": date, "command": command, **about})
    else:
        print(f"{held} of {len(rows)} hold at levels 1, 2, 3.")
    return 0 if held == len(rows) else 1


def repeated(names: Sequence[str], place: Path | None, measure: bool, mutants: int) -> str:
    """The command that does it again."""
    words = ["overclock translate", " ".join(["--known", *names]) if names else "--all-known"]
    words += [] if place is None else [f"--output {shlex.quote(str(place))}"]
    words += ["--no-measure"] if not measure else []
    return " ".join([*words, *([f"--mutants {mutants}"] if mutants else []), "--json"])


def line(row: dict[str, Any]) -> str:
    """One of them, for people."""
    from overclock.results import decode
    from overclock.verify.exhaustive.result import WalkResult
    from overclock.verify.reach.reached import Reached

    if row["outcome"] != "done":
        return f"{row['name']}: {row['outcome']}: {row['sentence']}"
    branches = row["branches"]
    speed = f", {row['speed_up']:,.0f}x the original at batch {row['batch']:,}" if "speed_up" in row else ""
    walked: WalkResult | None = decode(WalkResult | None, row["exhaustive"])
    every = "" if walked is None else f", {walked.sentence}"
    planted = row.get("mutation")
    found = f", {planted['killed']} of {planted['total']} planted mistakes found" if planted else ""
    compiled = f"compiled in {row['compile_s']} s, " if "compile_s" in row else ""
    reached: Reached | None = decode(Reached | None, row.get("reached"))
    reach = "" if reached is None else f", {reached.sentence}"
    failed = "".join(f", {row[key]}" for key in ("compile_error", "mutation_error", "speed_error") if key in row)
    return (
        f"{row['name']}: holds; {row['lines_in']} lines became {row['lines_out']} in {row['generation_s']} s, "
        f"{compiled}largest error {row['largest_error']:.2g}, {branches['reached']} of "
        f"{branches['reachable']} branches{every}{reach}{found}{speed}{failed}"
    )
