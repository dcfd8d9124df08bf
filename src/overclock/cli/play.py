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
    fps: float = 50.0
    """Steps and frames per second; fewer is easier."""
    seed: int | None = None
    """Seed of the episodes; without it every game differs."""

    def run(self) -> int:
        """Play until the user quits."""
        from overclock import play
        from overclock.cli.output import console
        from overclock.cli.terminal import Terminal
        from overclock.env.registry import parse_options

        play.check(self.env, self.fps)
        options = parse_options(self.options)
        terminal = Terminal()
        with console().status(f"Compiling {self.env} ..."):
            game = play.Game.of(self.env, self.seed, options)
        with terminal:
            play.loop(game, terminal, self.fps)
        return 0
