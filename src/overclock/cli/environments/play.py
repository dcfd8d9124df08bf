"""`overclock play`: an environment in the terminal, with the keyboard."""

import dataclasses

from overclock.cli.arguments import EnvId


@dataclasses.dataclass
class Play:
    """Play an environment in the terminal.

    Keys: arrows or w a s d act (the last one counts until the next), r restarts, p pauses, q quits.

    Examples:
      overclock play cartpole
      overclock play cartpole --fps 15
      overclock play pong --options frameskip=4 --fps 15
    """

    env: EnvId
    """Id of the environment, for example cartpole."""
    options: tuple[str, ...] = ()
    """Static options of the environment, frameskip=8 for example."""
    fps: float | None = None
    """Steps and frames per second; fewer is easier. Unset: the environment's own, mostly 50."""
    seed: int | None = None
    """Seed of the episodes; without it every game differs."""

    def run(self) -> int:
        """Play until the user quits."""
        from overclock import play
        from overclock.cli.environments.terminal import Terminal
        from overclock.cli.output import console
        from overclock.env.registry import parse_options

        entry = play.check(self.env, 1.0 if self.fps is None else self.fps)
        options = parse_options(self.options)
        terminal = Terminal()
        with console().status(f"Compiling {self.env} ..."):
            game = play.Game.of(self.env, self.seed, options)
        with terminal:
            play.loop(game, terminal, entry.fps if self.fps is None else self.fps)
        return 0
