"""`overclock record`: an environment as an animated picture."""

import contextlib
import dataclasses
from typing import Literal

from overclock.cli import output
from overclock.cli.arguments import EnvId, File
from overclock.cli.progress import ProgressDisplay
from overclock.progress import silent


@dataclasses.dataclass
class Record:
    """Write an animation of an environment (.gif, .webp or animated .png).

    The same options give the same file. An existing file is replaced only with --force.

    Examples:
      overclock record cartpole out.gif
      overclock record cartpole out.webp --policy controller --steps 500 --width 600
      overclock record pong out.gif --options frameskip=8
      overclock record halfcheetah out.gif --fps 20 --renderer mujoco
    """

    env: EnvId
    """Id of the environment, for example cartpole."""
    path: File
    """File to write; its ending decides the format."""
    options: tuple[str, ...] = ()
    """Static options of the environment, frameskip=8 for example."""
    steps: int = 200
    """How many steps to play, over as many episodes as it takes."""
    policy: Literal["random", "controller", "still"] = "random"
    """Who plays: random actions, the environment's scripted controller, or always the action zero."""
    seed: int = 0
    """Seed of the episodes and of random actions."""
    fps: float | None = None
    """Frames per second; a GIF counts in hundredths of a second and shows at most 50. Unset: the environment's own,
    mostly 50."""
    width: int = 400
    """Width of the picture in pixels; the height follows."""
    renderer: str | None = None
    """Another way to draw than the environment's own: mujoco for halfcheetah, walker2d and hopper (as MuJoCo does)."""
    force: bool = False
    """Replace the file if it exists."""
    json: bool = False
    """Print one JSON object (schema overclock.record/1) instead of a sentence."""

    def run(self) -> int:
        """Record and say what was written."""
        from overclock.env.registry import parse_options
        from overclock.record import record

        asked = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del asked["env"], asked["json"]
        shown = ProgressDisplay() if output.console().is_interactive else contextlib.nullcontext(silent)
        with shown as progress:
            report = record(self.env, progress=progress, **{**asked, "options": parse_options(self.options)})
        if self.json:
            output.emit(report)
        else:
            print(
                f"Wrote {report.path}: {report.frames} frames, {report.steps} steps, "
                f"{report.episodes} episodes, {report.bytes / 1000:.0f} kB."
            )
        return 0
