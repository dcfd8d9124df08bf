"""A run on disk: `runs/<id>/` with its journal, the candidate that is worked on, the report and the repros.

The contract and the tests lie elsewhere: what is in a run's `candidate/` may be changed by an agent.
"""

import dataclasses
import datetime
import difflib
import json
from pathlib import Path
from typing import Any, Self

from overclock.errors import UsageError
from overclock.files import check_folder, finite, write_whole
from overclock.recipe.runs.candidates import diff, files_of, restore
from overclock.recipe.runs.journal import Journal

SCHEMA = "overclock.about/1"
RUNS = Path("runs")
ABOUT, JOURNAL = "run.json", "journal.sqlite"


@dataclasses.dataclass(frozen=True)
class Run:
    """An open run; use it with `with`, or `close` it."""

    folder: Path
    about: dict[str, Any]
    journal: Journal

    @classmethod
    def create(cls, folder: Path, about: dict[str, Any]) -> "Run":
        """A new run in its own folder, open for writing; `about` goes to run.json for people and programs to read."""
        check_folder(folder)
        if _about(folder) is not None:
            raise UsageError(f"There is a run in '{folder}' already; resume it, or choose another folder.")
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        content = finite({**about, "schema": SCHEMA, "id": folder.absolute().name, "created": now})
        for place in ("candidate", "repro"):
            try:
                (folder / place).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(f"Cannot write '{folder}': {error.strerror}; choose another place.") from error
        journal = Journal(folder / JOURNAL)
        try:
            # Last, because it is what makes the folder a run.
            write_whole(folder / ABOUT, json.dumps(content, indent=2, allow_nan=False).encode() + b"\n")
        except BaseException:
            journal.close()
            raise
        return cls(folder, content, journal)

    @classmethod
    def open(cls, folder: Path, write: bool = False) -> "Run":
        """A run that exists; with `write` to go on with it, which only one process can do at a time."""
        about = _about(folder)
        if about is None:
            raise UsageError(f"There is no run in '{folder}'; give the folder of a run, such as runs/cartpole-1.")
        return cls(folder, about, Journal(folder / JOURNAL, write))

    @property
    def id(self) -> str:
        """Its name, as `overclock status ID` takes it."""
        return self.about["id"]

    @property
    def candidate(self) -> Path:
        """The folder that the agent works in."""
        return self.folder / "candidate"

    def restore(self, candidate: str | None, folder: Path | None = None) -> None:
        """Put a frozen candidate's files (None: none), and no others, into a folder, by default the agent's own."""
        restore(self.journal, candidate, self.candidate if folder is None else folder)

    def diff(self, before: str | None, after: str) -> str:
        """What changed between two frozen candidates, as a unified diff; None is the empty candidate."""
        old = {} if before is None else files_of(self.journal, before)
        return diff(old, files_of(self.journal, after))

    def close(self) -> None:
        """Let others work on it."""
        self.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def all_runs(folder: Path) -> list[Path]:
    """The folders of all runs in a folder, by name; folders of other commands lie beside them and are left out."""
    places = sorted(folder.iterdir()) if folder.is_dir() else []
    return [place for place in places if place.is_dir() and _about(place) is not None]


def latest(*folders: Path) -> Path | None:
    """The folder of the run in which something happened last, among all runs of these folders."""

    def last_time(place: Path) -> float:
        with Run.open(place) as run:
            created = datetime.datetime.fromisoformat(run.about["created"]).timestamp()
            return run.journal.last_time() or created

    return max((run for folder in folders for run in all_runs(folder)), key=last_time, default=None)


def find(name: str | None) -> Path:
    """The folder of a run: by its path, by its id, or by its project's folder, whose newest run it is then.

    Ids are looked for in the projects of the current folder, which may be one itself. Without a name it is the run in
    which something happened last.
    """
    places = [RUNS, *sorted(Path().glob(f"*/{RUNS}"))]
    if name is None:
        newest = latest(*places)
        if newest is None:
            here = Path.cwd()
            raise UsageError(
                f"There is no run in '{here / RUNS}', nor in a project in '{here}'; name the folder of a run or of its "
                "project, or start one with `overclock translate`."
            )
        return newest
    for place in (Path(name), *(runs / name for runs in places)):
        if _about(place) is not None:
            return place
    newest = latest(Path(name) / RUNS)
    if newest is not None:
        return newest
    known = {run.name: str(run) for runs in places for run in all_runs(runs)}
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean '{known[close[0]]}'?" if close else f"there are: {', '.join(known.values()) or 'none'}."
    raise UsageError(f"There is no run '{name}'; {hint}")


def _about(folder: Path) -> dict[str, Any] | None:
    """What run.json says; None if the folder is none of our runs (training writes a file of that name, too)."""
    try:
        content = json.loads((folder / ABOUT).read_bytes())
    except (OSError, ValueError):
        return None
    ours = isinstance(content, dict) and content.get("schema") == SCHEMA
    return content if ours and (folder / JOURNAL).is_file() else None
