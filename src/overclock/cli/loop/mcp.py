"""`overclock mcp`: the judge as tools for a coding-agent session."""

import dataclasses
from pathlib import Path
from typing import Annotated

import tyro

from overclock.cli.arguments import Sandbox


@dataclasses.dataclass
class Mcp:
    """Serve the judge of a project over MCP on stdin and stdout, for a coding agent that you work with already.

    Tools: start_verify, poll, next_failure, start_bench, status. You and your agent edit the candidate's folder; a
    verification judges a frozen copy and counts as an iteration of limits.iterations. Everything is written in the
    journal of a run, so `overclock status` and `overclock report` work on it. Ends when its stdin closes.

    Examples:
      overclock mcp my_cartpole
      claude mcp add overclock -- overclock mcp /home/me/my_cartpole
    """

    project: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="[PROJECT]")] = Path(".")
    """A folder with overclock.toml."""
    candidate: Path | None = None
    """The folder that is edited; by default candidate/ of the run."""
    run_id: str | None = None
    """Name of the run; one that exists goes on. By default mcp- and the time."""
    sandbox: Sandbox = "best"
    """What keeps a candidate apart; none is stamped UNSANDBOXED in the report."""

    def run(self) -> int:
        """Serve the judge until stdin closes."""
        from overclock.recipe.mcp.server import serve
        from overclock.recipe.project.project import load_project

        serve(load_project(self.project), self.candidate, self.run_id, self.sandbox)
        return 0
