"""How much the Rust that the built-in translator prints gains over its originals: the table of docs/translator.md.

    python scripts/rust_speed.py                      # classic control, FrozenLake, and Breakout if MinAtar is there
    python scripts/rust_speed.py cartpole acrobot     # some of `overclock translate --all-known`, by name

Each is translated, compiled and timed by turns with its original, on all cores at batch 4,096, and must step as the
original does afterwards. That is no verdict: `overclock translate ID --to rust` gives one.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from overclock.errors import MissingError
from overclock.recipe.agents.builtin_agent import program_of
from overclock.recipe.judging.original_speed import SpeedUp, beside_original
from overclock.recipe.judging.rust import target
from overclock.recipe.loop.briefing import MAIN
from overclock.recipe.project.new import BUILT_IN, new_project
from overclock.recipe.project.project import AgentChoice
from overclock.recipe.project.twin import project_twin
from overclock.recipe.studies.known_environments import Known, chosen
from overclock.translate.rust.file import print_rust

CLASSIC = ("cartpole", "mountain_car", "mountain_car_continuous", "pendulum", "acrobot")


def main() -> None:
    """Print the table as it stands in the documentation."""
    names = sys.argv[1:] or [*CLASSIC, "frozen_lake", "minatar_breakout"]
    say("| environment | original, steps/s | Rust, steps/s | gain |\n|---|---|---|---|")
    gains = {}
    for one in chosen(names):
        try:
            found = measured(one)
        except MissingError as error:
            say(f"{one.name}: {error} (pip install {one.package})")
            continue
        gains[one.name] = found.gain
        say(f"| {one.name} | {found.original:,.0f} | {found.candidate / 1e6:.1f} million | {found.gain:,.0f} |")
    if set(CLASSIC) <= gains.keys():
        mean = statistics.geometric_mean(gains[name] for name in CLASSIC)
        say(f"\ngeometric mean of classic control: {mean:,.0f}")


def measured(one: Known) -> SpeedUp:
    """Translate, compile and time one of them."""
    with tempfile.TemporaryDirectory() as folder:
        project = new_project(
            Path(folder) / one.name, one.reference, "rust", AgentChoice(BUILT_IN), arguments=one.arguments,
            max_steps=one.max_steps,
        ).project  # fmt: skip
        candidate = project.folder / "candidate"
        target.prepare(project, candidate)
        program = program_of(project.name, project.reference.make(), project.reference.path)
        (candidate / MAIN["rust"]).write_text(print_rust(program), encoding="utf-8")
        return beside_original(project_twin(project, candidate), timeout=project.limits.timeout)


def say(text: str) -> None:
    """Print a line without buffering, so that progress is seen in a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
