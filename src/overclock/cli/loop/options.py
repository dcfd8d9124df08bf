"""Options of the commands that start or continue runs of the closed loop, written once so that they read the same."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overclock.cli import output
from overclock.cli.arguments import Sandbox

if TYPE_CHECKING:
    from overclock.recipe.loop.context import RunOptions
    from overclock.recipe.loop.translate import Finished
    from overclock.recipe.project.project import Changes

# By the outcome of a run.
EXIT_CODES = {"done": 0, "stuck": 1, "out of budget": 1, "waiting": 3, "inconclusive": 3, "stopped": 4}


@dataclasses.dataclass(kw_only=True)
class RunCommand:
    """Options of every command that starts or continues runs."""

    sandbox: Sandbox = "best"
    """What keeps a candidate apart; none is stamped UNSANDBOXED in the report."""
    agent_sandbox: Sandbox = "best"
    """What keeps the agent apart: it writes its candidate, and reaches the gateway alone."""
    upstream: str | None = None
    """Another address for the model, such as a proxy or a scripted server on loopback."""
    prices: Path | None = None
    """A price table of your own (TOML), for models that ours does not know or that cost you something else."""

    def run_options(self, **more: Any) -> "RunOptions":
        """The options as the recipe takes them; `more` are further fields of `RunOptions`, or others than these."""
        from overclock.recipe.loop.context import RunOptions

        told = {"say": output.say, **more}
        return RunOptions(self.sandbox, self.agent_sandbox, self.upstream, prices=self.prices, **told)


@dataclasses.dataclass(kw_only=True)
class AgentCommand(RunCommand):
    """Options of the commands whose runs are one agent's work."""

    agent: str | None = None
    """Who translates; by default whom the project names, or whom a run was started with."""
    model: str | None = None
    """The agent's model."""
    candidates: int | None = None
    """How many are made side by side for every task, the best of which is kept; by default as the project says."""
    budget: float | None = None
    """Dollars that the run may cost, what it has spent already included."""
    max_tokens: int | None = None
    """Tokens of prompts and answers that the run may use, instead of or beside dollars: for models without a price."""
    max_requests: int | None = None
    """Calls of a model that the run may make."""
    max_seconds: float | None = None
    """Seconds that the run may work; after a resume it goes on counting."""
    program: str | None = None
    """Where the agent's program lies, if it is not on the PATH."""

    def run_options(self, **more: Any) -> "RunOptions":
        """The options as the recipe takes them, with the agent's program."""
        return super().run_options(program=self.program, **more)

    def changes(self, levels: tuple[int, ...] | None = None) -> "Changes":
        """What the run does otherwise than its project says."""
        from overclock.recipe.project.project import Changes

        return Changes(
            self.agent, self.model, self.budget, levels, self.candidates, self.max_tokens, self.max_requests,
            self.max_seconds,
        )  # fmt: skip


def show_end(finished: "Finished") -> None:
    """Print where everything lies, and what to do with a translation that is done."""
    print(f"run: {finished.run}; page: {finished.page}")
    result = finished.result
    if result is None:
        return
    print(f"result: {result}")
    if result.suffix == ".py":
        folder = f"pathlib.Path({str(result.parent)!r})"
        print(f"use it: env, params = overclock.recipe.judging.candidate.load_candidate({folder})")
        print("keep it: overclock export DIR writes a package with its tests and this report")
