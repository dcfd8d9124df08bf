"""`overclock watch`: a run while it is under way, in the terminal."""

import dataclasses
import datetime
import time
from pathlib import Path
from typing import TYPE_CHECKING

from overclock.cli.loop.status import RunName

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from overclock.recipe.runs.journal import Journal
    from overclock.recipe.runs.status import RunStatus
    from overclock.recipe.runs.vocabulary import Event

PERIOD_S = 0.5
NEWEST = 8  # events shown below the status


@dataclasses.dataclass
class Watch:
    """Watch a run: its status, twice a second, and what happened last; without a terminal, a line per event.

    Ends when the run has ended, or when no process works on it any more. Ctrl-C leaves; the run goes on.

    Examples:
      overclock watch
      overclock watch my_cartpole
      overclock watch my_cartpole > run.log
    """

    run_name: RunName = None
    """Folder or id of a run, or its project's folder; by default the run here in which something happened last."""

    def run(self) -> int:
        """Show it until it ends or the user leaves."""
        from rich.console import Console

        from overclock.recipe.runs.run import Run, find

        console = Console(highlight=False)
        with Run.open(find(self.run_name)) as run:
            try:
                if console.is_terminal:
                    _live(console, run.folder, run.journal)
                else:
                    _lines(run.journal)
            except KeyboardInterrupt:
                return 0
        return 0


class Follower:
    """The events of a journal that grows."""

    def __init__(self, journal: "Journal") -> None:
        self.journal = journal
        self.events: list[Event] = []
        self.working = True

    def look(self) -> "list[Event]":
        """What has come since the last look."""
        # Asked before reading: if nobody works on the run, nothing can come after what is read now.
        self.working = self.journal.worked_on()
        new = self.journal.events(after=self.events[-1].number if self.events else 0)
        self.events += new
        return new

    def status(self) -> "RunStatus":
        """Where the run stood at the last look."""
        from overclock.recipe.runs.status import status_of

        return status_of(self.events, self.working, time.time(), self.journal.path.parent)

    def over(self) -> bool:
        """Whether nothing more is to be expected."""
        from overclock.recipe.runs.status import ending

        return ending(self.events) is not None or not self.working


def _lines(journal: "Journal") -> None:
    """A line per event as it comes, then how it stands."""
    from overclock.recipe.runs.words import dollars_words

    follower = Follower(journal)
    while True:
        for event in follower.look():
            if (text := _line(event)) is not None:
                print(text, flush=True)
        if follower.over():
            break
        time.sleep(PERIOD_S)
    found = follower.status()
    if cost := dollars_words(found.cost, found.budget_dollars):
        print(f"cost: {cost}", flush=True)
    if found.waits_for:
        print(found.waits_for, flush=True)


def _live(console: "Console", folder: Path, journal: "Journal") -> None:
    """The status with what happened last below it, redrawn in place."""
    from rich.live import Live

    follower = Follower(journal)
    follower.look()
    with Live(_picture(folder, follower), console=console, auto_refresh=False) as live:
        while not follower.over():
            time.sleep(PERIOD_S)
            follower.look()
            live.update(_picture(folder, follower), refresh=True)


def _picture(folder: Path, follower: Follower) -> "RenderableType":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from overclock.recipe.runs.words import status_lines

    grid = Table.grid(padding=(0, 2))
    for name, text in status_lines(follower.status()):
        grid.add_row(Text(name, style="dim"), Text(text))
    newest = [text for event in follower.events if (text := _line(event)) is not None][-NEWEST:]
    shown = [Text(text, style="dim", overflow="ellipsis", no_wrap=True) for text in newest]
    return Group(Text(str(folder), style="bold"), grid, Text(), *shown)


def _line(event: "Event") -> str | None:
    from overclock.recipe.runs.words import event_line

    text = event_line(event)
    when = datetime.datetime.fromtimestamp(event.time).strftime("%H:%M:%S")
    return None if text is None else f"{when}  {text}"
