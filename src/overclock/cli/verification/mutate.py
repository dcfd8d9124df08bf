"""`overclock mutate`: how many planted mistakes would verification find?"""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from overclock.cli import output
from overclock.cli.arguments import EnvId
from overclock.verify.text import made_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overclock.env.registry import Spec
    from overclock.verify.mutation.result import MutantFacts, MutationReport

CONTEXT = 24  # characters shown on either side of a change


@dataclasses.dataclass
class Mutate:
    """Plant mistakes in an environment, one at a time, and count how many each level of verification finds.

    Levels 1, 2 and 3 examine every mutant on their own, against one recording of the reference. The result is kept in
    runs/mutate-ENV.json, where `overclock verify` finds it. Ctrl-C keeps what was found so far; the same command goes
    on from there. Exit code 0: the share found is at least the threshold; 1: below; 3: the time was up before.

    Examples:
      overclock mutate cartpole
      overclock mutate cartpole --sample 20 --json
      overclock mutate hopper --sample 100 --until-found --jobs 16 --minutes 30
      overclock mutate cartpole --list
    """

    env: EnvId
    """Id of the environment, for example cartpole."""
    threshold: float = 0.95
    """The share of mutants that the levels must find together."""
    sample: int | None = None
    """Examine only so many, chosen at random by the seed; `overclock verify` does not show the result."""
    episodes: int = 100
    """Random episodes of level 3."""
    seed: int = 0
    """Seed of the recorded episodes and of the sample, from 0 to 2147483647."""
    jobs: int | None = None
    """Mutants examined side by side; by default one per core, at most 8."""
    timeout: float = 60.0
    """Seconds after which a mutant that does not answer counts as found."""
    minutes: float | None = None
    """Begin no further mutant after so many minutes; the same command goes on from there."""
    until_found: bool = False
    """Do not show a mutant that one level has found to the next level: quicker, with the same score."""
    list: bool = False
    """Only list the mutants, without examining them."""
    json: bool = False
    """Print one JSON object (schema overclock.mutate/1) instead of tables."""

    def run(self) -> int:
        """Examine the mutants and print the report; returns the exit code."""
        from overclock.env.registry import spec
        from overclock.errors import UsageError

        if "/" in self.env or ":" in self.env or Path(self.env).is_dir():
            raise UsageError(f"mutate needs the id of a registered environment (`overclock list`), got '{self.env}'.")
        if not 0.0 <= self.threshold <= 1.0:
            raise UsageError(f"--threshold is a share between 0 and 1, got {self.threshold:g}.")
        entry = spec(self.env)
        if self.list:
            return self._list(entry)
        from overclock.cli.progress import ProgressDisplay
        from overclock.verify.engine import check_seed
        from overclock.verify.mutation.mutate import EXAMINING, mutate

        check_seed(self.seed)
        examined = 0

        def heard(what: str, done: int, total: int) -> None:
            nonlocal examined
            examined = done if what == EXAMINING else examined
            progress(what, done, total)

        try:
            with ProgressDisplay() as progress:
                report = mutate(
                    self.env,
                    self.episodes,
                    self.seed,
                    self.sample,
                    self.timeout,
                    self.jobs,
                    heard,
                    until_found=self.until_found,
                    minutes=self.minutes,
                )
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self._kept(examined)) from None
        passed = report.score >= self.threshold
        report = dataclasses.replace(report, threshold=self.threshold, verdict="pass" if passed else "fail")
        if self.json:
            output.emit(report)
        else:
            show(report)
        return 0 if passed else 1

    def _kept(self, examined: int) -> str:
        """What an interrupt leaves behind."""
        if not examined:
            return "interrupted before this run had examined a mutant; the same command tries again"
        return f"interrupted; {examined} examined mutants are kept, and the same command goes on from there"

    def _list(self, entry: "Spec") -> int:
        from overclock.verify.mutation.mutate import mutants_for, sources_of
        from overclock.verify.mutation.result import MutantList
        from overclock.verify.twins import find_twin

        planted, _ = mutants_for(entry, find_twin(entry.id).twin, sources_of(entry), self.timeout)
        mutants = [mutant.facts for mutant in planted]
        if self.json:
            output.emit(MutantList(env=entry.id, mutants=mutants))
        else:
            show_mutants(mutants, f"{len(mutants)} mutants of {entry.id}")
        return 0


def show(report: "MutationReport") -> None:
    """The report as tables for people."""
    rows = [
        [
            f"{number} {level.name}",
            f"{level.killed} of {report.total if level.shown is None else level.shown}",
            f"{level.share:.1%}",
            str(level.first),
            "" if level.only is None else str(level.only),
            str(level.crashes),
            str(level.timeouts),
        ]
        for number, level in report.per_level.items()
    ]
    rows.append(["together", f"{report.killed} of {report.total}", f"{report.score:.1%}", "", "", "", ""])
    columns = ["level", "finds alone", "share", "finds first", "nobody else finds", "by a crash", "by a timeout"]
    output.table(columns, rows, title=f"{report.total} mutants of {report.env}, {report.seconds:.0f} s")
    if report.not_run:
        print(f"{report.not_run} more are in code that {report.env} shares with other environments and does not run")
    print(report.command)
    print(made_with(report))
    if report.survivors:
        print()
        show_mutants(report.survivors, "survivors")
    if report.equivalent:
        print()
        show_mutants(report.equivalent, "equivalent, not counted")
        reasons: dict[str, list[str]] = {}
        for mutant in report.equivalent:
            reasons.setdefault(mutant.reason, []).append(mutant.id)
        for reason, alike in reasons.items():
            print(f"{', '.join(alike)}: {reason}")
    comparison = ">=" if report.verdict == "pass" else "<"
    print(f"{report.verdict}: {report.score:.1%} {comparison} {report.threshold:.1%}")


def show_mutants(mutants: "Sequence[MutantFacts]", title: str) -> None:
    """A line per mutant: what it is, where, and the part of the statement that changes."""
    rows = []
    for mutant in mutants:
        before, after = change(mutant.before, mutant.after)
        rows.append([mutant.id, mutant.operator, f"{mutant.file}:{mutant.line}", before, after])
    output.table(["id", "operator", "where", "before", "after"], rows, title=title)


def change(before: str, after: str) -> tuple[str, str]:
    """Two versions of a statement, cut to where they differ."""
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    first, last = max(0, start - CONTEXT), max(0, end - CONTEXT)

    def cut(text: str) -> str:
        shown = text[first : len(text) - last]
        return f"{'…' if first else ''}{shown}{'…' if last else ''}"

    return cut(before), cut(after)


def _shared(a: str, b: str) -> int:
    """How many characters two texts begin with in common."""
    return next(
        (place for place, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), min(len(a), len(b))
    )
