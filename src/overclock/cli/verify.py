"""`overclock verify`: is the fast environment the same as its reference?"""

import dataclasses
from typing import Annotated, Any

import tyro

from overclock.cli import output
from overclock.verify.text import divergence_text, worst_text


@dataclasses.dataclass
class Verify:
    """Compare an environment with its reference, episode by episode, every field at every step.

    Both sides run in processes of their own, with the same actions and the same random draws (recorded from the
    reference). Exit code 0: everything equal within the contract; 1: a divergence; 4: no verdict was possible.

    Examples:
      overclock verify cartpole
      overclock verify cartpole --episodes 1000 --json
    """

    env: Annotated[str, tyro.conf.Positional]
    """Id of the environment, for example cartpole."""
    episodes: int = 100
    """Episodes per comparison; n clean ones bound the diverging share below 3/n at 95 % confidence."""
    seed: int = 0
    """First seed of the episodes."""
    timeout: float = 120.0
    """Seconds after which a side that does not answer is stopped."""
    json: bool = False
    """Print one JSON object (schema overclock.verify/1) instead of a table."""

    def run(self) -> int:
        """Compare and print."""
        from overclock.verify.engine import verify

        with Progress() as progress:
            report = verify(self.env, self.episodes, self.seed, self.timeout, progress)
        if self.json:
            output.emit(report)
        else:
            show(report)
        return 0 if report["verdict"] == "pass" else 1


class Progress:
    """A progress bar per comparison, on stderr."""

    def __enter__(self) -> "Progress":
        import rich.progress

        self._bars = rich.progress.Progress(console=output.console(), transient=True)
        self._tasks: dict[str, Any] = {}
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, name: str, done: int, total: int) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total)
        self._bars.update(self._tasks[name], completed=done)


def show(report: dict[str, Any]) -> None:
    """The report as tables for people."""
    rows = [
        [
            comparison["actions"],
            comparison["precision"],
            comparison["mode"].replace("_", " "),
            f"{comparison['episodes']:,}",
            f"{comparison['steps']:,}",
            worst_text(comparison),
            "equal" if comparison["passed"] else "DIFFERENT",
        ]
        for comparison in report["levels"][0]["comparisons"]
    ]
    columns = ["actions", "precision", "synchronised", "episodes", "steps", "largest error", "verdict"]
    output.table(columns, rows, title=f"{report['env']} against {report['reference']}")
    for comparison in report["levels"][0]["comparisons"]:
        if comparison["first_divergence"] is not None:
            print(divergence_text(comparison["first_divergence"]))
    bound = max(c["divergence_bound"] for c in report["levels"][0]["comparisons"] if c["actions"] == "uniform")
    if report["verdict"] == "pass":
        print(f"pass: no divergence; at 95 % confidence fewer than {bound:.2%} of random episodes diverge.")
    else:
        print("fail: the two sides differ.")
