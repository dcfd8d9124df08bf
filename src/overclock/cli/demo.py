"""`overclock demo`: the main job on CartPole in about a minute: is it the same, how fast is it, a page about both."""

import dataclasses
from pathlib import Path

from overclock.cli import output
from overclock.cli.bench import show as show_measured
from overclock.cli.verify import Progress
from overclock.cli.verify import show as show_verified

FOLDER = Path("runs/demo")


@dataclasses.dataclass
class Demo:
    """Verify CartPole against Gymnasium, benchmark it beside its peers, and write a page about both.

    Examples:
      overclock demo
      overclock demo --episodes 1000 --output runs/long-demo
    """

    episodes: int = 200
    """Episodes per comparison."""
    batch: tuple[int, ...] = (16, 1024, 16384)
    """Batch sizes of the benchmark."""
    output: Path = FOLDER
    """Folder of report.html, report.md and report.json; other files in it stay."""
    json: bool = False
    """Print one JSON object (schema overclock.demo/1) instead of tables."""

    def run(self) -> int:
        """Verify, measure, write, print."""
        from overclock.bench import BenchConfig, measure
        from overclock.bench.peers import installed
        from overclock.files import check_folder
        from overclock.report.page import write_report
        from overclock.verify.engine import verify

        check_folder(self.output)
        with Progress() as progress:
            verified = verify("cartpole", self.episodes, levels=(1, 2, 3), folder=self.output, progress=progress)
        config = BenchConfig(batch=self.batch, peers=",".join(installed()), repeats=5, min_seconds=0.1)
        with output.console().status("benchmark") as status:
            measured = measure(config, progress=status.update)
        page = write_report(self.output, verified, measured)
        if self.json:
            verdict, ratios = verified["verdict"], measured["ratios"]
            output.emit({"schema": "overclock.demo/1", "verdict": verdict, "page": page, "ratios": ratios})
        else:
            show_verified(verified)
            show_measured(measured)
            print(f"page: {page}")
        return 0 if verified["verdict"] == "pass" else 1
